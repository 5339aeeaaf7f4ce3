#include "tidewatt/metering/interval.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidewatt::metering {
namespace {

constexpr std::string_view kNoReading = "no_reading_in_this_interval";

std::string key_of(const Reading& reading) {
  return reading.uuid.empty() ? fmt::format("{}#{}", reading.domain, reading.index)
                              : fmt::format("{}@{}", reading.domain, reading.uuid);
}

int rank_of(std::string_view domain) {
  if (domain == kDomainGpu) return 0;
  if (domain == kDomainCpuPackage) return 1;
  if (domain == kDomainDram) return 2;
  if (domain == kDomainPlatform) return 4;
  return 3;
}

}  // namespace

void IntervalAccumulator::begin(Track& track) {
  track.energy = {};
  track.covered = Milliseconds{0};
  track.min.reset();
  track.max.reset();
  track.latest_known.reset();
  track.seen = false;
  track.fresh = false;
}

void IntervalAccumulator::add(const std::vector<Reading>& readings) {
  for (const auto& reading : readings) add(reading);
}

/// A library names a card by its uuid, the tool that stands in for it by its number alone or by a name of its
/// own spelling, and a card that slept tells its uuid later: all are the card in that slot, which has one
/// track. Two cards that one source names in the same slot one after the other are two: the first one is
/// missed.
IntervalAccumulator::Track& IntervalAccumulator::track_of(const Reading& reading, bool& is_new) {
  is_new = false;
  const auto key = key_of(reading);
  if (const auto known = tracks_.find(key); known != tracks_.end()) return known->second;
  auto slot = tracks_.end();
  for (auto it = tracks_.begin(); it != tracks_.end(); ++it) {
    const auto& known = it->second.last;
    if (known.domain != reading.domain || known.index != reading.index) continue;
    const bool two_cards = !reading.uuid.empty() && !known.uuid.empty() && known.source == reading.source;
    if (!two_cards && (slot == tracks_.end() || known.at > slot->second.last.at)) slot = it;
  }
  if (slot == tracks_.end()) {
    is_new = true;
    return tracks_[key];
  }
  if (reading.uuid.empty()) return slot->second;
  auto node = tracks_.extract(slot);
  node.key() = key;
  return tracks_.insert(std::move(node)).position->second;
}

void IntervalAccumulator::add(const Reading& reading) {
  bool is_new = false;
  Track& track = track_of(reading, is_new);
  if (!is_new && reading.at <= track.last.at) {
    ++ignored_;
    return;
  }
  const bool from_here = is_new || track.outage;
  const Milliseconds held =
      from_here ? Milliseconds{0}
                : std::min(reading.at - track.last.at, reading.hold.value_or(options_.max_hold));
  const auto power = reading.power ? quantise(*reading.power) : std::nullopt;
  auto uuid = reading.uuid.empty() ? std::move(track.last.uuid) : reading.uuid;
  track.last = reading;
  track.last.uuid = std::move(uuid);
  track.seen_at = reading.at;
  track.seen = true;
  track.fresh = power.has_value();
  // A counter that begins anew is known from then on: the next power is over the time since.
  track.outage = !power && reading.counter_epoch.empty();
  if (!power) {
    // A number that can't be booked is no number: the raw value stays in the reason.
    if (reading.power) track.last.reason = fmt::format("implausible: {} W", reading.power->value());
    track.last.power.reset();
    return;
  }
  // Wide: a gigawatt held for three hours is beyond 64 bits.
  track.energy += WideMicrojoules::from_raw(WideMicrojoules::Int{power->n} * held.count());
  track.covered += held;
  track.min = track.min ? std::min(*track.min, *power) : *power;
  track.max = track.max ? std::max(*track.max, *power) : *power;
  track.latest_known = reading.power;
}

void IntervalAccumulator::add_failure(std::string_view source, SteadyTime at, const std::string& reason) {
  for (auto& [key, track] : tracks_) {
    if (track.last.source != source || at <= track.last.at) continue;
    track.last.at = at;
    track.seen_at = at;
    track.seen = true;
    track.fresh = false;
    track.outage = true;
    track.last.power.reset();
    track.last.energy_total.reset();
    track.last.util.reset();
    track.last.memory_used_bytes.reset();
    track.last.health.reset();
    track.last.reason = reason;
  }
}

DeviceSample IntervalAccumulator::sample_of(const Track& track) const {
  const Reading& last = track.last;
  DeviceSample out;
  out.domain = last.domain;
  out.index = last.index;
  out.uuid = last.uuid;
  out.vendor = last.vendor;
  out.model = last.model;
  out.power_limit = last.power_limit;
  out.counter_epoch = last.counter_epoch;
  out.source = last.source;
  out.quality = last.quality;
  out.holders = last.holders;
  if (track.seen) {  // values of an earlier interval aren't values of this one
    out.energy_total = last.energy_total;
    out.util = last.util;
    out.memory_used_bytes = last.memory_used_bytes;
    out.health = last.health;
  }
  if (!track.min) {
    out.reason = !track.seen ? std::string{kNoReading} : last.reason.empty() ? "unknown" : last.reason;
    return out;
  }
  const auto covered = track.covered.count();
  out.power_covered = Seconds{static_cast<double>(covered) / kPerKilo};
  // uJ / ms = mW. A first reading covers nothing: then the value itself is the best there is.
  out.power = covered > 0
                  ? Watts{static_cast<double>(track.energy.raw()) / static_cast<double>(covered) / kPerKilo}
                  : *track.latest_known;
  if (track.fresh) out.power_instant = last.power;
  out.power_min = to_watts(*track.min);
  out.power_max = to_watts(*track.max);
  return out;
}

std::vector<DeviceSample> IntervalAccumulator::finish(SteadyTime now) {
  std::vector<DeviceSample> samples;
  samples.reserve(tracks_.size());
  for (auto it = tracks_.begin(); it != tracks_.end();) {
    if (now - it->second.seen_at > options_.forget_after) {
      it = tracks_.erase(it);
      continue;
    }
    samples.push_back(sample_of(it->second));
    begin(it->second);
    ++it;
  }
  std::stable_sort(samples.begin(), samples.end(), [](const DeviceSample& a, const DeviceSample& b) {
    return std::tuple{rank_of(a.domain), std::string_view{a.domain}, a.index} <
           std::tuple{rank_of(b.domain), std::string_view{b.domain}, b.index};
  });
  return samples;
}

}  // namespace tidewatt::metering
