// Tables without lines: one row of column names, then one row per device, kept apart by blanks only.
#pragma once

#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/metering/tool_parsers.h"

namespace tidewatt::metering::tools {

struct ColumnTable {
  std::string_view tool;
  std::vector<std::string_view> index_labels;  ///< compared without case
  std::string_view part_label = {};            ///< column of a partition's number; empty = none
};

/// True if a line names a device column and a power column.
bool has_column_header(const ColumnTable& table, std::string_view text);

/// A later row of the same device replaces the earlier one (the tool's watch mode). Watts need their unit.
/// @error invalid_input  no such header, no rows below it
Result<ToolReadings> parse_column_table(const ColumnTable& table, std::string_view text);

}  // namespace tidewatt::metering::tools
