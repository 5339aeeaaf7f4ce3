#include "node_view.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tidewatt/metering/plausibility.h"

namespace tidewatt::ledger {
namespace {

/// Six beats: an agent that was silent for longer says nothing of now.
constexpr Milliseconds kOtherAgentsFor{120'000};

bool same_device(const DeviceSample& a, const DeviceSample& b) {
  if (a.domain != b.domain) return false;
  return a.uuid.empty() || b.uuid.empty() ? a.index == b.index : a.uuid == b.uuid;
}

void describe(NodeInfo& info, const ShownBeat& shown) {
  const Beat& beat = *shown.beat;
  info.key = {beat.cluster, beat.node_id};
  info.zone = beat.zone;
  info.region = beat.region;
  info.agent_version = beat.agent_version;
  // A late beat says nothing of the clock: what an earlier one of the same boot said holds.
  if (shown.clock_offset || info.boot_id != beat.boot_id) info.clock_offset = shown.clock_offset;
  info.boot_id = beat.boot_id;
  info.labels = beat.labels;
  info.last_sample_at = shown.at;
  info.cpu_util = beat.cpu_util;
  info.cpu_cores = beat.cpu_cores;
  info.cpu_model = beat.cpu_model;
}

/// What isn't booked isn't shown as a power either; the raw value stays in the reason.
void quarantine(DeviceSample& device) {
  if (!device.power) return;
  auto reason = metering::why_implausible(*device.power, device.power_limit);
  if (reason.empty()) return;
  device.power.reset();
  device.power_instant.reset();
  device.reason = std::move(reason);
}

template <class T>
void append(std::vector<T>& to, std::vector<T>&& more) {
  if (to.empty()) {
    to = std::move(more);
  } else {
    to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
}

void copy_description(NodeInfo& info, const NodeInfo& from) {
  info.key = from.key;
  info.zone = from.zone;
  info.region = from.region;
  info.agent_version = from.agent_version;
  info.boot_id = from.boot_id;
  info.labels = from.labels;
  info.last_sample_at = from.last_sample_at;
  info.clock_offset = from.clock_offset;
  info.cpu_util = from.cpu_util;
  info.cpu_cores = from.cpu_cores;
  info.cpu_model = from.cpu_model;
}

}  // namespace

std::optional<NodeInfo> shown_with(const NodeInfo* known, const ShownBeat& shown) {
  static const NodeInfo nothing;
  const NodeInfo& before = known != nullptr ? *known : nothing;
  const auto own = [&shown](const AgentShare& share) { return share.agent_id == shown.beat->agent_id; };
  const auto found = std::find_if(before.agents.begin(), before.agents.end(), own);
  if (found != before.agents.end() && found->last_sample_at >= shown.at) return std::nullopt;

  NodeInfo after;
  after.first_seen_at = before.first_seen_at;
  after.last_seen_at = before.last_seen_at;
  after.checks = before.checks;
  if (!before.last_sample_at || shown.at >= *before.last_sample_at) {
    after.boot_id = before.boot_id;
    after.clock_offset = before.clock_offset;
    describe(after, shown);
    after.last_seen_at = std::max(before.last_seen_at, shown.received_at);
  } else {
    copy_description(after, before);
  }

  auto device = before.devices.begin();
  auto source = before.sources.begin();
  for (const auto& share : before.agents) {
    const auto end = device + static_cast<std::ptrdiff_t>(share.devices);
    const auto sources_end = source + static_cast<std::ptrdiff_t>(share.sources);
    AgentShare kept{share.agent_id, share.last_sample_at, 0, 0};
    if (!own(share) && *after.last_sample_at - share.last_sample_at <= kOtherAgentsFor) {
      std::copy_if(device, end, std::back_inserter(after.devices), [&](const DeviceSample& theirs) {
        const bool moved = std::any_of(shown.beat->devices.begin(), shown.beat->devices.end(),
                                       [&](const auto& ours) { return same_device(ours, theirs); });
        kept.devices += moved ? 0 : 1;
        return !moved;
      });
      after.sources.insert(after.sources.end(), source, sources_end);
      kept.sources = share.sources;
    }
    if (kept.devices > 0 || kept.sources > 0) after.agents.push_back(std::move(kept));
    device = end;
    source = sources_end;
  }
  if (*after.last_sample_at - shown.at <= kOtherAgentsFor) {
    Beat& beat = *shown.beat;
    after.agents.push_back({beat.agent_id, shown.at, beat.devices.size(), beat.sources.size()});
    append(after.sources, std::move(beat.sources));
    for (auto& sample : beat.devices) quarantine(sample);
    append(after.devices, std::move(beat.devices));
  }
  after.simulated = std::any_of(after.devices.begin(), after.devices.end(),
                                [](const auto& d) { return d.quality == Quality::simulated; });
  return after;
}

void add_checks(NodeInfo& info, const std::vector<CheckedCounter>& checks) {
  const auto same = [](const auto& a, const auto& b) { return a.domain == b.domain && a.index == b.index; };
  for (const auto& check : checks) {
    std::erase_if(info.checks, [&](const auto& before) { return same(before, check); });
    info.checks.push_back(check);
  }
  std::erase_if(info.checks, [&](const auto& check) {
    return std::none_of(info.devices.begin(), info.devices.end(),
                        [&](const auto& device) { return same(device, check); });
  });
}

}  // namespace tidewatt::ledger
