#include "tidewatt/agent/collector.h"

namespace tidewatt::agent {
namespace {

using metering::Reading;

std::string key_of(const Reading& reading) {
  return reading.domain + (reading.uuid.empty() ? "#" + std::to_string(reading.index) : "@" + reading.uuid);
}

bool differs(const Reading& a, const Reading& b) {
  return a.power != b.power || a.energy_total != b.energy_total || a.util != b.util ||
         a.memory_used_bytes != b.memory_used_bytes;
}

void forget_values(Reading& reading) {
  reading.power.reset();
  reading.energy_total.reset();
  reading.util.reset();
  reading.memory_used_bytes.reset();
  reading.processes.reset();
}

}  // namespace

void Collector::add(const std::string& source, const std::vector<Reading>& readings, SteadyTime now) {
  const std::lock_guard lock(mutex_);
  interval_.add(readings);
  last_read_ = now;
  auto& names = delivered_as_[source];
  for (const auto& reading : readings) {
    if (!names.contains(reading.source)) names.insert(reading.source);
    const auto [it, is_new] = latest_.try_emplace(key_of(reading), reading);
    const bool known = reading.power || reading.energy_total || reading.util || reading.memory_used_bytes;
    if (known && (is_new || differs(it->second, reading))) last_change_ = now;
    it->second = reading;
  }
  std::erase_if(latest_, [&](const auto& entry) { return now - entry.second.at > options_.forget_after; });
}

void Collector::fail(const std::string& source, SteadyTime now, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  const auto names = delivered_as_.find(source);
  if (names == delivered_as_.end()) return;  // it never delivered: there is no device to speak of
  for (const auto& name : names->second) {
    interval_.add_failure(name, now, reason);
    for (auto& [key, reading] : latest_) {
      if (reading.source == name) forget_values(reading);
    }
  }
}

std::vector<DeviceSample> Collector::finish(SteadyTime now) {
  const std::lock_guard lock(mutex_);
  return interval_.finish(now);
}

std::vector<DeviceNow> Collector::latest(SteadyTime now) const {
  const std::lock_guard lock(mutex_);
  std::vector<DeviceNow> out;
  for (const auto& [key, reading] : latest_) {
    out.push_back({reading});
    if (now - reading.at > options_.max_hold) forget_values(out.back().reading);
  }
  return out;
}

std::optional<SteadyTime> Collector::last_read() const {
  const std::lock_guard lock(mutex_);
  return last_read_;
}

std::optional<SteadyTime> Collector::last_change() const {
  const std::lock_guard lock(mutex_);
  return last_change_;
}

}  // namespace tidewatt::agent
