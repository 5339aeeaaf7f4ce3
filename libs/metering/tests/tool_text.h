// Shared by the tests of the tools' parsers.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tidewatt/metering/tool_parsers.h"

namespace tidewatt::metering {

/// Readings of a text that must parse.
inline ToolReadings read(std::string_view tool, std::string_view text, std::string_view command = {}) {
  auto parsed = parse_tool(tool, command.empty() ? tool : command, text);
  EXPECT_TRUE(parsed) << parsed.error().to_string() << "\n" << text;
  return parsed ? *std::move(parsed) : ToolReadings{};
}

/// The error of a text that must not parse.
inline Error refusal(std::string_view tool, std::string_view text, std::string_view command = {}) {
  const auto parsed = parse_tool(tool, command.empty() ? tool : command, text);
  EXPECT_FALSE(parsed) << text;
  return parsed ? Error{} : parsed.error();
}

/// Watts of the n-th device; -1 = unknown or no such device.
inline double watts(const ToolReadings& readings, std::size_t n = 0) {
  if (n >= readings.devices.size() || !readings.devices[n].power) return -1;
  return readings.devices[n].power->value();
}
inline double limit(const ToolReadings& readings, std::size_t n = 0) {
  if (n >= readings.devices.size() || !readings.devices[n].power_limit) return -1;
  return readings.devices[n].power_limit->value();
}
inline std::string reason(const ToolReadings& readings, std::size_t n = 0) {
  return n < readings.devices.size() ? readings.devices[n].reason : "no such device";
}
inline std::int64_t index(const ToolReadings& readings, std::size_t n = 0) {
  if (n >= readings.devices.size()) return -1;
  const auto* number = std::get_if<std::int64_t>(&readings.devices[n].index);
  return number == nullptr ? -1 : *number;
}
inline std::int64_t part(const ToolReadings& readings, std::size_t n = 0) {
  if (n >= readings.devices.size() || !readings.devices[n].sub_index) return -1;
  const auto* number = std::get_if<std::int64_t>(&*readings.devices[n].sub_index);
  return number == nullptr ? -1 : *number;
}

inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace tidewatt::metering
