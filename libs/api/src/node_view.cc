#include "node_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tidewatt::api {

bool is_live(const ledger::NodeInfo& node, UtcTime now, Milliseconds silent_after) {
  return now - node.last_seen_at <= silent_after;
}

bool is_fresh(const ledger::NodeInfo& node, UtcTime now, Milliseconds silent_after) {
  return is_live(node, now, silent_after) && node.last_sample_at &&
         now - *node.last_sample_at <= silent_after;
}

bool plays_a_log(const ledger::NodeInfo& node) {
  return std::any_of(node.devices.begin(), node.devices.end(),
                     [](const DeviceSample& device) { return device.source == "replay"; });
}

PowerNow power_now(const ledger::NodeInfo& node, UtcTime now, Milliseconds silent_after) {
  PowerNow result;
  const bool fresh = is_fresh(node, now, silent_after);
  const auto known_power = [fresh](const DeviceSample& device) -> std::optional<Watts> {
    if (!fresh || device.quality == Quality::estimated) return std::nullopt;
    return device.power;
  };
  std::vector<std::string> listed;
  for (const auto& device : node.devices) listed.push_back(device.domain);
  const auto rule = metering::node_total(listed, metering::Wanted::attributable);
  result.by_platform = rule.known && rule.layer != metering::Layer::components;
  for (const auto& device : node.devices) {
    const auto power = known_power(device);
    if (device.domain == kDomainPlatform && power)
      result.platform = result.platform.value_or(Watts{0}) + *power;
    if (std::find(rule.parts.begin(), rule.parts.end(), device.domain) == rule.parts.end()) continue;
    ++result.total;
    if (!power) continue;
    ++result.known;
    result.power = result.power.value_or(Watts{0}) + *power;
  }
  return result;
}

std::string stale_text(const ledger::StaleBeats& stale) {
  return fmt::format(
      "no energy is booked: its beats are {} s older than what is booked already, so its clock was set back "
      "or began "
      "behind; set it on the node (see: chronyc tracking, timedatectl), and booking goes on",
      stale.behind.count() / 1000);
}

Json node_json(const Core& core, const ledger::NodeInfo& node, const Totals* totals, bool withheld) {
  const auto now = core.clock.utc_now();
  const auto silent_after = core.options.silent_after;
  const PowerNow power = power_now(node, now, silent_after);
  std::set<std::string> sources;
  for (const auto& device : node.devices)
    if (!device.source.empty()) sources.insert(device.source);
  Json row{{"node_id", node.key.node_id},
           {"cluster", node.key.cluster},
           {"zone", node.zone},
           {"region", node.region}};
  row["state"] = is_live(node, now, silent_after) ? "live" : "silent";
  row["last_seen_at"] = time(node.last_seen_at);
  row["last_sample_at"] = time(node.last_sample_at);
  row["silent_seconds"] = seconds(std::max(Milliseconds{0}, now - node.last_seen_at));
  row["power_watts"] = withheld ? Json(nullptr) : watts(power.power);
  row["power_boundary"] = power.by_platform ? "platform" : "components";
  row["platform_power_watts"] = withheld ? Json(nullptr) : watts(power.platform);
  row["devices_known"] = power.known;
  row["devices_total"] = power.total;
  row["sources"] = sources;
  row.update(amount_json(totals != nullptr ? totals->energy() : std::nullopt));
  row["coverage"] = totals != nullptr ? number(totals->coverage()) : Json(nullptr);
  row["gap_seconds"] = totals != nullptr && totals->sum ? seconds(totals->sum->gap) : Json(nullptr);
  row["partial_seconds"] = totals != nullptr && totals->sum ? seconds(totals->sum->partial) : Json(nullptr);
  row["simulated"] = node.simulated;
  row["replay"] = plays_a_log(node);
  row["clock_offset_seconds"] =
      node.clock_offset ? Json(static_cast<double>(node.clock_offset->count()) / 1000.0) : Json(nullptr);
  row["agent_version"] = node.agent_version;
  if (withheld) row["partial_view"] = true;
  return row;
}

ClusterPower cluster_power(const std::vector<ledger::SharedNode>& nodes, UtcTime now,
                           Milliseconds silent_after) {
  ClusterPower result;
  for (const auto& shared : nodes) {
    const auto& node = *shared;
    (is_live(node, now, silent_after) ? result.live : result.silent) += 1;
    const PowerNow power = power_now(node, now, silent_after);
    result.known += power.known;
    result.total += power.total;
    if (power.total > 0) (power.by_platform ? result.platform : result.components) = true;
    if (power.power) result.power = result.power.value_or(Watts{0}) + *power.power;
  }
  return result;
}

}  // namespace tidewatt::api
