// The forms of IPMI tools. Which one a text is, is decided by the text itself.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/metering/tool_parsers.h"

namespace tidewatt::metering::tools {

/// DCMI: "key: value" lines of ipmitool, ipmi-dcmi and ipmiutil. nullopt = no such line.
std::optional<ToolReadings> read_dcmi(std::string_view command, const std::vector<std::string_view>& lines);
/// Sensor lists of ipmitool, ipmi-sensors and ipmiutil: the rows in watts.
struct SensorList {
  ToolReadings readings;
  int rows = 0;  ///< of any unit, of one turn of the tool
};
SensorList read_sensor_list(const std::vector<std::string_view>& lines);
/// Cray's capmc: JSON.
Result<ToolReadings> parse_capmc(std::string_view text);

}  // namespace tidewatt::metering::tools
