// Tables drawn with '|' and rules, as most vendors' default output is: a header of one to three lines, then a
// block of as many lines per device. Which line and cell holds what is read off the header's words, so that
// neither column order nor widths matter.
#pragma once

#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/metering/tool_parsers.h"

namespace tidewatt::metering::tools {

struct BoxTable {
  std::string_view tool;
  /// Header words over the device's number, e.g. "GPU", "DEV"; compared without case.
  std::vector<std::string_view> index_labels;
  /// Header word over a part's number (die, virtual function); empty = the tool has none.
  std::string_view part_label = {};
  /// "129/750 W": one unit stands for both sides of the pair.
  bool unit_shared = false;
  /// Reason for devices of a table without a power column; empty = such a table is an unknown layout.
  std::string_view no_power_reason = {};
};

/// True if some header line of a table names a device column; what tells tables from other forms.
bool has_box_header(const BoxTable& table, std::string_view text);

/// The last whole one of several tables counts (see samples.h).
/// @error invalid_input  no header with a device and a power column, no rule between it and the rows, no
/// rows, a row without the device's number, no rule that closes the table. A row that is garbled or ambiguous
/// is a device without power, with the reason.
Result<ToolReadings> parse_box_table(const BoxTable& table, std::string_view text);

/// Words of a cell, with what belongs together joined: "36 W", "12 / 40", "106 W/ 250 W", "Unknown Error".
std::vector<std::string_view> values_of(std::string_view cell);

/// The two sides of a printed "usage / cap"; "N/A" holds no such slash. Empty = no or several slashes.
std::vector<std::string_view> pair_of(std::string_view value);

}  // namespace tidewatt::metering::tools
