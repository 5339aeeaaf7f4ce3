// POST /api/v1/tasks and /api/v1/tasks/{id}/events: what a scheduler tells.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "body.h"
#include "handlers.h"
#include "task_view.h"

namespace tidewatt::api {
namespace {

constexpr std::array<std::string_view, 6> kKinds{"", "training", "inference", "batch", "service", "dev"};

}  // namespace

Result<ledger::TaskInfo> reported_task(Core& core, const Call& call) {
  ledger::TaskInfo task;
  task.cluster = call.cluster();
  task.task_id = call.ids.at(0);
  TW_TRY(const auto registry, core.registry());
  if (const auto* known = registry->find(task.cluster, task.task_id); known != nullptr) {
    if (may_see(call, *known)) return *known;
  } else if (!call.is_tenant()) {
    TW_TRY_STATUS(check_name("task_id", task.task_id));
    TW_TRY_STATUS(check_name("cluster", task.cluster));
    TW_TRY_STATUS(core.store.put_task(task));
    core.forget_registry();
    return task;
  }
  return fail(ErrorCode::not_found,
              fmt::format("there is no task \"{}\" in cluster \"{}\"", task.task_id, task.cluster),
              "register it first: POST /api/v1/tasks");
}

net::Response post_task(Core& core, const Call& call) {
  API_TRY(const auto body, Body::parse(call.request, {"task_id", "cluster", "team", "kind", "group_id",
                                                      "started_at", "finished_at", "would_have_started_at"}));
  ledger::TaskInfo task;
  API_TRY(task.task_id, body.name("task_id"));
  API_TRY(task.cluster, body.name("cluster"));
  API_TRY(task.team, body.name("team"));
  API_TRY(task.kind, body.text("kind"));
  API_TRY(task.group_id, body.name("group_id"));
  API_TRY(task.started_at, body.time("started_at"));
  API_TRY(task.finished_at, body.time("finished_at"));
  API_TRY(task.at_once_at, body.time("would_have_started_at"));
  if (task.cluster.empty()) task.cluster = "default";
  if (task.task_id.empty())
    return problem_answer("invalid_request", "task_id is missing: give the id that holders carry");
  if (std::find(kKinds.begin(), kKinds.end(), task.kind) == kKinds.end())
    return problem_answer(
        "invalid_request",
        fmt::format("kind \"{}\" is unknown (known: training, inference, batch, service, dev)", task.kind));
  if (!task.at_once_at) {
    // What a move was measured against stays, whatever is told of the task later.
    API_TRY(const auto registry, core.registry());
    if (const auto* known = registry->find(task.cluster, task.task_id)) task.at_once_at = known->at_once_at;
  }
  if (const auto stored = core.store.put_task(task); !stored) return problem_answer(stored.error());
  core.forget_registry();
  return json_answer(201, Json{{"task_id", task.task_id},
                               {"cluster", task.cluster},
                               {"team", task.team},
                               {"kind", task.kind},
                               {"group_id", task.group_id},
                               {"started_at", time(task.started_at)},
                               {"finished_at", time(task.finished_at)},
                               {"would_have_started_at", time(task.at_once_at)}});
}

net::Response post_task_event(Core& core, const Call& call) {
  API_TRY(const auto body, Body::parse(call.request, {"event", "at"}));
  API_TRY(const auto event, body.text("event"));
  API_TRY(const auto at, body.time("at"));
  if (event != "started" && event != "finished")
    return problem_answer("invalid_request",
                          fmt::format("event \"{}\" is unknown (known: started, finished)", event));
  const UtcTime when = at.value_or(core.clock.utc_now());
  API_TRY(const auto registry, core.registry());
  ledger::TaskInfo task;
  task.cluster = call.cluster();
  task.task_id = call.ids.at(0);
  API_TRY_STATUS(check_name("task_id", task.task_id));
  API_TRY_STATUS(check_name("cluster", task.cluster));
  if (const auto* known = registry->find(task.cluster, task.task_id); known != nullptr) task = *known;
  (event == "started" ? task.started_at : task.finished_at) = when;
  // A task that starts again isn't finished any more.
  if (event == "started" && task.finished_at && *task.finished_at <= when) task.finished_at.reset();
  if (const auto stored = core.store.put_task(task); !stored) return problem_answer(stored.error());
  core.forget_registry();
  return empty_answer(204);
}

}  // namespace tidewatt::api
