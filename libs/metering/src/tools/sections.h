// Indented "key : value" text in sections, as `-q` and `info` commands print it. The section decides what a
// key means: the same words name the draw under one heading and the limit under another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/metering/tool_parsers.h"

namespace tidewatt::metering::tools {

struct Field {
  std::vector<std::string_view> section;  ///< headings above it, outermost first
  std::string_view key, value;
  std::size_t line = 0;  ///< from 1
  bool complete = true;  ///< false: the text ends within this value
};

struct Block {
  std::int64_t index = 0;
  std::string_view heading;
  std::size_t line = 0;
  std::vector<Field> fields;
  std::vector<std::string_view> headings;                            ///< all sections that begin in it
  bool socket = false;                                               ///< a processor's, no card
  [[nodiscard]] std::string_view value(std::string_view key) const;  ///< first of that key; empty = none
};

struct DeviceHeading {
  std::optional<std::int64_t> number;  ///< nullopt = devices are counted in order
  bool socket = false;                 ///< a processor's socket, no card
};

/// Cuts a text into its devices' blocks. Fields before the first device are dropped.
/// @param is_device  whether a line (without blanks around it) begins a device
using IsDevice = std::optional<DeviceHeading> (*)(std::string_view line, std::size_t indent);
std::vector<Block> blocks_of(std::string_view text, IsDevice is_device);

/// "GPU 0", "GPU: 0", "GPU 0000:41:00.0" after the given word; the bare number where there is one.
std::optional<DeviceHeading> device_heading(std::string_view line, std::string_view word);

/// How a tool prints limits under the draw's own names.
enum class LimitsAsDraws {
  never,
  beside_limits,  ///< a draw's name outside a power section is a limit in a block that speaks of limits
  always,         ///< the command asks for limits: outside a power section nothing is a draw
};

struct PowerRules {
  std::string_view default_unit = "";     ///< where neither key nor value has one; empty = needs one
  std::string_view draw_in_section = {};  ///< only sections with this word count; empty = any
  LimitsAsDraws limits_as_draws = LimitsAsDraws::never;
};

/// What a block says of its device's power: the best-ranked draw, the limit in force, or why there is none.
/// @returns false if no field speaks of power at all
bool read_power_fields(const Block& block, const PowerRules& rules, ToolDevice& device);

/// blocks_of and read_power_fields for every device. A heading that comes again is the same device in a later
/// sample, which replaces the earlier one.
/// @error invalid_input  no device, or none of them has a field that speaks of power
Result<ToolReadings> parse_sections(std::string_view tool, std::string_view text, IsDevice is_device,
                                    const PowerRules& rules);

}  // namespace tidewatt::metering::tools
