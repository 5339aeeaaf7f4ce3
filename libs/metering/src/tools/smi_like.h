// What most vendors' tools have in common: a drawn table, CSV on request, and "key : value" text.
#pragma once

#include <string_view>

#include "tidewatt/base/result.h"
#include "tidewatt/metering/tool_parsers.h"
#include "tools/box_table.h"
#include "tools/csv_table.h"
#include "tools/sections.h"

namespace tidewatt::metering::tools {

/// A tool's own failure message, or a form that isn't known: one line that names the tool.
tl::unexpected<Error> unknown_form(std::string_view tool, std::string_view text, std::string_view expected);

struct SmiForms {
  BoxTable box;
  CsvTable csv;
  IsDevice is_device = nullptr;  ///< nullptr = the tool has no "key : value" form that is known
  PowerRules rules = {};
  std::string_view expected;
};

/// The form is decided by the text: table, CSV, sections, else unknown_form.
Result<ToolReadings> parse_smi_like(const SmiForms& forms, std::string_view command, std::string_view text);

}  // namespace tidewatt::metering::tools
