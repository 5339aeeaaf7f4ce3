#include "remote_energy.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidewatt::api {
namespace {

using ledger::DeviceCursor;
using ledger::NodeCursor;
using remote_write::EnergySeries;
using remote_write::Family;

constexpr std::string_view kAgentPrefix = "prometheus/";
/// For so long after its last sample a source keeps its domain against a lesser one.
constexpr Milliseconds kTenure = std::chrono::minutes{5};
constexpr double kMostCountedJoules = 9e12;  ///< what 64 bits of microjoules hold
constexpr double kMostWatts = 1e9;
constexpr std::size_t kMostDevicesOfNode = 1024;  ///< as a beat may have

std::string agent_id_of(Family family) {
  return std::string{kAgentPrefix} + std::string{remote_write::to_string(family)};
}

/// nullopt = an agent of ours.
std::optional<Family> family_of(std::string_view agent_id) {
  for (const auto family : {Family::dcgm, Family::kepler, Family::node_rapl})
    if (agent_id == agent_id_of(family)) return family;
  return std::nullopt;
}

/// What tells the device from others of its domain. DCGM's is the card's own, so that an agent of ours means
/// the same card by it.
std::string device_name(const EnergySeries& series) {
  if (series.family == Family::dcgm)
    return series.uuid.empty() ? fmt::format("dcgm/{}", series.index) : series.uuid;
  return fmt::format("{}/{}{}{}", remote_write::to_string(series.family), series.index,
                     series.part.empty() ? "" : "/", series.part);
}

/// Kepler's two counters of a package are two devices beside each other.
int device_index(const EnergySeries& series) {
  if (series.part.empty()) return series.index;
  return 2 * series.index + (series.part == "idle" ? 1 : 0);
}

const DeviceCursor* device_in(const NodeCursor& cursor, const std::string& domain, const std::string& name) {
  const auto found = std::find_if(
      cursor.devices.begin(), cursor.devices.end(),
      [&](const DeviceCursor& device) { return device.domain == domain && device.uuid == name; });
  return found == cursor.devices.end() ? nullptr : &*found;
}

bool fell(const DeviceCursor& before, const std::optional<double>& joules) {
  return joules && before.counter && *joules * 1e6 < static_cast<double>(before.counter->n);
}

/// The mean power since the counter's last sample, for who looks at the node; the counter is what is booked.
std::optional<Watts> mean_power(const DeviceCursor& before, double joules, UtcTime at) {
  if (!before.counter || at <= before.at) return std::nullopt;
  const double used = joules - static_cast<double>(before.counter->n) / 1e6;
  const double seconds = static_cast<double>((at - before.at).count()) / 1000.0;
  return used >= 0 && used / seconds <= kMostWatts ? std::optional(Watts{used / seconds}) : std::nullopt;
}

/// Ends the epoch of a counter that fell after `before`.
std::string reset_mark(const DeviceCursor& before) {
  return fmt::format("#{}", before.at.time_since_epoch().count());
}

DeviceCursor cursor_after(const DeviceSample& sample, std::string_view agent_id, UtcTime at) {
  DeviceCursor after;
  after.domain = sample.domain;
  after.uuid = sample.uuid;
  after.agent_id = agent_id;
  after.at = at;
  after.counter_epoch = sample.counter_epoch;
  if (sample.energy_total)
    after.counter = Microjoules{static_cast<std::int64_t>(sample.energy_total->value() * 1e6)};
  return after;
}

void replace_device(NodeCursor& cursor, DeviceCursor device) {
  std::erase_if(cursor.devices, [&](const DeviceCursor& known) {
    return known.domain == device.domain && known.uuid == device.uuid;
  });
  cursor.devices.push_back(std::move(device));
}

}  // namespace

Shadowed shadowed(const NodeCursor& cursor, Family family, const std::string& domain, UtcTime at,
                  std::string& epoch) {
  std::optional<UtcTime> others;
  for (const auto& device : cursor.devices) {
    if (device.domain != domain) continue;
    const auto other = family_of(device.agent_id);
    if (!other) return Shadowed::by_agent;
    if (*other == family) continue;
    const auto kept_until = *other < family ? device.at + kTenure : device.at;
    if (at <= kept_until) return Shadowed::by_better;
    others = std::max(others.value_or(device.at), device.at);
  }
  // What the other source booked must not be in the difference of this one's counter too.
  if (others) epoch = "after " + format_rfc3339(*others);
  return Shadowed::no;
}

void RemoteEnergy::add(const EnergySeries& series, std::span<const remote_write::Sample> samples) {
  auto& outcomes = core_.metrics.remote_write;
  if (series.node.empty()) {
    outcomes.no_node += samples.size();
    return;
  }
  for (const auto* id :
       {&series.cluster, &series.node, &series.uuid, &series.model, &series.task_id, &series.part})
    if (id->size() > kLongestLabel) {
      outcomes.unusable += samples.size();
      return;
    }
  const auto latest = core_.clock.utc_now() + kRemoteFuture;
  const double most = series.counter ? kMostCountedJoules : kMostWatts;
  for (const auto& sample : samples) {
    const double value = sample.value.value_or(-1) * series.scale;
    if (!sample.value || value < 0 || value > most || sample.at > latest) {
      ++outcomes.unusable;
      continue;
    }
    auto& devices = beats_[{series.cluster, series.node, sample.at, series.family}];
    auto& figures =
        devices.try_emplace({series.domain, device_name(series)}, Figures{series, {}, {}}).first->second;
    (series.counter ? figures.joules : figures.watts) = value;
  }
}

Result<NodeCursor*> RemoteEnergy::cursor_of(const ledger::NodeKey& node) {
  const auto found = cursors_.find(node);
  if (found != cursors_.end()) return &found->second;
  TW_TRY(const auto stored, core_.store.cursor(node));
  return &cursors_.emplace(node, *stored.cursor).first->second;
}

Beat RemoteEnergy::empty_beat(const ledger::NodeKey& node, Family family, UtcTime at) {
  Beat beat;
  beat.cluster = node.cluster;
  beat.node_id = node.node_id;
  beat.boot_id = "remote_write";
  beat.agent_id = agent_id_of(family);
  beat.sampled_at = at;
  return beat;
}

/// nullopt = it isn't booked, and counted as what it is.
std::optional<DeviceSample> RemoteEnergy::sample_of(const NodeCursor& cursor, const DeviceName& name,
                                                    const Figures& figures, UtcTime at) {
  auto& outcomes = core_.metrics.remote_write;
  DeviceSample sample;
  if (shadowed(cursor, figures.series.family, name.first, at, sample.counter_epoch) != Shadowed::no) {
    ++outcomes.shadow;
    return std::nullopt;
  }
  const auto* known = device_in(cursor, name.first, name.second);
  if (known != nullptr &&
      (at <= known->at || (fell(*known, figures.joules) && at < known->at + kSoonestReset))) {
    ++outcomes.old;
    return std::nullopt;
  }
  if (known == nullptr && cursor.devices.size() >= kMostDevicesOfNode) {
    ++outcomes.unusable;
    return std::nullopt;
  }
  // Of a device with a counter the power is in the counter's differences already.
  if (!figures.joules && known != nullptr && known->counter && at <= known->at + kTenure) {
    ++outcomes.shadow;
    return std::nullopt;
  }
  sample.domain = name.first;
  sample.uuid = name.second;
  sample.index = device_index(figures.series);
  sample.model = figures.series.model;
  sample.source = remote_write::to_string(figures.series.family);
  if (!figures.series.task_id.empty()) {
    Holder holder;
    holder.task_id = figures.series.task_id;
    sample.holders.push_back(std::move(holder));
  }
  if (!figures.joules) {
    sample.power = Watts{*figures.watts};
    return sample;
  }
  sample.energy_total = Joules{*figures.joules};
  // A device's own resets go on from the epoch that the change of sources made.
  if (known == nullptr || !known->counter_epoch.starts_with(sample.counter_epoch)) return sample;
  if (fell(*known, figures.joules)) {
    sample.counter_epoch += reset_mark(*known);
  } else {
    sample.counter_epoch = known->counter_epoch;
    sample.power = mean_power(*known, *figures.joules, at);
  }
  return sample;
}

Status RemoteEnergy::append_beats(const BeatKey& key, const Devices& devices, std::vector<Beat>& beats) {
  const auto& [cluster_id, node_id, at, family] = key;
  const ledger::NodeKey node{cluster_id, node_id};
  TW_TRY(NodeCursor* const cursor, cursor_of(node));
  Beat beat = empty_beat(node, family, at);
  for (const auto& [name, figures] : devices) {
    auto sample = sample_of(*cursor, name, figures, at);
    if (!sample) continue;
    const auto* known = device_in(*cursor, name.first, name.second);
    if (known != nullptr && sample->counter_epoch.ends_with(reset_mark(*known))) {
      // It began anew right behind its last sample: from there on the difference is exact.
      auto zero = *sample;
      zero.energy_total = Joules{0};
      zero.power = Watts{0};  // of that millisecond: a sample without power and a known counter is none
      beats.push_back(empty_beat(node, family, known->at + Milliseconds{1}));
      beats.back().devices.push_back(std::move(zero));
    }
    replace_device(*cursor, cursor_after(*sample, beat.agent_id, at));
    beat.devices.push_back(*std::move(sample));
    ++core_.metrics.remote_write.booked;
  }
  if (!beat.devices.empty()) beats.push_back(std::move(beat));
  return {};
}

Status RemoteEnergy::book(const ledger::ClusterWindows& windows) {
  std::vector<Beat> beats;
  for (const auto& [key, devices] : beats_) {
    TW_TRY_STATUS(append_beats(key, devices, beats));
  }
  for (auto& beat : beats) {
    // The node's description stays its own agent's.
    TW_TRY(const auto known, core_.store.node({beat.cluster, beat.node_id}));
    if (known) {
      beat.zone = known->zone;
      beat.region = known->region;
      beat.agent_version = known->agent_version;
      beat.labels = known->labels;
      beat.cpu_cores = known->cpu_cores;
      beat.cpu_model = known->cpu_model;
    }
  }
  const ledger::Receipt receipt{core_.clock.utc_now(), core_.clock.mono_now().time_since_epoch(),
                                core_.options.server_run};
  std::vector<ledger::ReceivedBeat> received;
  for (auto& beat : beats) received.push_back({&beat, receipt});
  for (const auto& result : core_.ledger.book(received, windows))
    if (result.outcome == ledger::BeatOutcome::retry)
      return fail(ErrorCode::unavailable, result.reason, "send again");
  return {};
}

}  // namespace tidewatt::api
