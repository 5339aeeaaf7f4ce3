// What measures a CPU or a whole node: BMCs, PDUs, sysfs trees and boards. One file per tool.
#pragma once

#include <string_view>

#include "tidewatt/base/result.h"
#include "tidewatt/metering/tool_parsers.h"

namespace tidewatt::metering::tools {

/// ipmitool (dcmi, sdr, sensor), FreeIPMI (ipmi-dcmi, ipmi-sensors), ipmiutil, Cray's capmc.
Result<ToolReadings> parse_ipmi(std::string_view command, std::string_view text);
/// A Redfish document: Power, EnvironmentMetrics, PowerSupplyMetrics, Sensor, or a collection of sensors.
Result<ToolReadings> parse_redfish(std::string_view command, std::string_view text);
/// snmpget and snmpwalk of a power distribution unit.
Result<ToolReadings> parse_pdu(std::string_view command, std::string_view text);
/// lm-sensors: plain, -u and -j.
Result<ToolReadings> parse_sensors(std::string_view command, std::string_view text);
/// Files below /sys/class/hwmon as "path: value".
Result<ToolReadings> parse_hwmon_tree(std::string_view command, std::string_view text);
/// Files below /sys/class/powercap as "path: value". Counters: no power, but names, limits and why.
Result<ToolReadings> parse_rapl_tree(std::string_view command, std::string_view text);
/// Jetson boards.
Result<ToolReadings> parse_tegrastats(std::string_view command, std::string_view text);
/// Apple's powermetrics, text and plist.
Result<ToolReadings> parse_powermetrics(std::string_view command, std::string_view text);

}  // namespace tidewatt::metering::tools
