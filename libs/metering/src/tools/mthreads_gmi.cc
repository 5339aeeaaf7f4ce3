// Moore Threads mthreads-gmi. Covered: the default table, which has no power (1.14, 2.4, complete); the
// section "Power Readings" of -q and the same names in JSON (adapted: described by third parties, no sample).
#include <nlohmann/json.hpp>

#include "tidewatt/units/text.h"
#include "tools/accelerators.h"
#include "tools/json_text.h"
#include "tools/label.h"
#include "tools/smi_like.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::string_view kMthreadsGmiName = "mthreads-gmi";
constexpr int kMaxDepth = 4;

// The table has '|' between its cells only; closed rows make it a table like the others.
std::string closed(std::string_view text) {
  std::string out;
  for (const auto line : lines_of(text)) {
    const bool row = contains(line, "|") && !trim(line).starts_with('|');
    out += row ? "|" + std::string{line} + "|" : std::string{line};
    out += '\n';
  }
  if (!text.ends_with('\n') && !out.empty()) out.pop_back();
  return out;
}

ToolDevice device_of(const nlohmann::json& card, const nlohmann::json& power, std::int64_t order) {
  ToolDevice device;
  device.index = order;
  for (const std::string_view name : {"index", "gpu index", "id"})
    if (const auto* value = member(card, name))
      if (const auto number = parse_int64(printed(*value)); number && *number >= 0) device.index = *number;
  if (const auto* name = member(card, "Product Name"); name != nullptr) device.name = printed(*name);
  Block block;
  std::vector<std::string> keys;
  std::vector<std::string> values;
  if (power.is_object())
    for (const auto& [key, value] : power.items()) {
      keys.push_back(key);
      values.push_back(printed(value));
    }
  for (std::size_t i = 0; i < keys.size(); ++i)
    block.fields.push_back({{"Power Readings"}, trim(keys[i]), values[i], 1, true});
  read_power_fields(block, {}, device);
  return device;
}

void collect(const nlohmann::json& value, int depth, ToolReadings& readings) {
  if (depth > kMaxDepth || !value.is_structured()) return;
  if (const auto* power = member(value, "Power Readings")) {
    readings.devices.push_back(device_of(value, *power, static_cast<std::int64_t>(readings.devices.size())));
    return;
  }
  for (const auto& inner : value) collect(inner, depth + 1, readings);
}

Result<ToolReadings> parse_mthreads_gmi_json(std::string_view text) {
  TW_TRY(const nlohmann::json root, json_in(kMthreadsGmiName, text));
  ToolReadings readings;
  collect(root, 0, readings);
  if (readings.devices.empty())
    return layout_error(kMthreadsGmiName, 1, "objects with Power Readings", text.substr(0, 40));
  add_up(readings);
  return readings;
}

}  // namespace

Result<ToolReadings> parse_mthreads_gmi(std::string_view command, std::string_view text) {
  static const SmiForms known{.box = {.tool = kMthreadsGmiName,
                                      .index_labels = {"ID"},
                                      .no_power_reason = "default_table_has_no_power_column"},
                              .csv = {.tool = kMthreadsGmiName, .index_labels = {"index"}},
                              .is_device =
                                  [](std::string_view line, std::size_t indent) {
                                    return indent == 0 ? device_heading(line, "GPU") : std::nullopt;
                                  },
                              .expected = "its table, the text of -q or JSON with Power Readings"};
  if (has_json(text)) return read_json_samples(text, parse_mthreads_gmi_json);
  const auto table = closed(text);
  if (has_box_header(known.box, table)) return parse_box_table(known.box, table);
  return parse_smi_like(known, command, text);
}

}  // namespace tidewatt::metering::tools
