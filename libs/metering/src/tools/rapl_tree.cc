// powercap zones. Their energy is a counter: one look at it is no power, whatever else the files say.
#include <fmt/format.h>

#include <map>

#include "tidewatt/units/text.h"
#include "tools/node_tools.h"
#include "tools/sysfs_listing.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::string_view kRaplTreeName = "rapl";
// A constraint of 4 kW and more is the firmware's way to say "no limit".
constexpr double kUnlimitedWatts = 4000;
constexpr std::string_view kMirror = "-mmio";

// "intel-rapl:0:1", "intel-rapl:a", "intel-rapl-mmio:0", "amd-rapl:0"; "intel-rapl" alone is the control
// type.
bool is_zone(std::string_view folder) {
  const auto colon = folder.find(':');
  return colon != std::string_view::npos && contains(folder.substr(0, colon), "rapl");
}

std::string reason_of(const FilesOf& files) {
  const auto counter = files.find("energy_uj");
  if (counter == files.end()) return "energy_uj isn't listed";
  if (counter->second->unreadable) return std::string{counter->second->value};
  const auto raw = parse_uint64(counter->second->value);
  if (!raw)
    return counter->second->value.empty()
               ? "tool_prints_nothing"
               : fmt::format("tool_prints_{}", counter->second->value.substr(0, 40));
  const auto range = value_of(files, "max_energy_range_uj");
  const auto most = range ? parse_uint64(*range) : std::nullopt;
  if (most && *raw > *most) return fmt::format("counter_out_of_range: {} uJ above {}", *raw, *most);
  return "cumulative_energy_counter_needs_two_reads";
}

ToolDevice device_of(std::string_view zone, const std::map<std::string_view, FilesOf>& zones) {
  const auto& files = zones.at(zone);
  ToolDevice device;
  device.index = std::string{zone};
  device.name = std::string{value_of(files, "name").value_or("")};
  const auto parent = zones.find(zone.substr(0, zone.rfind(':')));
  if (parent != zones.end() && (device.name == "core" || device.name == "uncore"))
    device.name += fmt::format(" (subset of {})", value_of(parent->second, "name").value_or(parent->first));
  if (contains(zone, kMirror)) device.name += " (mirror of the zone without -mmio)";
  for (const std::string_view file : {"constraint_0_power_limit_uw", "constraint_0_max_power_uw"}) {
    const auto text = value_of(files, file);
    if (!text || device.power_limit) continue;
    set_limit(device, *text, "uW");
    if (device.power_limit && device.power_limit->value() >= kUnlimitedWatts) device.power_limit.reset();
  }
  device.reason = reason_of(files);
  return device;
}

}  // namespace

Result<ToolReadings> parse_rapl_tree(std::string_view, std::string_view text) {
  const auto listing = parse_listing(text);
  std::vector<std::string_view> order;
  std::map<std::string_view, FilesOf> zones;
  for (const auto& file : listing.files) {
    if (!is_zone(file.folder)) continue;
    const auto [zone, is_new] = zones.try_emplace(file.folder);
    if (is_new) order.push_back(file.folder);
    note_file(zone->second, file);
  }
  ToolReadings readings;
  for (const auto zone : order) {
    const auto& files = zones.at(zone);
    // Only a power/ or device/ folder of the zone was listed.
    if (!files.contains("energy_uj") && !files.contains("name")) continue;
    readings.devices.push_back(device_of(zone, zones));
  }
  if (readings.devices.empty())
    return layout_error(kRaplTreeName, listing.first_other_line,
                        "files such as /sys/class/powercap/intel-rapl:0/energy_uj: 123456",
                        listing.files.empty() ? listing.first_other : listing.files[0].folder);
  readings.unknown_devices = static_cast<int>(readings.devices.size());
  return readings;
}

}  // namespace tidewatt::metering::tools
