// Cambricon cnmon. Covered: the default table, "106 W/ 250 W" under Pwr:Usage/Cap (5.10 complete, 4.20 with
// other header words without sample); rows of virtual functions. `cnmon info` and its XML are unknown
// layouts: no sample. Boards with two dies print two rows; whether they share a sensor isn't documented, the
// rows are added.
#include "tools/accelerators.h"
#include "tools/smi_like.h"

namespace tidewatt::metering::tools {

Result<ToolReadings> parse_cnmon(std::string_view command, std::string_view text) {
  static const SmiForms known{.box = {.tool = "cnmon", .index_labels = {"Card"}, .part_label = "VF"},
                              .csv = {.tool = "cnmon", .index_labels = {"card", "index"}},
                              .expected = "its table with Pwr:Usage/Cap"};
  return parse_smi_like(known, command, text);
}

}  // namespace tidewatt::metering::tools
