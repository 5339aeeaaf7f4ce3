// Comma-separated rows under a line of names, or under the names that the command asked for.
#pragma once

#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/metering/tool_parsers.h"

namespace tidewatt::metering::tools {

struct CsvTable {
  std::string_view tool;
  std::vector<std::string_view> index_labels;  ///< compared without case and blanks
  std::string_view part_label = {};            ///< column of a part's number (tile, partition); empty = none
  /// Options that list the columns in the command, e.g. "--query-gpu="; for output without names.
  std::vector<std::string_view> query_options = {};
  /// A draw column of this name is the limit when columns of limits stand beside it.
  std::string_view limit_among_limits = {};
  /// A column "Max ..." is the limit in force.
  bool maximum_is_limit = false;
};

/// True if the first line with text names a power column.
bool has_csv_header(const CsvTable& table, std::string_view text);

/// A later row of the same device replaces the earlier one (the tool's loop mode). A device's own row wins
/// over the rows of its parts: they are in it.
/// @error invalid_input  no names, no rows
Result<ToolReadings> parse_csv_table(const CsvTable& table, std::string_view command, std::string_view text);

}  // namespace tidewatt::metering::tools
