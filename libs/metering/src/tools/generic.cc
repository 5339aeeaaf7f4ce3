// Text of a tool that nobody taught us. Covered: drawn tables, CSV, blank-separated columns and "key : value"
// lines, as far as names say what is what: a name that says draw, usage, current or average wins over plain
// "power", and a name with cap, limit, max, min, tdp, rated, default or enforced is never the draw. A name
// with a word that isn't known gives way to one without, a part's (HBM, core) is none, and a unit alone
// ("Plafond (W)") makes no power. Watts need a printed unit, in the name or behind the number. Two equally
// good values that differ for one device leave it unknown, and a number in several rows that something tells
// apart is an unknown layout.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "tidewatt/units/text.h"
#include "tools/accelerators.h"
#include "tools/column_table.h"
#include "tools/json_text.h"
#include "tools/label.h"
#include "tools/smi_like.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::string_view kGenericName = "generic";
const std::vector<std::string_view>& device_words() {
  static const std::vector<std::string_view> words{"GPU", "Device", "DEV",   "Card", "NPU",     "XPU",
                                                   "AIP", "DCU",    "HCU",   "GCU",  "MLU",     "IPU",
                                                   "ID",  "DevID",  "Index", "Chip", "DeviceId"};
  return words;
}

std::optional<DeviceHeading> generic_heading(std::string_view line, std::size_t) {
  for (const auto word : device_words())
    if (auto found = device_heading(line, word)) return found;
  return std::nullopt;
}

// JSON as blocks: members of a list of objects, or of objects called "card0" and the like, are devices. What
// names the whole ("system0", a member "total") is not added to its parts.
class JsonBlocks {
 public:
  explicit JsonBlocks(const nlohmann::json& root) { find(root, 0); }
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  /// Devices of several kinds: whether one contains the other isn't said.
  [[nodiscard]] bool mixed() const { return mixed_; }

 private:
  static std::optional<std::int64_t> number_behind(std::string_view key) {
    const auto digits = key.find_last_not_of("0123456789");
    if (digits == std::string_view::npos || digits + 1 == key.size()) return std::nullopt;
    return parse_int64(key.substr(digits + 1));
  }

  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  void find(const nlohmann::json& value, int depth) {
    if (depth > kMaxDepth) return;
    if (value.is_array() && !value.empty() && value.front().is_object()) {
      const bool parts = std::any_of(value.begin(), value.end(), is_part);
      for (const auto& object : value)
        if (!parts || is_part(object)) add(object, std::nullopt);
      return;
    }
    if (!value.is_object()) return;
    std::vector<std::string> numbered;
    for (const auto& [key, inner] : value.items())
      if (inner.is_object() && number_behind(key)) numbered.push_back(key);
    const auto part = [](const std::string& key) { return !names_a_whole(key); };
    if (std::any_of(numbered.begin(), numbered.end(), part)) std::erase_if(numbered, std::not_fn(part));
    std::set<std::string> kinds;
    for (const auto& key : numbered) {
      add(value.at(key), number_behind(key));
      blocks_.back().heading = keep(key);
      kinds.insert(lower(key.substr(0, key.find_last_not_of("0123456789") + 1)));
    }
    mixed_ = mixed_ || kinds.size() > 1;
    if (!numbered.empty()) return;
    for (const auto& [key, inner] : value.items())
      if (inner.is_array() && !inner.empty() && inner.front().is_object()) {
        find(inner, depth + 1);
        return;
      }
    add(value, std::nullopt);
  }

  void add(const nlohmann::json& object, std::optional<std::int64_t> number) {
    Block block;
    block.index = number.value_or(static_cast<std::int64_t>(blocks_.size()));
    for (const std::string_view key : {"index", "gpu", "device", "device_id", "id", "card"})
      if (const auto* id = member(object, key); id != nullptr && !number && !id->is_structured())
        if (const auto parsed = parse_int64(printed(*id)); parsed && *parsed >= 0) {
          block.index = *parsed;
          break;
        }
    collect(object, {}, block, 0);
    blocks_.push_back(std::move(block));
  }

  void collect(const nlohmann::json& object, const std::vector<std::string_view>& section, Block& block,
               int depth) {
    if (depth > kMaxDepth || !object.is_object()) return;
    for (const auto& [key, value] : object.items()) {
      const auto name = keep(key);
      if (!value.is_structured() || member(value, "value") != nullptr) {
        block.fields.push_back({section, trim(name), keep(printed(value)), 1, true});
      } else {
        auto inner = section;
        inner.push_back(name);
        collect(value, inner, block, depth + 1);
      }
    }
  }

  // {"name": "total"} in a list is the sum of the others.
  static bool is_part(const nlohmann::json& object) {
    for (const std::string_view key : {"name", "type", "kind", "id", "device", "scope", "level"})
      if (const auto* value = member(object, key);
          value != nullptr && value->is_string() && names_a_whole(value->get_ref<const std::string&>()))
        return false;
    return object.is_object();
  }

  static constexpr int kMaxDepth = 6;
  bool mixed_ = false;
  std::deque<std::string> texts_;
  std::vector<Block> blocks_;
};

Result<ToolReadings> parse_generic_json(std::string_view text) {
  TW_TRY(const nlohmann::json root, json_in(kGenericName, text));
  const JsonBlocks found(root);
  ToolReadings readings;
  bool any = false;
  std::set<std::int64_t> numbers;
  for (const auto& block : found.blocks()) {
    // One document is one moment: a number that comes again is no later sample.
    if (!found.mixed() && !numbers.insert(block.index).second)
      return layout_error(kGenericName, 1, "members that name each device once",
                          fmt::format("number {} twice", block.index));
    ToolDevice device;
    device.index = block.index;
    if (found.mixed()) device.index = std::string{block.heading};  // "gpu0" isn't "tile0"
    any = read_power_fields(block, {}, device) || any;
    readings.devices.push_back(std::move(device));
  }
  if (!any) return layout_error(kGenericName, 1, "members that name power", text.substr(0, 40));
  add_up(readings);
  if (found.mixed()) readings.total.reset();
  return readings;
}

// Lines without any heading speak of one device; equally good draws that differ can't be told apart.
Result<ToolReadings> parse_one(std::string_view text) {
  std::string headed{"GPU 0\n"};
  headed += text;
  const auto found = blocks_of(headed, generic_heading);
  ToolReadings readings;
  ToolDevice device;
  device.index = std::int64_t{0};
  if (found.empty() || !read_power_fields(found[0], {}, device))
    return unknown_form(kGenericName, text, "lines or columns that name power");
  const auto rank_of = [](const Field& field) {
    const auto label = judge_label(field.key, true);
    return label.power && parse_watts(field.value, label.unit).watts ? label.draw_rank : 0;
  };
  int best = 0;
  for (const auto& field : found[0].fields) best = std::max(best, rank_of(field));
  const Field* first = nullptr;
  for (const auto& field : found[0].fields) {
    if (best == 0 || rank_of(field) != best) continue;
    if (first == nullptr) first = &field;
    if (field.value != first->value)
      return layout_error(kGenericName, field.line - 1,
                          fmt::format("one draw, but line {} has one as well", first->line - 1),
                          fmt::format("{}: {}", field.key, field.value));
  }
  readings.devices.push_back(std::move(device));
  add_up(readings);
  return readings;
}

}  // namespace

Result<ToolReadings> parse_generic(std::string_view command, std::string_view text) {
  static const BoxTable table{.tool = kGenericName, .index_labels = device_words()};
  static const CsvTable csv{.tool = kGenericName, .index_labels = device_words()};
  static const ColumnTable columns{.tool = kGenericName, .index_labels = device_words()};
  if (has_json(text)) return read_json_samples(text, parse_generic_json);
  if (has_box_header(table, text)) return parse_box_table(table, text);
  if (has_csv_header(csv, text)) return parse_csv_table(csv, command, text);
  if (!blocks_of(text, generic_heading).empty())
    return parse_sections(kGenericName, text, generic_heading, {});
  if (has_column_header(columns, text)) return parse_column_table(columns, text);
  return parse_one(text);
}

}  // namespace tidewatt::metering::tools
