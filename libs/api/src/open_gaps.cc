#include "open_gaps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "energy_view.h"

namespace tidewatt::api {
namespace {

using ledger::Account;
using ledger::AccountFilter;
using ledger::OpenGap;
using ledger::Scope;

struct Now {
  UtcRange window;
  ledger::OpenGapRule rule;
  /// Nothing can be open of what was sampled so lately.
  [[nodiscard]] bool fresh(const std::optional<UtcTime>& sample) const {
    return sample && rule.now - *sample <= rule.patience;
  }
};

/// A node is expected to report, and so is each device that it ever reported: see kRetireAfter.
Result<std::vector<OpenGap>> of_hardware(Core& core, const AccountFilter& filter, const Now& now) {
  std::vector<OpenGap> gaps;
  TW_TRY(const auto accounts, core.store.accounts(filter));
  for (const auto& account : accounts) {
    if (!account.last_sample_at) continue;
    if (const auto range = ledger::open_gap(*account.last_sample_at, {}, now.window, now.rule))
      gaps.push_back({account.key, *range, *account.last_sample_at});
  }
  return gaps;
}

using DeviceKey = std::tuple<std::string, std::string, std::string>;  ///< cluster, "node/index", domain

/// What the last beats said of each device.
std::map<DeviceKey, const DeviceSample*> devices_of(const std::vector<ledger::SharedNode>& nodes) {
  std::map<DeviceKey, const DeviceSample*> listed;
  for (const auto& node : nodes)
    for (const auto& device : node->devices)
      listed.emplace(
          DeviceKey{node->key.cluster, fmt::format("{}/{}", node->key.node_id, device.index), device.domain},
          &device);
  return listed;
}

bool names(const DeviceSample& device, const std::string& task_id) {
  return std::any_of(device.holders.begin(), device.holders.end(),
                     [&](const Holder& holder) { return holder.task_id == task_id && holds(holder.state); });
}

/// Tasks of which something may be open: their own samples are old, or a device that names them gave nothing.
std::vector<std::string> candidates(const AccountFilter& filter, const std::vector<Account>& sums,
                                    const std::vector<ledger::SharedNode>& nodes, const Now& now) {
  std::set<std::string> ids;
  for (const auto& account : sums)
    if (!now.fresh(account.last_sample_at)) ids.insert(account.key.id);
  const std::set<std::string> asked{filter.ids.begin(), filter.ids.end()};
  for (const auto& node : nodes) {
    if (!filter.cluster.empty() && node->key.cluster != filter.cluster) continue;
    for (const auto& device : node->devices) {
      if (device.power && now.fresh(node->last_sample_at)) continue;
      for (const auto& holder : device.holders)
        if (holds(holder.state) && (asked.empty() || asked.contains(holder.task_id)))
          ids.insert(holder.task_id);
    }
  }
  return {ids.begin(), ids.end()};
}

/// A task's time on one node in one domain, over all its devices there.
struct OnNode {
  UtcTime last_sample_at{};
  bool held = false;  ///< some device is the task's still, as far as anybody knows
};

/// A task is expected where it held a device at the device's last known sample, unless a later beat names the
/// device without it. Left devices and finished tasks are not.
Result<std::vector<OpenGap>> of_tasks(Core& core, const AccountFilter& filter,
                                      const std::vector<Account>& sums, const Now& now) {
  std::vector<OpenGap> gaps;
  TW_TRY(const auto nodes, core.store.nodes());
  AccountFilter parts_filter{Scope::task_device, filter.cluster, candidates(filter, sums, nodes, now),
                             filter.domain};
  if (parts_filter.ids.empty()) return gaps;
  TW_TRY(const auto parts, core.store.accounts(parts_filter));
  AccountFilter devices_filter{Scope::device, filter.cluster, {}, filter.domain};
  std::set<std::string> device_ids;
  for (const auto& part : parts) device_ids.insert(part.key.part);
  devices_filter.ids.assign(device_ids.begin(), device_ids.end());
  if (devices_filter.ids.empty()) return gaps;
  TW_TRY(const auto devices, core.store.accounts(devices_filter));
  std::map<DeviceKey, std::optional<UtcTime>> last_known;
  for (const auto& device : devices)
    last_known[{device.key.cluster, device.key.id, device.key.domain}] = device.last_sample_at;
  const auto listed = devices_of(nodes);
  TW_TRY(const auto registry, core.registry());

  std::map<ledger::AccountKey, OnNode> on_nodes;  ///< of a task_device: itself; of a task: part = the node
  for (const auto& part : parts) {
    if (!part.last_sample_at) continue;
    const DeviceKey device{part.key.cluster, part.key.part, part.key.domain};
    const auto named = listed.find(device);
    const auto known = last_known.find(device);
    auto key = part.key;
    if (filter.scope == Scope::task) {
      key.scope = Scope::task;
      key.part = split_part(part.key.part).first;
    }
    OnNode& place = on_nodes[key];
    place.last_sample_at = std::max(place.last_sample_at, *part.last_sample_at);
    place.held = place.held || (known != last_known.end() && known->second == part.last_sample_at &&
                                (named == listed.end() || names(*named->second, part.key.id)));
  }
  for (const auto& [key, place] : on_nodes) {
    if (!place.held) continue;
    const auto* task = registry->find(key.cluster, key.id);
    const auto ended = task != nullptr ? task->finished_at : std::nullopt;
    const auto range = ledger::open_gap(place.last_sample_at, ended, now.window, now.rule);
    if (!range) continue;
    auto& gap = gaps.emplace_back(OpenGap{key, *range, place.last_sample_at});
    if (filter.scope == Scope::task) gap.key.part.clear();
  }
  return gaps;
}

}  // namespace

Result<Reading> read_sums(Core& core, const AccountFilter& filter, const TimeRange& range) {
  Reading reading;
  TW_TRY(reading.accounts, core.store.sums(filter, range.from, range.to));
  // A silent node must not read as wholly covered, nor one that has just been heard as missing.
  const auto patience = std::min(core.options.max_gap, core.options.silent_after);
  const Now now{{start_of(range.from), start_of(range.to)}, {core.clock.utc_now(), patience}};
  const bool tasks = filter.scope == Scope::task || filter.scope == Scope::task_device;
  if (tasks) {
    TW_TRY(reading.open, of_tasks(core, filter, reading.accounts, now));
  } else {
    TW_TRY(reading.open, of_hardware(core, filter, now));
  }
  ledger::add_open_gaps(reading.accounts, reading.open);
  return reading;
}

}  // namespace tidewatt::api
