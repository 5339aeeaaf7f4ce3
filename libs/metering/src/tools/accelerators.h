// One function per accelerator tool, each in a file of its own that says at its top which forms and versions
// it covers and what they rest on.
#pragma once

#include <string_view>

#include "tidewatt/base/result.h"
#include "tidewatt/metering/tool_parsers.h"

namespace tidewatt::metering::tools {

Result<ToolReadings> parse_amd_smi(std::string_view command, std::string_view text);
Result<ToolReadings> parse_brsmi(std::string_view command, std::string_view text);
Result<ToolReadings> parse_cnmon(std::string_view command, std::string_view text);
Result<ToolReadings> parse_efsmi(std::string_view command, std::string_view text);
Result<ToolReadings> parse_gc_info(std::string_view command, std::string_view text);
Result<ToolReadings> parse_generic(std::string_view command, std::string_view text);
Result<ToolReadings> parse_hl_smi(std::string_view command, std::string_view text);
Result<ToolReadings> parse_hy_smi(std::string_view command, std::string_view text);
Result<ToolReadings> parse_ixsmi(std::string_view command, std::string_view text);
Result<ToolReadings> parse_kunlunxin_xpu_smi(std::string_view command, std::string_view text);
Result<ToolReadings> parse_mthreads_gmi(std::string_view command, std::string_view text);
Result<ToolReadings> parse_mx_smi(std::string_view command, std::string_view text);
Result<ToolReadings> parse_npu_smi(std::string_view command, std::string_view text);
Result<ToolReadings> parse_rocm_smi(std::string_view command, std::string_view text);
Result<ToolReadings> parse_tt_smi(std::string_view command, std::string_view text);
Result<ToolReadings> parse_xpu_smi(std::string_view command, std::string_view text);

}  // namespace tidewatt::metering::tools
