// /api/v1/tasks...
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "energy_view.h"
#include "handlers.h"
#include "node_view.h"
#include "open_gaps.h"
#include "sorting.h"
#include "task_view.h"
#include "tenant_view.h"
#include "token_view.h"

namespace tidewatt::api {
namespace {

using ledger::TaskInfo;

struct TaskRow {
  TaskInfo task;
  const Totals* totals = nullptr;
};

struct Places {
  std::set<std::string> nodes;
  std::set<std::string> devices;
};

Result<std::map<SubjectKey, Places>> places_of(Core& core, std::vector<std::string> ids) {
  std::map<SubjectKey, Places> places;
  if (ids.empty()) return places;
  TW_TRY(const auto accounts, core.store.accounts({ledger::Scope::task_device, {}, std::move(ids), {}}));
  for (const auto& account : accounts) {
    Places& place = places[{account.key.cluster, account.key.id}];
    place.nodes.insert(split_part(account.key.part).first);
    place.devices.insert(account.key.part + " " + account.key.domain);
  }
  return places;
}

Json task_json(const Core& core, const Call& call, const TaskRow& row, const Places* places, bool running,
               const Json& tokens) {
  const TaskInfo& task = row.task;
  const auto energy = row.totals != nullptr ? row.totals->energy() : std::nullopt;
  const ledger::WideMeasures* sum = row.totals != nullptr && row.totals->sum ? &*row.totals->sum : nullptr;
  Json json{{"task_id", task.task_id},
            {"cluster", task.cluster},
            {"team", task.team},
            {"group_id", task.group_id},
            {"kind", task.kind}};
  json["state"] = state_of(task, running, core.clock.utc_now());
  json.update(amount_json(energy));
  json["coverage"] = sum != nullptr ? number(row.totals->coverage()) : Json(nullptr);
  json["gap_seconds"] = sum != nullptr ? seconds(sum->gap) : Json(nullptr);
  json["partial_seconds"] = sum != nullptr ? seconds(sum->partial) : Json(nullptr);
  json["attribution"] = energy ? ledger::attribution_of(*sum) : "unknown";
  json["shared_seconds"] = sum != nullptr ? seconds(sum->shared_time) : Json(nullptr);
  add_carbon_amount(json, core, call, energy);
  json["first_sample_at"] = time(row.totals != nullptr ? row.totals->first_sample_at : std::nullopt);
  json["last_sample_at"] = time(row.totals != nullptr ? row.totals->last_sample_at : std::nullopt);
  json["nodes"] = places != nullptr ? Json(places->nodes) : Json::array();
  json["devices"] = places != nullptr ? places->devices.size() : 0U;
  json["simulated"] = sum != nullptr && sum->simulated > WideMicrojoules{};
  json["tokens_per_joule"] = tokens.at("tokens_per_joule");
  json["tokens_reason"] = tokens.at("reason");
  return json;
}

/// Registered tasks whose life overlaps the range are listed even without a row: their energy is unknown.
bool overlaps(const TaskInfo& task, const TimeRange& range) {
  if (task.finished_at && *task.finished_at < start_of(range.from)) return false;
  return !task.started_at || *task.started_at < start_of(range.to);
}

bool matches(const Call& call, const TaskInfo& task) {
  if (const auto q = call.parameter("q"); !q.empty() && !contains_ignoring_case(task.task_id, q))
    return false;
  if (const auto team = call.parameter("team"); !team.empty() && task.team != team) return false;
  if (const auto group = call.parameter("group_id"); !group.empty() && task.group_id != group) return false;
  if (const auto cluster = call.parameter("cluster"); !cluster.empty() && task.cluster != cluster)
    return false;
  return may_see(call, task);
}

std::vector<TaskRow> rows_of(const Call& call, const Registry& registry,
                             const std::map<SubjectKey, Totals>& totals, const TimeRange& range) {
  std::map<SubjectKey, TaskRow> rows;
  for (const auto& task : registry.tasks) {
    const SubjectKey key{task.cluster, task.task_id};
    const auto found = totals.find(key);
    if (found != totals.end() || overlaps(task, range))
      rows[key] = {task, found == totals.end() ? nullptr : &found->second};
  }
  for (const auto& [key, total] : totals) {
    TaskRow& row = rows[key];
    row.task.cluster = key.first;
    row.task.task_id = key.second;
    row.totals = &total;
  }
  std::vector<TaskRow> list;
  for (auto& [key, row] : rows)
    if (matches(call, row.task)) list.push_back(std::move(row));
  return list;
}

/// What no task took, over all nodes.
Result<std::optional<WideMicrojoules>> unattributed(Core& core, const Call& call, const TimeRange& range) {
  TW_TRY(const auto accounts,
         core.store.sums({ledger::Scope::node, call.parameter("cluster"), {}, {}}, range.from, range.to));
  std::optional<WideMicrojoules> sum;
  for (const auto& [key, totals] : totals_by_subject(accounts))
    if (totals.sum) sum = sum.value_or(WideMicrojoules{}) + totals.sum->unattributed;
  return sum;
}

Result<Json> allocations_of(Core& core, const TaskInfo& task, const TimeRange& range) {
  TW_TRY(const auto parts,
         read_sums(core, {ledger::Scope::task_device, task.cluster, {task.task_id}, {}}, range));
  Json list = Json::array();
  for (const auto& part : parts.accounts) {
    const auto [node_id, index] = split_part(part.key.part);
    Json row{{"node_id", node_id}, {"device_index", index}, {"domain", part.key.domain}};
    row.update(amount_json(known_energy(part.totals)));
    row["coverage"] = coverage(part.totals.covered, part.totals.gap);
    row["partial_seconds"] = seconds(part.totals.partial);
    row["attribution"] = ledger::attribution_of(part.totals);
    row["first_sample_at"] = time(part.first_sample_at);
    row["last_sample_at"] = time(part.last_sample_at);
    list.push_back(std::move(row));
  }
  return list;
}

}  // namespace

bool may_see(const Call& call, const TaskInfo& task) {
  return !call.is_tenant() || (!call.principal.team.empty() && task.team == call.principal.team);
}

/// Tasks that a live node's last beat names as holders.
Result<std::set<SubjectKey>> running_tasks(Core& core) {
  TW_TRY(const auto nodes, core.store.nodes());
  std::set<SubjectKey> running;
  for (const auto& shared : nodes) {
    const auto& node = *shared;
    if (!is_live(node, core.clock.utc_now(), core.options.silent_after)) continue;
    for (const auto& device : node.devices)
      for (const auto& holder : device.holders)
        if (holds(holder.state)) running.emplace(node.key.cluster, holder.task_id);
  }
  return running;
}

std::string_view state_of(const TaskInfo& task, bool running, UtcTime now) {
  if (task.finished_at && *task.finished_at <= now) return "finished";
  if (running) return "running";
  return "unknown";
}

Result<TaskInfo> visible_task(Core& core, const Call& call) {
  const std::string& id = call.ids.at(0);
  const std::string cluster = call.cluster();
  TW_TRY(const auto registry, core.registry());
  std::optional<TaskInfo> task;
  if (const TaskInfo* known = registry->find(cluster, id); known != nullptr) {
    task = *known;
  } else {
    TW_TRY(const auto accounts, core.store.accounts({ledger::Scope::task, cluster, {id}, {}}));
    if (!accounts.empty()) {
      task.emplace();
      task->cluster = cluster;
      task->task_id = id;
    }
  }
  if (!task || !may_see(call, *task))
    return fail(ErrorCode::not_found, fmt::format("there is no task \"{}\" in cluster \"{}\"", id, cluster),
                "GET /api/v1/tasks lists those with energy in a range");
  return *std::move(task);
}

net::Response list_tasks(Core& core, const Call& call) {
  API_TRY(const auto range, time_range(call, core.clock.utc_now()));
  API_TRY(const auto page, page_of(call));
  API_TRY(const auto order,
          sort_order(call, {"task_id", "team", "kind", "energy_kwh", "coverage", "last_sample_at"},
                     "-energy_kwh"));
  API_TRY(const auto registry, core.registry());
  API_TRY(const auto sums, read_sums(core, {ledger::Scope::task, call.parameter("cluster"), {}, {}}, range));
  const auto totals = totals_by_subject(sums.accounts);
  auto rows = rows_of(call, *registry, totals, range);
  std::optional<WideMicrojoules> sum;
  for (const auto& row : rows)
    if (const auto energy = row.totals != nullptr ? row.totals->energy() : std::nullopt)
      sum = sum.value_or(WideMicrojoules{}) + *energy;
  sort_rows(rows, order, [](const TaskRow& row, std::string_view key) -> SortValue {
    const bool known = row.totals != nullptr && row.totals->sum.has_value();
    if (key == "energy_kwh") {
      const auto energy = known ? row.totals->energy() : std::nullopt;
      return energy ? SortValue{kwh(*energy)} : SortValue{};
    }
    if (key == "coverage") return known ? sort_value(row.totals->coverage()) : SortValue{};
    if (key == "last_sample_at")
      return known && row.totals->last_sample_at
                 ? SortValue{static_cast<double>(row.totals->last_sample_at->time_since_epoch().count())}
                 : SortValue{};
    const std::string& text = key == "team"   ? row.task.team
                              : key == "kind" ? row.task.kind
                                              : row.task.task_id;
    return text.empty() ? SortValue{} : SortValue{text};
  });
  const auto begin = std::min(page.offset, rows.size());
  const auto end = std::min(begin + page.limit, rows.size());
  std::vector<std::string> ids;
  for (auto i = begin; i < end; ++i) ids.push_back(rows[i].task.task_id);
  API_TRY(const auto places, places_of(core, std::move(ids)));
  API_TRY(const auto running, running_tasks(core));
  API_TRY(const auto tokens, TokenView::load(core, call, range));
  std::map<SubjectKey, Json> groups;
  Json list = Json::array();
  for (auto i = begin; i < end; ++i) {
    const auto& task = rows[i].task;
    const SubjectKey key{task.cluster, task.task_id};
    const SubjectKey group{task.cluster, task.group_id};
    if (!groups.contains(group)) {
      API_TRY(groups[group], tokens.group_json(core, task.cluster, task.group_id));
    }
    const auto place = places.find(key);
    list.push_back(task_json(core, call, rows[i], place == places.end() ? nullptr : &place->second,
                             running.contains(key), groups.at(group)));
  }
  Json answer{{"tasks", std::move(list)}, {"total", rows.size()}};
  if (!call.is_tenant()) {
    API_TRY(const auto rest, unattributed(core, call, range));
    answer["unattributed"] = amount_json(rest);
  }
  answer["sum"] = amount_json(sum);
  const auto view = carbon_view(core, call);
  if (view.visible)
    answer["emission_factor"] = factor_json(core.options.factor.factor);
  else
    answer["carbon_hidden_reason"] = view.hidden_reason;
  answer["next_cursor"] = next_cursor(page, rows.size());
  answer["from"] = format_rfc3339_short(start_of(range.from));
  answer["to"] = format_rfc3339_short(start_of(range.to));
  return json_answer(200, answer);
}

net::Response get_task_energy(Core& core, const Call& call) {
  API_TRY(const auto range, time_range(call, core.clock.utc_now()));
  API_TRY(const auto task, visible_task(core, call));
  API_TRY(const auto sums, read_sums(core, {ledger::Scope::task, task.cluster, {task.task_id}, {}}, range));
  API_TRY(auto allocations, allocations_of(core, task, range));
  Json answer = energy_json(core, call, {"task", task.task_id, task.cluster, false, true}, &range,
                            totals_of(sums.accounts));
  answer["allocations"] = std::move(allocations);
  if (task.kind == "inference") {
    API_TRY(const auto tokens, TokenView::load(core, call, range));
    API_TRY(answer["token_efficiency"], tokens.group_json(core, task.cluster, task.group_id));
  }
  return json_answer(200, answer);
}

net::Response get_task_group_efficiency(Core& core, const Call& call) {
  API_TRY(const auto range, time_range(call, core.clock.utc_now()));
  API_TRY(const auto registry, core.registry());
  const auto& group = call.ids.at(0);
  const auto known = std::find_if(registry->tasks.begin(), registry->tasks.end(), [&](const TaskInfo& task) {
    return task.group_id == group && may_see(call, task) &&
           (call.parameter("cluster").empty() || task.cluster == call.parameter("cluster"));
  });
  if (known == registry->tasks.end())
    return problem_answer(
        "not_found",
        fmt::format("there is no task group \"{}\" (POST /api/v1/tasks with group_id makes one)", group));
  API_TRY(const auto tokens, TokenView::load(core, call, range));
  API_TRY(const auto answer, tokens.group_json(core, known->cluster, group));
  return json_answer(200, answer);
}

}  // namespace tidewatt::api
