// Apple's powermetrics: "CPU Power: 947 mW" and so on; a plist has the same names as keys, in milliwatts.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tidewatt/metering/plausibility.h"
#include "tidewatt/units/text.h"
#include "tools/node_tools.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::string_view kPowermetricsName = "powermetrics";
constexpr std::array<std::string_view, 6> kRails{"package", "combined", "cpu", "gpu", "ane", "dram"};

bool is_whole(std::string_view rail) { return rail == "package" || rail == "combined"; }

void add(ToolReadings& readings, std::string_view rail, std::string_view printed, std::string_view unit) {
  for (const auto& known : readings.devices)  // the gpu sampler prints the GPU's line once more
    if (std::get<std::string>(known.index) == rail) return;
  ToolDevice device;
  device.index = std::string{rail};
  const auto power = parse_watts(printed, unit);
  if (power.watts && power.watts->value() == 0 && !is_whole(rail))
    device.power = power.watts;  // a gated part, such as the neural engine
  else
    set_power(device, {{printed, false, unit}}, "tool_prints_nothing");
  readings.devices.push_back(std::move(device));
}

// "Package Power" -> "package"; "E-Cluster Power" is a part of the CPU's and no rail of its own.
std::optional<std::string_view> rail_of(std::string_view key) {
  const auto name = lower(trim(key));
  if (name.starts_with("intel energy model derived package power")) return kRails[0];
  for (const auto rail : kRails) {
    if (!name.starts_with(rail)) continue;
    const auto rest = std::string_view{name}.substr(rail.size());
    if (rest == " power" || rest.starts_with(" power (")) return rail;
  }
  return std::nullopt;
}

// "<key>cpu_power</key><real>947.1</real>", in milliwatts.
void read_plist(ToolReadings& readings, std::string_view text) {
  for (const auto rail : kRails) {
    const auto key = fmt::format("<key>{}_power</key>", rail);
    const auto at = text.rfind(key);  // the last sample
    if (at == std::string_view::npos) continue;
    auto rest = trim(text.substr(at + key.size()));
    const auto open = rest.find('>');
    const auto close = rest.find('<', 1);
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) continue;
    add(readings, rail, rest.substr(open + 1, close - open - 1), "mW");
  }
}

}  // namespace

Result<ToolReadings> parse_powermetrics(std::string_view, std::string_view text) {
  ToolReadings readings;
  const auto lines = lines_of(text);
  if (contains(text, "<plist")) {
    // The last document may have been cut off.
    constexpr std::string_view kEnd = "</plist>";
    const auto end = text.rfind(kEnd);
    if (end == std::string_view::npos)
      return truncation_error(kPowermetricsName, text, "the end of the plist, </plist>");
    read_plist(readings, text.substr(0, end));
  } else {
    ToolReadings sample;
    for (const auto& line : lines) {
      if (contains(line, "Sampled system activity")) {
        // A last sample that was cut off has fewer lines: the one before it stands.
        if (sample.devices.size() >= readings.devices.size() && !sample.devices.empty())
          readings = std::move(sample);
        sample = {};
      }
      const auto colon = line.rfind(": ");
      if (colon == std::string_view::npos) continue;
      const bool open = &line == &lines.back() && is_open(text);
      if (const auto rail = rail_of(line.substr(0, colon));
          rail && !(open && may_be_cut(line.substr(colon + 2))))
        add(sample, *rail, line.substr(colon + 2), "");
    }
    if (!sample.devices.empty() && sample.devices.size() >= readings.devices.size())
      readings = std::move(sample);
  }
  if (readings.devices.empty()) {
    if (contains(text, "superuser"))
      return fail(ErrorCode::invalid_input, "powermetrics failed: it must be run as root",
                  "run it with sudo; until then this machine's power is unknown");
    const auto first =
        std::find_if(lines.begin(), lines.end(), [](std::string_view line) { return !trim(line).empty(); });
    return layout_error(kPowermetricsName, static_cast<std::size_t>(first - lines.begin()) + 1,
                        "lines such as 'CPU Power: 947 mW' (sampler cpu_power)",
                        first == lines.end() ? "" : *first);
  }
  for (const auto& device : readings.devices) {
    readings.unknown_devices += device.power ? 0 : 1;
    if (is_whole(std::get<std::string>(device.index)) && !readings.total) readings.total = device.power;
  }
  return readings;
}

}  // namespace tidewatt::metering::tools
