// POST /api/v1/usage and /api/v1/tasks/{id}/usage: tokens of requests, each counted once.
#include <fmt/format.h>

#include "body.h"
#include "handlers.h"
#include "task_view.h"
#include "token_view.h"

namespace tidewatt::api {
namespace {

constexpr std::int64_t kMostTokensOfRequest = 1'000'000'000;  ///< of one request: beyond any model's window
constexpr std::size_t kLongestUsageId = 256;
constexpr Milliseconds kUsageFuture = std::chrono::minutes{5};

net::Response count_usage(Core& core, const Body& body, const std::string& cluster,
                          const std::string& group) {
  ledger::UsageReport report;
  report.cluster = cluster;
  report.group_id = group;
  API_TRY(report.request_id, body.text("request_id"));
  if (report.request_id.empty() || report.request_id.size() > kLongestUsageId)
    return problem_answer("invalid_request",
                          "request_id is missing or longer than 256 bytes: by it a request counts once");
  API_TRY(const auto prompt, body.whole_number("prompt_tokens", 0, kMostTokensOfRequest));
  API_TRY(const auto completion, body.whole_number("completion_tokens", 0, kMostTokensOfRequest));
  if (!prompt || !completion)
    return problem_answer("invalid_request",
                          "prompt_tokens and completion_tokens must both be there; 0 is fine");
  report.tokens = {*prompt, *completion};
  const auto now = core.clock.utc_now();
  API_TRY(const auto at, body.time("at"));
  report.at = at.value_or(now);
  if (report.at < now - kOldestUsage || report.at > now + kUsageFuture)
    return problem_answer("invalid_request",
                          fmt::format("at: {} is out of range: usage counts up to 7 days after it was",
                                      format_rfc3339_short(report.at)));
  API_TRY(const bool fresh, core.store.add_usage(report));
  return json_answer(200, Json{{"status", fresh ? "accepted" : "duplicate"}});
}

}  // namespace

net::Response post_task_usage(Core& core, const Call& call) {
  API_TRY(const auto body,
          Body::parse(call.request, {"prompt_tokens", "completion_tokens", "request_id", "at"}));
  API_TRY(const auto task, reported_task(core, call));
  if (task.group_id.empty())
    return problem_answer(
        "conflict", fmt::format("task \"{}\" has no group to count tokens for: register it with a group_id",
                                task.task_id));
  return count_usage(core, body, task.cluster, task.group_id);
}

net::Response post_usage(Core& core, const Call& call) {
  API_TRY(const auto body, Body::parse(call.request, {"task_group_id", "cluster", "prompt_tokens",
                                                      "completion_tokens", "request_id", "at"}));
  API_TRY(const auto group, body.text("task_group_id"));
  API_TRY(auto cluster, body.text("cluster"));
  if (cluster.empty()) cluster = "default";
  if (group.empty() || group.size() > kLongestUsageId)
    return problem_answer("invalid_request", "task_group_id is missing or longer than 256 bytes");
  API_TRY(const auto registry, core.registry());
  bool known = false;
  for (const auto& task : registry->tasks) {
    if (task.cluster != cluster || task.group_id != group) continue;
    known = known || may_see(call, task);
  }
  if (!known)
    return problem_answer(
        "not_found",
        fmt::format("there is no task group \"{}\" (POST /api/v1/tasks with group_id makes one)", group));
  return count_usage(core, body, cluster, group);
}

}  // namespace tidewatt::api
