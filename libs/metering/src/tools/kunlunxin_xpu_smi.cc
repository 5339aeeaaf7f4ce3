// Kunlunxin xpu-smi / xpu_smi (Intel's tool has the same name: the text decides, see xpu_smi.cc). Covered:
// the table with three lines a card of XRE 5 (complete), the one-line DEVICES table of XRE 4 with and without
// Power(W) (complete), the power section of -q (no sample). The bare list of -m has no names: an unknown
// layout.
#include "tools/accelerators.h"
#include "tools/smi_like.h"
#include "tools/text.h"
#include "tools/xpu_smi.h"

namespace tidewatt::metering::tools {
namespace {

const SmiForms& forms() {
  static const SmiForms known{.box = {.tool = "kunlunxin-xpu-smi",
                                      .index_labels = {"XPU", "DevID"},
                                      .no_power_reason = "no_power_column_in_this_layout"},
                              .csv = {.tool = "kunlunxin-xpu-smi",
                                      .index_labels = {"index", "devid"},
                                      .query_options = {"--query-xpu="}},
                              .is_device =
                                  [](std::string_view line, std::size_t indent) {
                                    if (indent != 0) return std::optional<DeviceHeading>{};
                                    auto heading = device_heading(line, "XPU");
                                    return heading ? heading : device_heading(line, "GPU");
                                  },
                              .expected = "its table with Pwr:Usage/Cap or its DEVICES table"};
  return known;
}

}  // namespace

bool is_kunlunxin(std::string_view text) {
  return has_box_header(forms().box, text) || contains(text, "XPU-RT Version");
}

Result<ToolReadings> parse_kunlunxin_xpu_smi(std::string_view command, std::string_view text) {
  if (!is_kunlunxin(text) && is_intel(text)) return parse_intel_xpu_smi(command, text);
  return parse_smi_like(forms(), command, text);
}

}  // namespace tidewatt::metering::tools
