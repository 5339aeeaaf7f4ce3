// Two vendors ship a tool called xpu-smi: which one printed a text is decided by the text.
#pragma once

#include <string_view>

#include "tidewatt/base/result.h"
#include "tidewatt/metering/tool_parsers.h"

namespace tidewatt::metering::tools {

bool is_kunlunxin(std::string_view text);
bool is_intel(std::string_view text);
Result<ToolReadings> parse_intel_xpu_smi(std::string_view command, std::string_view text);

}  // namespace tidewatt::metering::tools
