// Graphcore gc-info. Covered: `gc-info -i`, one block "Device Info:" per device (C600 with "ipu power: N/A",
// complete; a number with its unit adapted). Virtual IPUs print N/A. gc-monitor's tables are unknown layouts.
#include "tools/accelerators.h"
#include "tools/smi_like.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {

Result<ToolReadings> parse_gc_info(std::string_view, std::string_view text) {
  const IsDevice is_device = [](std::string_view line, std::size_t) {
    return line.starts_with("id:") ? device_heading(line, "id") : std::nullopt;
  };
  if (blocks_of(text, is_device).empty())
    return unknown_form("gc-info", text, "the text of gc-info -i with a line 'id:' per device");
  return parse_sections("gc-info", text, is_device, {});
}

}  // namespace tidewatt::metering::tools
