// Biren brsmi. Covered: the default table of 1.11 (complete; no Fan column, temperature without unit). CSV of
// `gpu --query-gpu=...` and "Power Readings" text of `gpu query`: same names as the tool it follows (no
// sample). `gpu dmon` is an unknown layout.
#include "tools/accelerators.h"
#include "tools/smi_like.h"

namespace tidewatt::metering::tools {

Result<ToolReadings> parse_brsmi(std::string_view command, std::string_view text) {
  static const SmiForms known{
      .box = {.tool = "brsmi", .index_labels = {"GPU"}},
      .csv = {.tool = "brsmi", .index_labels = {"index"}, .query_options = {"--query-gpu=", "--query-gpu"}},
      .is_device =
          [](std::string_view line, std::size_t indent) {
            return indent == 0 ? device_heading(line, "GPU") : std::nullopt;
          },
      .expected = "its table with Pwr:Usage/Cap or a query with power"};
  return parse_smi_like(known, command, text);
}

}  // namespace tidewatt::metering::tools
