#include "tools/samples.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::string_view kNotInLastSample = "not in the last sample";

std::string word_of(const ToolIndex& index) {
  if (const auto* number = std::get_if<std::int64_t>(&index)) return std::to_string(*number);
  return "'" + std::get<std::string>(index);
}

std::string key_of(const ToolDevice& device, std::string_view identity) {
  return fmt::format("{}|{}|{}", device.domain, device.sub_index ? word_of(*device.sub_index) : "", identity);
}

std::size_t value_in(const std::unordered_map<std::string, std::size_t>& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? DevicePlaces::npos : found->second;
}

}  // namespace

std::size_t DevicePlaces::find(const std::vector<ToolDevice>& devices, const ToolDevice& device) const {
  const auto differ = [](const std::string& a, const std::string& b) {
    return !a.empty() && !b.empty() && a != b;
  };
  // A UUID that two slots print is no identity.
  if (!device.uuid.empty())
    if (const auto place = value_in(by_uuid_, key_of(device, device.uuid));
        place != npos && !differ(devices[place].bus_id, device.bus_id))
      return place;
  if (!device.bus_id.empty())
    if (const auto place = value_in(by_bus_, key_of(device, device.bus_id));
        place != npos && !differ(devices[place].uuid, device.uuid))
      return place;
  // Sensors that are named, not numbered, may share a name.
  if (!std::holds_alternative<std::int64_t>(device.index)) return npos;
  const auto place = value_in(by_number_, key_of(device, word_of(device.index)));
  if (place == npos || differ(devices[place].uuid, device.uuid) ||
      (differ(devices[place].bus_id, device.bus_id) && (device.uuid.empty() || devices[place].uuid.empty())))
    return npos;
  return place;
}

void DevicePlaces::add(const ToolDevice& device, std::size_t place) {
  if (!device.uuid.empty()) by_uuid_.insert_or_assign(key_of(device, device.uuid), place);
  if (!device.bus_id.empty()) by_bus_.insert_or_assign(key_of(device, device.bus_id), place);
  if (std::holds_alternative<std::int64_t>(device.index))
    by_number_.insert_or_assign(key_of(device, word_of(device.index)), place);
}

bool has_cut_device(const ToolReadings& readings) {
  return std::any_of(readings.devices.begin(), readings.devices.end(),
                     [](const ToolDevice& device) { return device.reason.starts_with(kTruncated); });
}

JoinedSamples::JoinedSamples(ToolReadings first) : known(std::move(first)) {
  for (std::size_t i = 0; i < known.devices.size(); ++i) places_.add(known.devices[i], i);
}

void JoinedSamples::add(ToolReadings next) {
  std::vector<bool> told(known.devices.size(), false);
  std::vector<ToolDevice> fresh;
  bool repeats = false;
  for (auto& device : next.devices) {
    const auto place = places_.find(known.devices, device);
    if (place == DevicePlaces::npos) {
      fresh.push_back(std::move(device));
      continue;
    }
    repeats = true;
    told[place] = true;
    const auto index = known.devices[place].index;
    known.devices[place] = std::move(device);
    known.devices[place].index = index;
  }
  bool missing = false;
  for (std::size_t i = 0; repeats && i < told.size(); ++i) {
    if (told[i]) continue;
    missing = true;
    auto& device = known.devices[i];
    if (device.reason == kNotInLastSample) continue;
    device.power.reset();
    device.average.reset();
    device.reason = kNotInLastSample;
  }
  const bool had_total = known.total.has_value();
  for (auto& device : fresh) {
    places_.add(device, known.devices.size());
    known.devices.push_back(std::move(device));
  }
  known.total = next.total;
  // Several outputs of one moment: what each of them adds up, all of them do. What is missing at the end may
  // be cut off: then there is no total.
  if (!repeats && had_total && next.total) add_up(known);
  if (!repeats && !had_total) known.total.reset();
  if (missing) known.total.reset();
  known.unknown_devices = 0;
  for (const auto& device : known.devices)
    known.unknown_devices += device.power || device.reason.starts_with(kCountedOnSibling) ? 0 : 1;
}

}  // namespace tidewatt::metering::tools
