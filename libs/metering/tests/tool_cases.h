// What tests of tool parsers share.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <string_view>

#include "tidewatt/metering/tool_parsers.h"

namespace tidewatt::metering {

inline ToolReadings parsed(std::string_view tool, std::string_view text, std::string_view command = "") {
  auto result = parse_tool(tool, command, text);
  EXPECT_TRUE(result) << result.error().to_string() << "\n" << text;
  return result ? *std::move(result) : ToolReadings{};
}

inline std::string refused(std::string_view tool, std::string_view text, std::string_view command = "") {
  const auto result = parse_tool(tool, command, text);
  EXPECT_FALSE(result) << text;
  return result ? std::string{} : result.error().message;
}

inline std::string index_of(const ToolDevice& device) {
  if (const auto* number = std::get_if<std::int64_t>(&device.index)) return std::to_string(*number);
  return std::get<std::string>(device.index);
}

/// "PSU1=110 PSU2=?": one word a device, in order.
inline std::string brief(const ToolReadings& readings) {
  std::string out;
  for (const auto& device : readings.devices) {
    auto value = std::string{"?"};
    if (device.power) {
      value = std::to_string(device.power->value());
      while (value.ends_with('0')) value.pop_back();
      if (value.ends_with('.')) value.pop_back();
    }
    out += (out.empty() ? "" : " ") + index_of(device) + "=" + value;
    EXPECT_EQ(device.power.has_value(), device.reason.empty()) << index_of(device) << ": " << device.reason;
  }
  return out;
}

/// However a text is cut off, no number comes out that the whole text doesn't have.
inline void expect_no_number_from_a_piece(std::string_view tool, const std::string& text) {
  std::set<double> whole;
  for (const auto& device : parsed(tool, text).devices) {
    if (device.power) whole.insert(device.power->value());
    if (device.average) whole.insert(device.average->value());
  }
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto piece = parse_tool(tool, "", text.substr(0, size));
    if (!piece) continue;
    for (const auto& device : piece->devices) {
      EXPECT_TRUE(!device.power || whole.contains(device.power->value())) << text.substr(0, size);
      EXPECT_EQ(device.power.has_value(), device.reason.empty()) << text.substr(0, size);
    }
  }
  // Every byte in turn is made foreign: whatever comes out, nothing breaks.
  for (std::size_t i = 0; i < text.size(); ++i)
    for (const char foreign : {'\0', '\xFF', '\n', '9'}) {
      auto broken = text;
      broken[i] = foreign;
      const auto result = parse_tool(tool, "", broken);
      EXPECT_TRUE(!result || !to_json(*result).empty());
    }
}

}  // namespace tidewatt::metering
