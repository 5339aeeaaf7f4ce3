#include "tidewatt/emma/chain_alerts.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "tidewatt/base/log.h"

namespace tidewatt::emma {
namespace {

using Json = nlohmann::json;

/// How long Alertmanager keeps an alert that isn't repeated.
constexpr Milliseconds kHold{300'000};
constexpr int kFirstBadStatus = 300;

std::string text_of(const std::string& zone, const std::string& reason, bool off) {
  return off ? fmt::format("Carbon awareness is off for zone {}: {}", zone, reason)
             : fmt::format("Carbon signal of zone {} is degraded: {}", zone, reason);
}

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

bool due(const std::optional<SteadyTime>& tried, SteadyTime now) {
  return !tried || now - *tried >= ChainAlerts::kRepeat;
}

}  // namespace

ChainAlerts::ChainAlerts(AlertTargets targets, HttpFactory http, const Clock& clock)
    : targets_{std::move(targets)}, http_{std::move(http)}, clock_{clock} {
  while (targets_.alertmanager_url.ends_with('/')) targets_.alertmanager_url.pop_back();
}

void ChainAlerts::look(const std::vector<carbon::ZoneStatus>& zones) {
  const auto now = clock_.utc_now();
  for (const auto& status : zones) {
    const auto name = status.identity.zone.value_or("");
    auto& zone = zones_[name];
    if (status.decision.degraded_reason.empty()) {
      zone.since.reset();
    } else {
      if (!zone.since) zone.since = now;
      zone.reason = status.decision.degraded_reason;
      zone.off = status.decision.step == carbon::ChainStep::off;
    }
    tell_webhook(name, zone);
    tell_alertmanager(name, zone);
  }
}

void ChainAlerts::tell_webhook(const std::string& name, Zone& zone) {
  if (targets_.webhook_url.empty()) return;
  const bool bad = zone.since && clock_.utc_now() - *zone.since >= kPatience;
  const bool well = !zone.since;
  if (!(bad && !zone.told) && !(well && zone.told)) return;
  if (!due(zone.webhook_tried, clock_.mono_now())) return;
  zone.webhook_tried = clock_.mono_now();
  const auto text = bad ? text_of(name, zone.reason, zone.off)
                        : fmt::format("Carbon signal of zone {} is well again", name);
  if (!post(targets_.webhook_url, dumped(Json{{"text", "tidewatt: " + text}}), "webhook")) return;
  zone.told = bad;
  zone.webhook_tried.reset();
}

void ChainAlerts::tell_alertmanager(const std::string& name, Zone& zone) {
  if (targets_.alertmanager_url.empty()) return;
  const auto now = clock_.utc_now();
  const bool bad = zone.since && now - *zone.since >= kPatience;
  if (!bad && !(zone.raised && !zone.since)) return;
  if (bad && !due(zone.alertmanager_tried, clock_.mono_now())) return;
  zone.alertmanager_tried = clock_.mono_now();
  Json alert{{"labels",
              {{"alertname", "TidewattCarbonSignalDegraded"},
               {"zone", name},
               {"severity", zone.off ? "critical" : "warning"}}},
             {"annotations", {{"summary", text_of(name, zone.reason, zone.off)}}},
             {"endsAt", format_rfc3339(bad ? now + kHold : now)}};
  if (bad) alert["startsAt"] = format_rfc3339(*zone.since);
  const bool sent =
      post(targets_.alertmanager_url + "/api/v2/alerts", dumped(Json::array({alert})), "alertmanager");
  if (sent) zone.raised = bad;
  if (sent && !bad) zone.alertmanager_tried.reset();
}

bool ChainAlerts::post(const std::string& url, const std::string& body, const char* target) {
  net::ClientRequest request;
  request.method = "POST";
  request.url = url;
  request.headers["content-type"] = "application/json";
  request.body = body;
  const auto answer = http_()->send(request);
  const bool failed = !answer || answer->status >= kFirstBadStatus;
  // The address may hold a secret: it is in no message.
  if (failed && !std::exchange(failing_[target], true))
    log::warning("an alert can't be sent", {{"target", target},
                                            {"error", answer ? fmt::format("HTTP {}", answer->status)
                                                             : std::string{to_string(answer.error().code)}}});
  if (!failed && std::exchange(failing_[target], false))
    log::info("alerts can be sent again", {{"target", target}});
  return !failed;
}

}  // namespace tidewatt::emma
