// hwmon in microwatts: power1_input is instantaneous, power1_average averaged, cap, max, crit and rated are
// limits.
#include <fmt/format.h>

#include <array>
#include <map>

#include "tidewatt/metering/plausibility.h"
#include "tidewatt/units/text.h"
#include "tools/node_tools.h"
#include "tools/sysfs_listing.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::string_view kHwmonTreeName = "hwmon";
constexpr std::string_view kUnit = "uW";

// "power12_input" -> {12, "input"}.
std::optional<std::pair<std::uint64_t, std::string_view>> channel_of(std::string_view file) {
  constexpr std::string_view kPower = "power";
  if (!file.starts_with(kPower)) return std::nullopt;
  file.remove_prefix(kPower.size());
  const auto underscore = file.find('_');
  if (underscore == std::string_view::npos) return std::nullopt;
  const auto number = parse_uint64(file.substr(0, underscore));
  if (!number) return std::nullopt;
  return std::pair{*number, file.substr(underscore + 1)};
}

ToolDevice device_of(std::string_view chip, std::uint64_t channel, const FilesOf& files,
                     std::string_view chip_name) {
  const auto file = [&](std::string_view what) { return fmt::format("power{}_{}", channel, what); };
  ToolDevice device;
  device.index = fmt::format("{}/power{}", chip, channel);
  const auto label = value_of(files, file("label")).value_or("");
  device.name = std::string{chip_name};
  if (!label.empty()) device.name += (device.name.empty() ? "" : " ") + std::string{label};
  for (const std::string_view limit : {"cap", "max", "crit", "rated_max"})
    if (const auto text = value_of(files, file(limit)); text && !device.power_limit)
      set_limit(device, *text, kUnit);

  std::vector<Candidate> candidates;
  std::string why_not;
  for (const std::string_view what : {"input", "average"}) {
    const auto found = files.find(file(what));
    if (found == files.end()) continue;
    const auto value = found->second->value;
    const auto raw = parse_uint64(value);
    // All ones mean something only in the driver's own unit.
    if (found->second->unreadable || (raw && is_blank(*raw)))
      why_not = why_not.empty() ? fmt::format("{}{}", found->second->unreadable ? "" : "sentinel: ", value)
                                : why_not;
    else
      candidates.push_back({value, what == "average", kUnit});
  }
  set_power(device, candidates, why_not.empty() ? "no power_input and no power_average" : why_not);
  if (const auto average = value_of(files, file("average"))) {
    ToolDevice judged;
    set_power(judged, {{*average, true, kUnit}}, "");
    device.average = judged.power;
  }
  return device;
}

}  // namespace

Result<ToolReadings> parse_hwmon_tree(std::string_view, std::string_view text) {
  const auto listing = parse_listing(text);
  std::vector<std::string_view> order;
  std::map<std::string_view, FilesOf> chips;
  for (const auto& file : listing.files) {
    const auto [chip, is_new] = chips.try_emplace(file.folder);
    if (is_new) order.push_back(file.folder);
    note_file(chip->second, file);
  }
  ToolReadings readings;
  for (const auto chip : order) {
    const auto& files = chips.at(chip);
    std::map<std::uint64_t, bool> channels;  // in order
    for (const auto& [file, entry] : files)
      if (const auto channel = channel_of(file))
        channels[channel->first] |=
            channel->second == "input" || channel->second == "average" || channel->second == "cap";
    for (const auto& [channel, is_meter] : channels)
      if (is_meter)
        readings.devices.push_back(device_of(chip, channel, files, value_of(files, "name").value_or("")));
  }
  if (readings.devices.empty())
    return layout_error(kHwmonTreeName, listing.first_other_line,
                        "files such as /sys/class/hwmon/hwmon0/power1_input: 45000000", listing.first_other);
  for (const auto& device : readings.devices) readings.unknown_devices += device.power ? 0 : 1;
  return readings;  // no total: channels of one chip contain each other
}

}  // namespace tidewatt::metering::tools
