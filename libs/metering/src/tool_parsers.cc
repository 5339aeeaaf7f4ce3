#include "tidewatt/metering/tool_parsers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <nlohmann/json.hpp>

#include "tools/node_tools.h"
#include "tools/nvidia_smi.h"

namespace tidewatt::metering {
namespace {

struct Tool {
  std::string_view name;
  Result<ToolReadings> (*parse)(std::string_view command, std::string_view text);
};

// Sorted by name. One line per tool.
constexpr std::array kTools{
    Tool{"hwmon", tools::parse_hwmon_tree},
    Tool{"ipmi", tools::parse_ipmi},
    Tool{"nvidia-smi", tools::parse_nvidia_smi},
    Tool{"pdu", tools::parse_pdu},
    Tool{"powermetrics", tools::parse_powermetrics},
    Tool{"rapl", tools::parse_rapl_tree},
    Tool{"redfish", tools::parse_redfish},
    Tool{"sensors", tools::parse_sensors},
    Tool{"tegrastats", tools::parse_tegrastats},
};

nlohmann::ordered_json json_of(const ToolIndex& index) {
  if (const auto* number = std::get_if<std::int64_t>(&index)) return *number;
  return std::get<std::string>(index);
}

nlohmann::ordered_json json_of(const std::optional<Watts>& power) {
  if (!power) return nullptr;
  return power->value();
}

}  // namespace

std::vector<std::string_view> known_tools() {
  std::vector<std::string_view> names;
  for (const auto& tool : kTools) names.push_back(tool.name);
  return names;
}

Result<ToolReadings> parse_tool(std::string_view tool, std::string_view command, std::string_view text) {
  for (const auto& known : kTools)
    if (known.name == tool) return known.parse(command, text);
  return fail(ErrorCode::invalid_input, fmt::format("no parser for the tool '{}'", tool),
              fmt::format("known tools: {}", fmt::join(known_tools(), ", ")));
}

std::string to_json(const ToolReadings& readings) {
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  for (const auto& device : readings.devices) {
    nlohmann::ordered_json out;
    out["index"] = json_of(device.index);
    if (device.sub_index) out["sub_index"] = json_of(*device.sub_index);
    if (!device.name.empty()) out["name"] = device.name;
    if (!device.uuid.empty()) out["uuid"] = device.uuid;
    out["power_watts"] = json_of(device.power);
    if (device.averaged) out["averaged"] = true;
    if (device.average) out["average_watts"] = json_of(device.average);
    out["power_limit_watts"] = json_of(device.power_limit);
    out["reason"] = device.reason.empty() ? nlohmann::ordered_json{} : nlohmann::ordered_json(device.reason);
    devices.push_back(std::move(out));
  }
  nlohmann::ordered_json out;
  out["devices"] = std::move(devices);
  out["total_power_watts"] = json_of(readings.total);
  if (readings.unknown_devices > 0) out["unknown_devices"] = readings.unknown_devices;
  // Names come from foreign text: bytes that are no UTF-8 are replaced, not thrown over.
  return out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace tidewatt::metering
