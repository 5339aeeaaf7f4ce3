// Tenstorrent tt-smi -s (JSON). Covered: device_info[] with board_info, limits and telemetry objects, numbers
// as strings (complete). "power" in telemetry is the chip's; "board_power" of newer firmware is used where
// the chip's isn't a number (adapted). Limits have the same names in an object of their own.
#include <nlohmann/json.hpp>

#include "tools/accelerators.h"
#include "tools/json_text.h"
#include "tools/smi_like.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::string_view kTtSmiName = "tt-smi";

ToolDevice device_of(const nlohmann::json& object, std::int64_t index, bool& speaks) {
  ToolDevice device;
  device.index = index;
  device.counted = true;
  if (const auto* board = member(object, "board_info")) {
    if (const auto* type = member(*board, "board_type"); type != nullptr && type->is_string())
      device.name = printed(*type);
    if (const auto* bus = member(*board, "bus_id"); bus != nullptr && bus->is_string())
      device.bus_id = printed(*bus);
  }
  if (const auto* limits = member(object, "limits"))
    if (const auto* tdp = member(*limits, "tdp_limit")) set_limit(device, printed(*tdp));
  std::vector<std::string> draws;
  if (const auto* telemetry = member(object, "telemetry"))
    for (const std::string_view name : {"power", "board_power"})
      if (const auto* value = member(*telemetry, name)) draws.push_back(printed(*value));
  speaks = speaks || !draws.empty();
  std::vector<Candidate> candidates;
  for (const auto& draw : draws) candidates.push_back({draw, false, "W"});
  set_power(device, candidates, "no power in telemetry");
  return device;
}

Result<ToolReadings> parse_snapshot(std::string_view text) {
  TW_TRY(const nlohmann::json root, json_in(kTtSmiName, text));
  const auto* devices = member(root, "device_info");
  if (devices == nullptr || !devices->is_array() || devices->empty())
    return layout_error(kTtSmiName, 1, "a list device_info with a member per device", text.substr(0, 40));
  ToolReadings readings;
  bool speaks = false;
  for (const auto& object : *devices)
    readings.devices.push_back(device_of(object, static_cast<std::int64_t>(readings.devices.size()), speaks));
  if (!speaks) return layout_error(kTtSmiName, 1, "telemetry with power in device_info", text.substr(0, 40));
  add_up(readings);
  return readings;
}

}  // namespace

Result<ToolReadings> parse_tt_smi(std::string_view, std::string_view text) {
  if (!has_json(text)) return unknown_form(kTtSmiName, text, "the JSON of tt-smi -s");
  return read_json_samples(text, parse_snapshot);
}

}  // namespace tidewatt::metering::tools
