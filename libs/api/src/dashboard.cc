// GET /api/v1/dashboard/stats and what the stream sends.
#include <algorithm>
#include <map>
#include <set>

#include "energy_view.h"
#include "handlers.h"
#include "node_view.h"
#include "open_gaps.h"
#include "tenant_view.h"

namespace tidewatt::api {
namespace {

constexpr std::size_t kTopRows = 10;
constexpr std::int64_t kMostEmptyHours = 24LL * 100;
constexpr std::size_t kMostTickNodes = 500;
constexpr std::string_view kNoTeam = "unassigned";

struct TopRow {
  std::string id;
  std::string cluster;
  std::string team;
  bool is_task = false;
  Totals totals;
};

Json top_json(const Core& core, const Call& call, std::vector<TopRow> rows,
              std::optional<WideMicrojoules> all) {
  // What is only missed in the range, without a row in it, used nothing that anybody knows of.
  std::erase_if(rows, [](const TopRow& row) { return row.totals.rows == 0; });
  const auto shown = std::min(kTopRows, rows.size());
  std::partial_sort(
      rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown), rows.end(),
      [](const TopRow& a, const TopRow& b) { return a.totals.sum->energy > b.totals.sum->energy; });
  Json list = Json::array();
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& sum = *rows[i].totals.sum;
    Json row{{"id", rows[i].id}, {"cluster", rows[i].cluster}, {"team", rows[i].team}};
    const auto energy = rows[i].totals.energy();
    row.update(amount_json(energy));
    add_carbon_amount(row, core, call, energy);
    row["coverage"] = number(rows[i].totals.coverage());
    row["partial_seconds"] = seconds(sum.partial);
    row["attribution"] = rows[i].is_task ? Json(ledger::attribution_of(sum)) : Json(nullptr);
    const bool divisible = energy && all && *all > WideMicrojoules{};
    row["share"] = divisible ? Json(energy->to_joules() / all->to_joules()) : Json(nullptr);
    list.push_back(std::move(row));
  }
  return list;
}

/// One row an hour. Rows of domains that aren't in their subject's total are left out.
Json hourly_json(const Core& core, const Call& call, const std::vector<ledger::HourlyRow>& rows,
                 const std::map<SubjectKey, Totals>& totals, const TimeRange& range) {
  std::map<UtcHour, ledger::WideMeasures> hours;
  const ledger::AccountKey* last = nullptr;
  auto subject = totals.end();
  for (const auto& row : rows) {
    // Rows come by account: looked up once for all its hours.
    if (last == nullptr || last->id != row.key.id || last->cluster != row.key.cluster)
      subject = totals.find({row.key.cluster, row.key.id});
    last = &row.key;
    if (subject == totals.end() || !subject->second.in_total(row.key.domain)) continue;
    // Seconds of the same domain as in the subject's total, so that hours add up to it.
    auto measures = row.measures;
    if (row.key.domain != subject->second.seconds_of) measures.covered = measures.gap = Milliseconds{0};
    if (row.key.domain != subject->second.partial_of) measures.partial = Milliseconds{0};
    hours[row.hour] += measures;
  }
  Json list = Json::array();
  const auto push = [&](UtcHour at, const ledger::WideMeasures* hour) {
    Json json{{"hour", format_rfc3339_short(start_of(at))}};
    const auto energy = hour != nullptr ? known_energy(*hour) : std::nullopt;
    json.update(amount_json(energy));
    json["coverage"] = hour != nullptr ? coverage(hour->covered, hour->gap) : Json(nullptr);
    json["covered_seconds"] = hour != nullptr ? seconds(hour->covered) : Json(nullptr);
    json["gap_seconds"] = hour != nullptr ? seconds(hour->gap) : Json(nullptr);
    json["partial_seconds"] = hour != nullptr ? seconds(hour->partial) : Json(nullptr);
    add_carbon_amount(json, core, call, energy);
    list.push_back(std::move(json));
  };
  if ((range.to - range.from).count() > kMostEmptyHours) {
    for (const auto& [at, hour] : hours) push(at, &hour);
    return list;
  }
  for (UtcHour at = range.from; at < range.to; at += std::chrono::hours{1}) {
    const auto found = hours.find(at);
    push(at, found == hours.end() ? nullptr : &found->second);
  }
  return list;
}

/// What the caller sees of the cluster in a range.
struct Scene {
  std::vector<ledger::SharedNode> nodes;
  std::map<SubjectKey, Totals> node_totals;
  std::map<SubjectKey, Totals> task_totals;
  std::shared_ptr<const Registry> registry;
  std::vector<ledger::HourlyRow> hourly;
  std::string team;
};

Result<Scene> scene_of(Core& core, const Call& call, const TimeRange& range) {
  Scene scene;
  TW_TRY(scene.registry, core.registry());
  TW_TRY(scene.nodes, core.store.nodes());
  const std::string cluster = call.parameter("cluster");
  const std::string zone = call.parameter("zone");
  std::erase_if(scene.nodes, [&](const ledger::SharedNode& node) {
    return (!cluster.empty() && node->key.cluster != cluster) || (!zone.empty() && node->zone != zone);
  });
  TW_TRY(const auto tasks, read_sums(core, {ledger::Scope::task, cluster, {}, {}}, range));
  scene.task_totals = totals_by_subject(tasks.accounts);
  if (call.is_tenant()) {
    TW_TRY(auto view, tenant_view(core, call, &range));
    std::erase_if(scene.task_totals, [&](const auto& entry) { return !view.tasks.contains(entry.first); });
    std::erase_if(scene.nodes, [&](const auto& node) {
      return !view.nodes.contains({node->key.cluster, node->key.node_id});
    });
    scene.node_totals = std::move(view.by_node);
    ledger::AccountFilter filter{ledger::Scope::task, cluster, {}, {}};
    for (const auto& [key, totals] : scene.task_totals) filter.ids.push_back(key.second);
    if (!filter.ids.empty()) {
      TW_TRY(scene.hourly, core.store.hourly(filter, range.from, range.to));
      ledger::add_open_gaps(scene.hourly, tasks.open);
    }
    return scene;
  }
  TW_TRY(const auto sums, read_sums(core, {ledger::Scope::node, cluster, {}, {}}, range));
  scene.node_totals = totals_by_subject(sums.accounts);
  TW_TRY(scene.hourly, core.store.hourly({ledger::Scope::node, cluster, {}, {}}, range.from, range.to));
  ledger::add_open_gaps(scene.hourly, sums.open);
  if (!zone.empty()) {
    std::set<SubjectKey> shown;
    for (const auto& node : scene.nodes) shown.emplace(node->key.cluster, node->key.node_id);
    std::erase_if(scene.node_totals, [&](const auto& entry) { return !shown.contains(entry.first); });
  }
  return scene;
}

Json tops_json(const Core& core, const Call& call, const Scene& scene, std::optional<WideMicrojoules> all) {
  std::vector<TopRow> tasks;
  std::vector<TopRow> nodes;
  std::map<std::string, Totals> by_team;
  for (const auto& [key, totals] : scene.task_totals) {
    const auto* task = scene.registry->find(key.first, key.second);
    const std::string team = task != nullptr ? task->team : std::string{};
    tasks.push_back({key.second, key.first, team, true, totals});
    add(by_team[team.empty() ? std::string{kNoTeam} : team], totals);
  }
  for (const auto& [key, totals] : scene.node_totals)
    nodes.push_back({key.second, key.first, {}, false, totals});
  std::vector<TopRow> teams;
  for (const auto& [team, totals] : by_team) teams.push_back({team, {}, team, false, totals});
  return Json{{"tasks", top_json(core, call, std::move(tasks), all)},
              {"nodes", top_json(core, call, std::move(nodes), all)},
              {"teams", top_json(core, call, std::move(teams), all)}};
}

Json power_json(const ClusterPower& power, UtcTime now, bool withheld) {
  return Json{{"power_watts", withheld ? Json(nullptr) : watts(power.power)},
              {"devices_known", power.known},
              {"devices_total", power.total},
              {"at", format_rfc3339_short(now)},
              {"boundary", power.platform ? power.components ? "mixed" : "platform" : "components"}};
}

}  // namespace

namespace {

net::Response dashboard(Core& core, const Call& call) {
  const auto now = core.clock.utc_now();
  API_TRY(const auto range, time_range(call, now));
  API_TRY(const auto scene, scene_of(core, call, range));
  const auto& counted = call.is_tenant() ? scene.task_totals : scene.node_totals;
  Totals all;
  for (const auto& [key, totals] : counted) add(all, totals);

  Json answer{{"from", format_rfc3339_short(start_of(range.from))},
              {"to", format_rfc3339_short(start_of(range.to))},
              {"range", range.text},
              {"as_of", format_rfc3339_short(now)}};
  if (all.rows > 0) {
    const std::string cluster = call.parameter("cluster");
    answer["energy_summary"] =
        call.is_tenant()
            ? energy_json(core, call, {"team", call.principal.team, cluster, false, true}, &range, all)
            : energy_json(core, call,
                          {"cluster", cluster.empty() ? std::string_view{"all"} : std::string_view{cluster},
                           cluster, true, false},
                          &range, all);
  }
  const ClusterPower power = cluster_power(scene.nodes, now, core.options.silent_after);
  answer["power_now"] = power_json(power, now, call.is_tenant());
  answer["hourly"] = hourly_json(core, call, scene.hourly, counted, range);
  answer["top"] = tops_json(core, call, scene, all.energy());
  if (!call.is_tenant())
    answer["unattributed"] = amount_json(all.sum ? std::optional{all.sum->unattributed} : std::nullopt);
  answer["nodes"] = Json{{"total", scene.nodes.size()}, {"live", power.live}, {"silent", power.silent}};
  static const std::map<SubjectKey, Totals> kNone;
  auto alerts = alerts_of(core, scene.nodes, call.is_tenant() ? kNone : scene.node_totals);
  answer["alerts"] = std::move(alerts.shown);
  answer["alerts_total"] = alerts.total;
  return json_answer(200, answer);
}

/// Two callers with the same text see the same.
std::string kept_as(const Call& call) {
  std::string key = std::string{to_string(call.principal.role)} + '\n' + call.principal.team;
  for (const auto* name : {"range", "from", "to", "cluster", "zone"}) key += '\n' + call.parameter(name);
  return key;
}

}  // namespace

net::Response get_dashboard(Core& core, const Call& call) {
  // Made anew after this request is gone: hence the copies.
  return core.kept->get(kept_as(call), [&core, request = call.request, principal = call.principal] {
    return dashboard(core, Call{request, principal, {}});
  });
}

Json tick_json(Core& core, const Principal& principal, const std::vector<ledger::SharedNode>& nodes) {
  const auto now = core.clock.utc_now();
  const bool tenant = principal.role == Role::tenant;
  const ClusterPower power = cluster_power(nodes, now, core.options.silent_after);
  Json list = Json::array();
  for (const auto& shared : nodes) {
    const auto& node = *shared;
    if (list.size() >= kMostTickNodes) break;
    const auto node_power = power_now(node, now, core.options.silent_after).power;
    list.push_back(Json{{"cluster", node.key.cluster},
                        {"node_id", node.key.node_id},
                        {"power_watts", tenant ? Json(nullptr) : watts(node_power)},
                        {"last_sample_at", time(node.last_sample_at)}});
  }
  const auto& counters = core.ledger.counters();
  const auto beats =
      counters.accepted.load() + counters.duplicate.load() + counters.retry.load() + counters.rejected.load();
  return Json{{"at", format_rfc3339_short(now)}, {"power_watts", tenant ? Json(nullptr) : watts(power.power)},
              {"devices_known", power.known},    {"devices_total", power.total},
              {"nodes", std::move(list)},        {"beats_total", beats}};
}

}  // namespace tidewatt::api
