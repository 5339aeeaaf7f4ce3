// Habana hl-smi. Covered: the default table of Gaudi 1 and 2 (1.4, 1.14, complete); CSV of -Q with
// power.draw, with and without names (adapted from the documented fields); the "Power" section of -q (no
// sample).
#include "tools/accelerators.h"
#include "tools/smi_like.h"

namespace tidewatt::metering::tools {

Result<ToolReadings> parse_hl_smi(std::string_view command, std::string_view text) {
  static const SmiForms known{.box = {.tool = "hl-smi", .index_labels = {"AIP"}},
                              .csv = {.tool = "hl-smi",
                                      .index_labels = {"index"},
                                      .query_options = {"-Q", "--query-aip", "--query-aip="}},
                              .is_device =
                                  [](std::string_view line, std::size_t indent) {
                                    if (indent != 0) return std::optional<DeviceHeading>{};
                                    for (const std::string_view word : {"[", "AIP", "GPU"})
                                      if (auto heading = device_heading(line, word)) return heading;
                                    return std::optional<DeviceHeading>{};
                                  },
                              .expected = "its table with Pwr:Usage/Cap or CSV with power.draw"};
  return parse_smi_like(known, command, text);
}

}  // namespace tidewatt::metering::tools
