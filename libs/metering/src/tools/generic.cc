// Text of a tool that nobody taught us. Covered: drawn tables, CSV, blank-separated columns and "key : value"
// lines, as far as names say what is what: a name that says draw, usage, current or average wins over plain
// "power", and a name with cap, limit, max, min, tdp, rated, default or enforced is never the draw. Watts
// need a printed unit, in the name or behind the number. Two equally good values for one device are an
// unknown layout.
#include <fmt/format.h>

#include "tidewatt/units/text.h"
#include "tools/accelerators.h"
#include "tools/column_table.h"
#include "tools/label.h"
#include "tools/smi_like.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::string_view kTool = "generic";
const std::vector<std::string_view>& device_words() {
  static const std::vector<std::string_view> kWords{"GPU", "Device", "DEV",   "Card", "NPU", "XPU",
                                                    "AIP", "DCU",    "HCU",   "GCU",  "MLU", "IPU",
                                                    "ID",  "DevID",  "Index", "Chip"};
  return kWords;
}

std::optional<DeviceHeading> heading(std::string_view line, std::size_t) {
  for (const auto word : device_words())
    if (auto found = device_heading(line, word)) return found;
  return std::nullopt;
}

// Lines without any heading speak of one device; equally good draws that differ can't be told apart.
Result<ToolReadings> parse_one(std::string_view text) {
  std::string headed{"GPU 0\n"};
  headed += text;
  const auto found = blocks_of(headed, heading);
  ToolReadings readings;
  ToolDevice device;
  device.index = std::int64_t{0};
  if (found.empty() || !read_power_fields(found[0], {}, device))
    return unknown_form(kTool, text, "lines or columns that name power");
  int best = 0;
  std::string value;
  std::size_t line = 0;
  for (const auto& field : found[0].fields) {
    const auto rank = judge_label(field.key, true).power ? judge_label(field.key, true).draw_rank : 0;
    const auto unit = judge_label(field.key).unit;
    if (rank == 0 || !parse_watts(field.value, unit).watts) continue;
    if (rank == best && field.value != value)
      return layout_error(kTool, field.line - 1, fmt::format("one draw, but line {} has one as well", line),
                          fmt::format("{}: {}", field.key, field.value));
    if (rank > best) {
      best = rank;
      value = field.value;
      line = field.line - 1;
    }
  }
  readings.devices.push_back(std::move(device));
  add_up(readings);
  return readings;
}

}  // namespace

Result<ToolReadings> parse_generic(std::string_view command, std::string_view text) {
  static const BoxTable kTable{.tool = kTool, .index_labels = device_words()};
  static const CsvTable kCsv{.tool = kTool, .index_labels = device_words()};
  static const ColumnTable kColumns{.tool = kTool, .index_labels = device_words()};
  if (has_box_header(kTable, text)) return parse_box_table(kTable, text);
  if (has_csv_header(kCsv, text)) return parse_csv_table(kCsv, command, text);
  if (!blocks_of(text, heading).empty()) return parse_sections(kTool, text, heading, {});
  if (has_column_header(kColumns, text)) return parse_column_table(kColumns, text);
  return parse_one(text);
}

}  // namespace tidewatt::metering::tools
