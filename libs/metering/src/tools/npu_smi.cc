// Huawei npu-smi. Covered: `npu-smi info` of 22.0 to 26.0 with one or several chips a card (complete
// for 22.0.3, 23.0, 24.1; 25.x and 26.0 print the same table in other widths), `info -t power` and `-t
// common` (complete), the same without NPU ID and Chip ID as the 950 prints it (adapted). On A3 the first die
// carries the card's value and the others print "-". "NA" is unknown, and so is 0.0. "Rated Power
// Dissipation(W)" is no draw, nor is what the Ascend 310 prints under Power(W).
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tidewatt/units/text.h"
#include "tools/accelerators.h"
#include "tools/json_text.h"
#include "tools/label.h"
#include "tools/smi_like.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::string_view kNpuSmiName = "npu-smi";
constexpr std::string_view kSilentChip = "tool_prints_no_power_for_this_chip";

std::int64_t number_of(const ToolIndex& index) {
  const auto* number = std::get_if<std::int64_t>(&index);
  return number == nullptr ? -1 : *number;
}

void mark_dies(ToolReadings& readings) {
  std::map<std::int64_t, bool> first_die_known;
  for (const auto& device : readings.devices)
    if (device.sub_index && number_of(*device.sub_index) == 0 && device.power)
      first_die_known[number_of(device.index)] = true;
  for (auto& device : readings.devices)
    if (!device.power && device.reason == "tool_prints_-" && device.sub_index &&
        number_of(*device.sub_index) > 0 && first_die_known.contains(number_of(device.index)))
      device.reason = std::string{kCountedOnSibling} + "_on_die_0";
  const bool has_total = readings.total.has_value();  // without it the text is a piece
  add_up(readings);
  if (!has_total) readings.total.reset();
}

// The Ascend 310 has no sensor: what stands under Power(W) is its rated dissipation, the same at any load.
// The 310P and 310B measure.
void drop_rated(ToolReadings& readings) {
  for (auto& device : readings.devices) {
    const auto words = label_words(device.name);
    if (words.empty() || words.size() > 2 || (words.back() != "310" && words.back() != "ascend310") ||
        (words.size() == 2 && words[0] != "ascend") || !device.power)
      continue;
    device.reason = fmt::format("rated_power_not_a_draw: {} W", format_double(device.power->value()));
    device.power.reset();
  }
}

// `-i 3` of the command: the only place that names the card where the text doesn't.
std::int64_t card_asked_for(std::string_view command) {
  const auto words = words_of(command);
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "-i")
      if (const auto number = parse_int64(words[i + 1]); number && *number >= 0) return *number;
  return 0;
}

struct Chip {
  std::optional<std::int64_t> id;
  bool board = false;  ///< the management controller's block: what it reads is the board
  Block fields;
};

struct Card {
  std::int64_t id = 0;
  std::optional<std::int64_t> count;  ///< "Chip Count"
  bool ids_first = false;  ///< "Chip ID" before its values (-t common), else behind them (-t power)
  std::vector<Chip> chips;
};

std::vector<Card> cards_of(std::string_view command, std::string_view text) {
  std::vector<Card> cards;
  const auto lines = lines_of(text);
  Chip open;
  bool has_field = false;
  const auto close = [&] {
    if (has_field || open.id || open.board) cards.back().chips.push_back(std::move(open));
    open = {};
    has_field = false;
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto line = trim(lines[i]);
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto key = trim(line.substr(0, colon));
    const auto value = trim(line.substr(colon + 1));
    if (lower(key) == "npu id") {
      if (!cards.empty()) close();
      cards.push_back({parse_int64(value).value_or(-1), {}, false, {}});
      continue;
    }
    const bool is_id = lower(key) == "chip id";
    const bool is_name = lower(key) == "chip name";
    const bool is_count = lower(key) == "chip count";
    // "(W)" is in every name of a power here. What else stands between (other values, messages, a prompt)
    // says nothing of a chip.
    const auto label = judge_label(key);
    if (!is_id && !is_name && !is_count && (!label.power || label.unit.empty())) continue;
    if (cards.empty()) cards.push_back({card_asked_for(command), {}, false, {}});
    if (is_id || is_name) {
      auto& card = cards.back();
      if (card.chips.empty() && !has_field) card.ids_first = true;
      if (card.ids_first) close();
      if (is_id)
        open.id = parse_int64(value);
      else
        open.board = lower(value) == "mcu";
      if (!card.ids_first) close();
      continue;
    }
    if (is_count) {
      cards.back().count = parse_int64(value);
      continue;
    }
    has_field = true;
    open.fields.fields.push_back({{}, key, value, i + 1, i + 1 < lines.size() || text.ends_with('\n')});
  }
  if (!cards.empty()) close();
  return cards;
}

Result<ToolReadings> parse_fields(std::string_view command, std::string_view text) {
  ToolReadings readings;
  bool any = false;
  bool board_beside_chips = false;
  const auto cards = cards_of(command, text);
  for (const auto& card : cards) {
    if (card.id < 0)
      return layout_error(kNpuSmiName, 1, "a number behind NPU ID", text.substr(0, text.find('\n')));
    const auto chips = std::count_if(card.chips.begin(), card.chips.end(),
                                     [](const Chip& chip) { return chip.id.has_value(); });
    if (card.count && chips < *card.count)
      return truncation_error(kNpuSmiName, text, fmt::format("{} chips with their Chip ID", *card.count));
    std::vector<ToolDevice> devices;
    bool chip_known = false;
    bool board_known = false;
    for (const auto& chip : card.chips) {
      ToolDevice device;
      device.index = card.id;
      if (chip.board) device.sub_index = ToolIndex{std::string{"mcu"}};
      if (chip.id) device.sub_index = ToolIndex{*chip.id};
      const bool speaks = read_power_fields(chip.fields, {.default_unit = "W"}, device);
      any = any || speaks;
      if (chip.board && !speaks) continue;
      if (!speaks) device.reason = kSilentChip;
      (chip.board ? board_known : chip_known) |= device.power.has_value();
      devices.push_back(std::move(device));
    }
    // A text that ends within a chip's lines has lost the power, which is the last of them.
    if (&card == &cards.back() && chip_known && !card.chips.back().board && !devices.back().power &&
        devices.back().reason == kSilentChip)
      devices.back().reason =
          fmt::format("{}: the last chip's power is missing, the others have theirs", kTruncated);
    // Chips without a value of their own are part of what the board's controller reads.
    if (board_known && !chip_known)
      for (auto& device : devices)
        if (!device.power) device.reason = std::string{kCountedOnSibling} + "_on_mcu";
    board_beside_chips = board_beside_chips || (board_known && chip_known);
    for (auto& device : devices) readings.devices.push_back(std::move(device));
  }
  if (!any) return unknown_form(kNpuSmiName, text, "the table of info, or a line NPU Real-time Power(W)");
  add_up(readings);
  if (is_open(text)) readings.total.reset();
  if (board_beside_chips) readings.total.reset();  // which contains which isn't documented
  return readings;
}

}  // namespace

Result<ToolReadings> parse_npu_smi(std::string_view command, std::string_view text) {
  static const BoxTable table{.tool = kNpuSmiName, .index_labels = {"NPU"}, .part_label = "Chip"};
  if (has_box_header(table, text)) {
    auto readings = parse_box_table(table, text);
    if (readings) {
      drop_rated(*readings);
      mark_dies(*readings);
    }
    return readings;
  }
  if (contains(text, "|") || has_json(text))
    return unknown_form(kNpuSmiName, text, "a table header with NPU and Power(W)");
  return parse_fields(command, text);
}

}  // namespace tidewatt::metering::tools
