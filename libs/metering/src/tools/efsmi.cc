// Enflame efsmi. Covered: the default table, "105W  300W" without slash (1.2, complete) and "68W / 300W"
// (1.7, complete); `efsmi -q`, where "Power Capa" (the limit) stands before "Cur Power" (1.4, complete).
#include "tools/accelerators.h"
#include "tools/smi_like.h"

namespace tidewatt::metering::tools {

Result<ToolReadings> parse_efsmi(std::string_view command, std::string_view text) {
  static const SmiForms known{
      .box = {.tool = "efsmi", .index_labels = {"DEV"}},
      .csv = {.tool = "efsmi", .index_labels = {"dev", "index"}},
      .is_device = [](std::string_view line, std::size_t) { return device_heading(line, "DEV ID"); },
      .expected = "its table with Pwr(Usage/Cap) or the text of -q"};
  return parse_smi_like(known, command, text);
}

}  // namespace tidewatt::metering::tools
