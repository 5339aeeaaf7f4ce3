// MetaX mx-smi. Covered: the default table with a column Power (2.1.6, complete) and with Pwr:Usage/Cap
// (2.1.12 and later, 2.2.4 and 2.2.8 complete). --show-board-power and -j are unknown layouts: no sample.
#include "tools/accelerators.h"
#include "tools/smi_like.h"

namespace tidewatt::metering::tools {

Result<ToolReadings> parse_mx_smi(std::string_view command, std::string_view text) {
  static const SmiForms known{.box = {.tool = "mx-smi", .index_labels = {"GPU"}},
                              .csv = {.tool = "mx-smi", .index_labels = {"gpu", "index"}},
                              .expected = "its table with Power or Pwr:Usage/Cap"};
  return parse_smi_like(known, command, text);
}

}  // namespace tidewatt::metering::tools
