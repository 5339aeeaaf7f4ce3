// The forms of nvidia-smi. Which one a text is, is decided by the text itself.
#pragma once

#include <string_view>

#include "tidewatt/base/result.h"
#include "tidewatt/metering/tool_parsers.h"

namespace tidewatt::metering::tools {

Result<ToolReadings> parse_nvidia_smi(std::string_view command, std::string_view text);

// One function per form; each in a file of its own.
Result<ToolReadings> parse_nvidia_table(std::string_view text);
Result<ToolReadings> parse_nvidia_query_text(std::string_view text);
Result<ToolReadings> parse_nvidia_query_xml(std::string_view text);
Result<ToolReadings> parse_nvidia_csv(std::string_view command, std::string_view text);
Result<ToolReadings> parse_nvidia_dmon(std::string_view text);
/// The field names of --query-gpu=a,b,c in a command; empty when there are none.
std::vector<std::string_view> nvidia_query_fields(std::string_view command);

}  // namespace tidewatt::metering::tools
