// POST /v1/traces: spans of services, joined with the energy of the tasks that ran them.
#include <fmt/format.h>

#include <algorithm>

#include "body.h"
#include "handlers.h"
#include "task_view.h"
#include "tidewatt/otlp/traces.h"

namespace tidewatt::api {
namespace {

constexpr std::string_view kProtobufType = "application/x-protobuf";
constexpr std::string_view kJsonType = "application/json";

std::optional<otlp::Encoding> encoding_of(const net::Request& request) {
  const auto header = request.header("content-type").value_or("");
  auto type = header.substr(0, header.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  if (type == kProtobufType) return otlp::Encoding::protobuf;
  if (type == kJsonType) return otlp::Encoding::json;
  return std::nullopt;
}

net::Response otlp_answer(int status, otlp::Encoding encoding, std::string body) {
  auto answer = empty_answer(status);
  answer.headers["content-type"] = encoding == otlp::Encoding::protobuf ? kProtobufType : kJsonType;
  answer.body = std::move(body);
  return answer;
}

/// The task whose spans these are; an error says why there is none.
class Senders {
 public:
  Senders(Core& core, const Call& call, const Registry& registry)
      : core_(core), call_(call), registry_(registry) {}

  Result<std::string> task_of(const otlp::Sender& sender) {
    TW_TRY_STATUS(check_name("tidewatt.cluster", sender.cluster));
    TW_TRY(const auto task, resolve(sender));
    TW_TRY_STATUS(check_name("the task's id", task));
    if (!call_.is_tenant()) return task;
    const auto* known = registry_.find(sender.cluster, task);
    if (known == nullptr || !may_see(call_, *known))
      return fail(ErrorCode::not_found, fmt::format("there is no task \"{}\" of your team", task),
                  "register it first: POST /api/v1/tasks");
    return task;
  }

 private:
  Result<std::string> resolve(const otlp::Sender& sender) {
    if (!sender.task_id.empty()) return sender.task_id;
    std::vector<std::string> ids = sender.candidates;
    ids.insert(ids.end(), sender.guesses.begin(), sender.guesses.end());
    for (const auto& id : ids)
      if (registry_.find(sender.cluster, id) != nullptr) return id;
    std::string attributes = std::to_string(sender.cluster.size()) + ":" + sender.cluster;
    for (const auto& id : ids) attributes += std::to_string(id.size()) + ":" + id;
    if (auto known = core_.span_books.known_sender(attributes)) return *std::move(known);
    if (!ids.empty()) {
      TW_TRY(const auto accounts, core_.store.accounts({ledger::Scope::task, sender.cluster, ids, {}}));
      for (const auto& id : ids) {
        if (std::none_of(accounts.begin(), accounts.end(),
                         [&id](const auto& account) { return account.key.id == id; }))
          continue;
        core_.span_books.remember_sender(attributes, id);
        return id;
      }
    }
    // Nobody metered it yet: its name as the agent will give it.
    if (!sender.candidates.empty()) return sender.candidates.front();
    return fail(ErrorCode::not_found,
                fmt::format("service \"{}\" names no task: set the resource attribute tidewatt.task_id, or "
                            "k8s.pod.uid, or k8s.namespace.name and k8s.pod.name",
                            sender.service));
  }

  Core& core_;
  const Call& call_;
  const Registry& registry_;
};

std::string why_rejected(const SpanBooks::Counts& counts, std::size_t unusable, const std::string& no_task) {
  std::string why;
  const auto add = [&why](std::size_t count, std::string_view reason) {
    if (count > 0) why += fmt::format("{}{} {}", why.empty() ? "" : "; ", count, reason);
  };
  add(counts.too_old, "came after their time was shared out");
  add(counts.of_the_future, "are of the future: set the sender's clock");
  add(counts.full, "found no room: sample traces, or send fewer");
  add(unusable, "have no ids or no times");
  if (!no_task.empty()) why += (why.empty() ? "" : "; ") + no_task;
  return why;
}

}  // namespace

net::Response post_otlp_traces(Core& core, const Call& call) {
  const auto encoding = encoding_of(call.request);
  if (!encoding)
    return problem_answer("unsupported_media_type",
                          "send OTLP/HTTP: Content-Type application/x-protobuf or application/json");
  const auto parsed = otlp::parse_traces(call.request.body, *encoding);
  if (!parsed) {
    if (*encoding == otlp::Encoding::json) return problem_answer(parsed.error());
    return otlp_answer(400, *encoding, otlp::refusal(parsed.error().to_string()));
  }
  API_TRY(const auto registry, core.registry());
  Senders senders{core, call, *registry};
  SpanBooks::Counts all;
  std::size_t without_task = 0;
  std::string no_task;
  for (const auto& sent : parsed->resources) {
    const auto task = senders.task_of(sent.sender);
    if (!task) {
      if (task.error().code != ErrorCode::not_found && task.error().code != ErrorCode::invalid_input)
        return problem_answer(task.error());
      without_task += sent.spans.size();
      if (no_task.empty()) no_task = task.error().to_string();
      continue;
    }
    const auto counts = core.span_books.add({sent.sender.cluster, *task}, sent.spans);
    all.accepted += counts.accepted;
    all.duplicate += counts.duplicate;
    all.too_old += counts.too_old;
    all.of_the_future += counts.of_the_future;
    all.full += counts.full;
  }
  auto& outcomes = core.metrics.spans;
  outcomes.accepted += all.accepted;
  outcomes.duplicate += all.duplicate;
  outcomes.too_old += all.too_old;
  outcomes.no_room += all.full;
  outcomes.no_task += without_task;
  outcomes.unusable += parsed->unusable + all.of_the_future;
  const auto rejected = all.rejected() + without_task + parsed->unusable;
  return otlp_answer(200, *encoding,
                     otlp::traces_answer(*encoding, rejected, why_rejected(all, parsed->unusable, no_task)));
}

}  // namespace tidewatt::api
