// /api/v1/nodes...
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "carbon_now.h"
#include "curve_view.h"
#include "energy_view.h"
#include "handlers.h"
#include "node_view.h"
#include "open_gaps.h"
#include "sorting.h"
#include "tenant_view.h"
#include "tidewatt/units/text.h"

namespace tidewatt::api {
namespace {

using ledger::NodeInfo;
using ledger::NodeKey;

Error no_such_node(const Call& call) {
  return Error{ErrorCode::not_found,
               fmt::format("there is no node \"{}\" in cluster \"{}\"", call.ids.at(0), call.cluster()),
               "GET /api/v1/nodes lists those that ever reported"};
}

/// The node, if the caller may see it.
Result<NodeInfo> visible_node(Core& core, const Call& call) {
  TW_TRY(const auto node, core.store.node(NodeKey{call.cluster(), call.ids.at(0)}));
  if (!node) return tl::unexpected(no_such_node(call));
  if (call.is_tenant()) {
    TW_TRY(const auto view, tenant_view(core, call, nullptr));
    if (!view.nodes.contains({node->key.cluster, node->key.node_id}))
      return tl::unexpected(no_such_node(call));
  }
  return *node;
}

/// The node's totals as far as the caller may see them: a tenant its tasks' part.
Result<Totals> node_totals(Core& core, const Call& call, const TimeRange& range) {
  if (call.is_tenant()) {
    TW_TRY(auto view, tenant_view(core, call, &range));
    const auto found = view.by_node.find({call.cluster(), call.ids.at(0)});
    return found == view.by_node.end() ? Totals{} : std::move(found->second);
  }
  const ledger::AccountFilter filter{ledger::Scope::node, call.cluster(), {call.ids.at(0)}, {}};
  TW_TRY(const auto sums, read_sums(core, filter, range));
  return totals_of(sums.accounts);
}

/// Mean power of each hour: energy over covered time, per domain in the total. null where no row is.
std::map<SubjectKey, Json> trends(const std::vector<ledger::HourlyRow>& rows,
                                  const std::map<SubjectKey, Totals>& totals, UtcHour from, UtcHour to) {
  std::map<SubjectKey, std::map<UtcHour, double>> power;
  for (const auto& row : rows) {
    const SubjectKey key{row.key.cluster, row.key.id};
    const auto known = totals.find(key);
    if (known == totals.end() || !known->second.in_total(row.key.domain) || row.measures.covered.count() <= 0)
      continue;
    power[key][row.hour] += row.measures.energy.to_joules().value() /
                            (static_cast<double>(row.measures.covered.count()) / 1000.0);
  }
  std::map<SubjectKey, Json> result;
  for (const auto& [key, hours] : power) {
    Json trend = Json::array();
    for (UtcHour hour = from; hour < to; hour += std::chrono::hours{1}) {
      const auto found = hours.find(hour);
      trend.push_back(
          Json{{"at", format_rfc3339_short(start_of(hour))},
               {"power_watts", found == hours.end() ? Json(nullptr) : Json(shown_watts(found->second))}});
    }
    result.emplace(key, std::move(trend));
  }
  return result;
}

Result<std::map<SubjectKey, Json>> trends_of_page(Core& core, const std::vector<ledger::AccountKey>& keys,
                                                  const std::map<SubjectKey, Totals>& totals,
                                                  const TimeRange& range) {
  ledger::AccountFilter filter;
  filter.scope = ledger::Scope::node;
  for (const auto& key : keys) filter.ids.push_back(key.id);
  if (filter.ids.empty()) return std::map<SubjectKey, Json>{};
  const UtcHour from = std::max(range.from, range.to - std::chrono::hours{24});
  TW_TRY(const auto rows, core.store.hourly(filter, from, range.to));
  return trends(rows, totals, from, range.to);
}

struct NodeRow {
  const NodeInfo* node;
  const Totals* totals;
};

bool matches(const Call& call, const NodeInfo& node, bool live) {
  if (const auto q = call.parameter("q"); !q.empty() && !contains_ignoring_case(node.key.node_id, q))
    return false;
  if (const auto cluster = call.parameter("cluster"); !cluster.empty() && node.key.cluster != cluster)
    return false;
  if (const auto zone = call.parameter("zone"); !zone.empty() && node.zone != zone) return false;
  if (const auto state = call.parameter("state"); !state.empty() && state != (live ? "live" : "silent"))
    return false;
  return true;
}

/// Why a device has no power now though it has a source; empty = it may have.
std::string why_unknown(const ledger::NodeInfo& node, bool live, bool fresh) {
  if (!live) return "the agent is silent";
  if (node.stale && !fresh) return stale_text(*node.stale);
  return fresh ? "" : "the last sample is old";
}

Json device_json(const DeviceSample& device, bool fresh, const std::string& why, const Totals* totals) {
  const bool known = fresh && device.power.has_value();
  Json row{{"index", device.index},
           {"domain", device.domain},
           {"uuid", device.uuid},
           {"vendor", device.vendor},
           {"model", device.model},
           {"source", device.source},
           {"quality", to_string(device.quality)}};
  row["power_watts"] = known ? watts(device.power) : Json(nullptr);
  if (!known)
    row["reason"] = !device.reason.empty() ? device.reason
                    : !why.empty()         ? why
                                           : "the source gave no power in the last round";
  row["power_limit_watts"] = watts(device.power_limit);
  row["util"] = fresh ? number(device.util) : Json(nullptr);
  row["memory_used_bytes"] =
      fresh && device.memory_used_bytes ? Json(*device.memory_used_bytes) : Json(nullptr);
  row["temperature_c"] = fresh && device.health ? number(device.health->temperature_c) : Json(nullptr);
  row.update(amount_json(totals != nullptr ? totals->energy() : std::nullopt));
  row["coverage"] = totals != nullptr ? number(totals->coverage()) : Json(nullptr);
  row["partial_seconds"] = totals != nullptr && totals->sum ? seconds(totals->sum->partial) : Json(nullptr);
  row["method"] = nullptr;
  if (totals != nullptr && totals->energy()) {
    const auto& sum = *totals->sum;
    const bool some_counter = sum.counter != WideMicrojoules{};
    row["method"] = !some_counter ? "integrated" : sum.counter == sum.energy ? "counter" : "mixed";
  }
  Json holders = Json::array();
  for (const auto& holder : device.holders)
    holders.push_back(Json{{"task_id", holder.task_id},
                           {"state", to_string(holder.state)},
                           {"compute_share", number(holder.compute_share)},
                           {"memory_share", number(holder.memory_share)}});
  row["holders"] = std::move(holders);
  return row;
}

/// Totals of one device in one domain: its own domain is its total, whichever that is.
Totals device_totals(const ledger::Account& account) {
  Totals totals;
  totals.sum = account.totals;
  return totals;
}

Json source_states(const NodeInfo& node) {
  Json list = Json::array();
  for (const auto& report : node.sources)
    list.push_back(Json{{"source", report.source},
                        {"state", to_string(report.state)},
                        {"reason", report.reason.empty() ? Json(nullptr) : Json(report.reason)}});
  return list;
}

}  // namespace

net::Response list_nodes(Core& core, const Call& call) {
  const auto now = core.clock.utc_now();
  API_TRY(const auto range, time_range(call, now));
  API_TRY(const auto page, page_of(call));
  API_TRY(const auto order,
          sort_order(call, {"node_id", "energy_kwh", "power_watts", "coverage", "last_seen_at"}, "node_id"));
  API_TRY(const auto nodes, core.store.nodes());
  std::map<SubjectKey, Totals> totals;
  TenantView view;
  if (call.is_tenant()) {
    API_TRY(view, tenant_view(core, call, &range));
    totals = view.by_node;
  } else {
    const ledger::AccountFilter filter{ledger::Scope::node, call.parameter("cluster"), {}, {}};
    API_TRY(const auto sums, read_sums(core, filter, range));
    totals = totals_by_subject(sums.accounts);
  }
  std::vector<NodeRow> rows;
  std::optional<Watts> known_power;
  for (const auto& shared : nodes) {
    const auto& node = *shared;
    const SubjectKey key{node.key.cluster, node.key.node_id};
    if (call.is_tenant() && !view.nodes.contains(key)) continue;
    if (!matches(call, node, is_live(node, now, core.options.silent_after))) continue;
    const auto found = totals.find(key);
    rows.push_back({&node, found == totals.end() ? nullptr : &found->second});
    if (const auto power = power_now(node, now, core.options.silent_after).power; power && !call.is_tenant())
      known_power = known_power.value_or(Watts{0}) + *power;
  }
  sort_rows(rows, order, [&](const NodeRow& row, std::string_view key) -> SortValue {
    if (key == "energy_kwh")
      return row.totals != nullptr && row.totals->energy() ? SortValue{kwh(*row.totals->energy())}
                                                           : SortValue{};
    if (key == "coverage") return row.totals != nullptr ? sort_value(row.totals->coverage()) : SortValue{};
    if (key == "power_watts") {
      if (call.is_tenant()) return {};
      const auto power = power_now(*row.node, now, core.options.silent_after).power;
      return power ? SortValue{power->value()} : SortValue{};
    }
    if (key == "last_seen_at")
      return SortValue{static_cast<double>(row.node->last_seen_at.time_since_epoch().count())};
    return SortValue{row.node->key.node_id};
  });
  const auto begin = std::min(page.offset, rows.size());
  const auto end = std::min(begin + page.limit, rows.size());
  std::vector<ledger::AccountKey> keys;
  for (auto i = begin; i < end && !call.is_tenant(); ++i)
    keys.push_back({rows[i].node->key.cluster, ledger::Scope::node, rows[i].node->key.node_id, {}, {}});
  API_TRY(const auto trend, trends_of_page(core, keys, totals, range));
  Json list = Json::array();
  for (auto i = begin; i < end; ++i) {
    Json row = node_json(core, *rows[i].node, rows[i].totals, call.is_tenant());
    const auto found = trend.find({rows[i].node->key.cluster, rows[i].node->key.node_id});
    row["trend"] = found == trend.end() ? Json::array() : found->second;
    list.push_back(std::move(row));
  }
  return json_answer(200, Json{{"nodes", std::move(list)},
                               {"total", rows.size()},
                               {"power_known_watts", watts(known_power)},
                               {"next_cursor", next_cursor(page, rows.size())},
                               {"from", format_rfc3339_short(start_of(range.from))},
                               {"to", format_rfc3339_short(start_of(range.to))}});
}

net::Response get_node(Core& core, const Call& call) {
  const auto now = core.clock.utc_now();
  API_TRY(const auto range, time_range(call, now));
  API_TRY(const auto node, visible_node(core, call));
  API_TRY(const auto totals, node_totals(core, call, range));
  Json row = node_json(core, node, &totals, call.is_tenant());
  row["trend"] = Json::array();
  if (!call.is_tenant()) {
    const SubjectKey key{node.key.cluster, node.key.node_id};
    API_TRY(auto trend, trends_of_page(core, {{key.first, ledger::Scope::node, key.second, {}, {}}},
                                       {{key, totals}}, range));
    if (const auto found = trend.find(key); found != trend.end()) row["trend"] = std::move(found->second);
  }
  Json labels = Json::object();
  for (const auto& [name, value] : node.labels) labels[name] = value;
  row["labels"] = std::move(labels);
  row["boot_id"] = node.boot_id;
  row["cpu"] = Json{{"model", node.cpu_model.empty() ? Json(nullptr) : Json(node.cpu_model)},
                    {"cores", node.cpu_cores ? Json(*node.cpu_cores) : Json(nullptr)},
                    {"util", number(node.cpu_util)}};
  Json devices = Json::array();
  if (!call.is_tenant()) {
    ledger::AccountFilter filter{ledger::Scope::device, node.key.cluster, {}, {}};
    for (const auto& device : node.devices)
      filter.ids.push_back(fmt::format("{}/{}", node.key.node_id, device.index));
    std::map<std::pair<std::string, std::string>, Totals> by_device;
    if (!filter.ids.empty()) {
      API_TRY(const auto sums, read_sums(core, filter, range));
      for (const auto& account : sums.accounts)
        by_device.emplace(std::pair{account.key.id, account.key.domain}, device_totals(account));
    }
    const bool live = is_live(node, now, core.options.silent_after);
    const bool fresh = is_fresh(node, now, core.options.silent_after);
    const auto why = why_unknown(node, live, fresh);
    for (const auto& device : node.devices) {
      const auto found =
          by_device.find({fmt::format("{}/{}", node.key.node_id, device.index), device.domain});
      devices.push_back(device_json(device, fresh, why, found == by_device.end() ? nullptr : &found->second));
    }
  }
  row["devices"] = std::move(devices);
  row["source_states"] = call.is_tenant() ? Json::array() : source_states(node);
  return json_answer(200, row);
}

net::Response get_node_energy(Core& core, const Call& call) {
  API_TRY(const auto range, time_range(call, core.clock.utc_now()));
  API_TRY(const auto node, visible_node(core, call));
  API_TRY(const auto totals, node_totals(core, call, range));
  Json answer = energy_json(core, call,
                            {"node", node.key.node_id, node.key.cluster, !call.is_tenant(), call.is_tenant()},
                            &range, totals);
  const bool estimates =
      std::any_of(node.devices.begin(), node.devices.end(),
                  [](const DeviceSample& device) { return device.quality == Quality::estimated; });
  if (estimates)
    answer["notes"].push_back(
        note("estimated_not_booked", "estimated power is never booked: it is in no total"));
  if (node.stale)
    answer["notes"].push_back(
        note("beats_stale", stale_text(*node.stale), Json{{"behind_seconds", seconds(node.stale->behind)}}));
  if (plays_a_log(node))
    answer["notes"].push_back(note("replay", "played from a recorded log: not what the node uses now"));
  return json_answer(200, answer);
}

net::Response get_node_carbon_rate(Core& core, const Call& call) {
  API_TRY(const auto node, visible_node(core, call));
  const auto power = power_now(node, core.clock.utc_now(), core.options.silent_after).power;
  Json answer{{"power_watts", call.is_tenant() ? Json(nullptr) : watts(power)}};
  Json notes = Json::array();
  const auto view = carbon_view(core, call);
  const auto& factor = core.options.factor.factor;
  if (view.visible) {
    const auto intensity = carbon::intensity_of(factor);
    answer["grams_per_hour"] =
        power && !call.is_tenant() ? Json((*power * intensity).value()) : Json(nullptr);
    answer["intensity_g_per_kwh"] = intensity.value();
    answer["emission_factor"] = factor_json(factor);
    answer["hourly_signal"] = hourly_signal_now(core, node.zone, call.is_tenant() ? std::nullopt : power);
    if (view.placeholder)
      notes.push_back(note("placeholder_factor",
                           "placeholder factor, not authoritative: no emission factor is configured",
                           Json{{"value", factor.value.value()}}));
  } else {
    answer["carbon_hidden_reason"] = view.hidden_reason;
  }
  answer["kind"] = "annual_factor";
  answer["quality"] = "static";
  answer["zone"] = node.zone;
  answer["at"] = time(node.last_sample_at);
  answer["notes"] = std::move(notes);
  return json_answer(200, answer);
}

}  // namespace tidewatt::api
