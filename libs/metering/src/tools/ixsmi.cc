// Iluvatar ixsmi. Covered: the default table (3.0, 4.0, 4.1, 4.3, complete), CSV with gpu.power.draw
// (adapted), the power section of -q (no sample). Cards with two chips (BI-V150) report on one chip only; the
// sibling's "N/A / N/A" is counted there. A container that sees only the sibling has unknown power.
#include <map>

#include "tools/accelerators.h"
#include "tools/smi_like.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::string_view kTwoChips = "V150";

void mark_siblings(ToolReadings& readings) {
  std::map<std::int64_t, const ToolDevice*> by_index;
  for (const auto& device : readings.devices)
    if (const auto* number = std::get_if<std::int64_t>(&device.index)) by_index[*number] = &device;
  for (auto& device : readings.devices) {
    const auto* number = std::get_if<std::int64_t>(&device.index);
    if (number == nullptr || device.power || device.reason != "tool_prints_N/A" ||
        !contains(device.name, kTwoChips))
      continue;
    // Chips 2k and 2k+1 sit on one card.
    const auto sibling = by_index.find(*number ^ 1);
    if (sibling != by_index.end() && sibling->second->power && sibling->second->name == device.name)
      device.reason = std::string{kCountedOnSibling} + "_on_other_chip";
  }
  const bool has_total = readings.total.has_value();  // without it the text is a piece
  add_up(readings);
  if (!has_total) readings.total.reset();
}

}  // namespace

Result<ToolReadings> parse_ixsmi(std::string_view command, std::string_view text) {
  static const SmiForms known{.box = {.tool = "ixsmi", .index_labels = {"GPU"}},
                              .csv = {.tool = "ixsmi",
                                      .index_labels = {"index", "gpu.index"},
                                      .query_options = {"--query-gpu=", "--query-gpu"}},
                              .is_device =
                                  [](std::string_view line, std::size_t indent) {
                                    return indent == 0 ? device_heading(line, "GPU") : std::nullopt;
                                  },
                              .expected = "its table with Pwr:Usage/Cap or CSV with gpu.power.draw"};
  auto readings = parse_smi_like(known, command, text);
  if (readings) mark_siblings(*readings);
  return readings;
}

}  // namespace tidewatt::metering::tools
