// Health, metrics, the API's own document.
#include <algorithm>

#include "handlers.h"
#include "node_view.h"
#include "tidewatt/api/web_files.h"

namespace tidewatt::api {
namespace {

net::Response text_answer(std::string body, std::string_view type) {
  net::Response response;
  response.headers["content-type"] = type;
  response.body = std::move(body);
  return response;
}

}  // namespace

net::Response get_healthz(Core&, const Call&) { return text_answer("ok\n", "text/plain; charset=utf-8"); }

net::Response get_readyz(Core& core, const Call&) {
  if (const auto reachable = core.store.ping(); !reachable)
    return problem_answer(
        {ErrorCode::unavailable, "the store can't be read: " + reachable.error().message, ""});
  // Ready all the same: it books and answers. Where it lies is for operators: in the log and the alerts.
  std::string text = "ready\n";
  if (const auto damage = core.store.damage(); !damage.empty())
    text += "damaged: acknowledged commits were lost at a start; see the alerts and the server's log\n";
  return text_answer(std::move(text), "text/plain; charset=utf-8");
}

net::Response get_metrics(Core& core, const Call&) {
  std::size_t live = 0;
  std::size_t total = 0;
  if (const auto nodes = core.store.nodes()) {
    total = nodes->size();
    live = static_cast<std::size_t>(
        std::count_if(nodes->begin(), nodes->end(), [&](const ledger::SharedNode& node) {
          return is_live(*node, core.clock.utc_now(), core.options.silent_after);
        }));
  }
  const auto server = core.server_stats ? std::optional{core.server_stats()} : std::nullopt;
  std::uint64_t lost = 0;
  for (const auto& damage : core.store.damage()) lost += damage.lost_commits;
  return text_answer(metrics_text(core.metrics, core.ledger.counters(),
                                  {core.access.failed_sign_ins(), core.access.refused_tokens()}, server,
                                  core.options.version, live, total) +
                         damage_metrics_text(lost) +
                         (core.options.forward ? forward_metrics_text(core.options.forward->counts()) : "") +
                         (core.options.signals ? carbon_metrics_text(core.options.signals->zones()) : ""),
                     "text/plain; version=0.0.4; charset=utf-8");
}

net::Response get_openapi(Core&, const Call&) {
  return text_answer(std::string{openapi_document()}, "application/json");
}

}  // namespace tidewatt::api
