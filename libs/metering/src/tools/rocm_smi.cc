// AMD rocm-smi and Hygon hy-smi (DTK's rocm-smi). Covered: the concise table with AvgPwr (older, and all of
// Hygon's: with and without Fan, DCU or HCU; complete for Hygon) or Power over (Avg) / (Socket) (ROCm 6,
// complete; the two-line rows of 6.0 without sample), `-a --json` and `--showpower --json` (complete),
// --showpower as text and CSV (no sample). "Max Graphics Package Power (W)" is the cap. Second dies and
// partitions print N/A: unknown.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tidewatt/units/text.h"
#include "tools/accelerators.h"
#include "tools/column_table.h"
#include "tools/csv_table.h"
#include "tools/json_text.h"
#include "tools/label.h"
#include "tools/smi_like.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

// Only these of a card's many keys are watts of the card.
bool is_package_power(std::string_view key) {
  const auto low = lower(key);
  return contains(low, "package power") || contains(low, "socket power");
}

struct Values {
  struct Draw {
    int rank;
    std::string text;
    bool averaged;
    std::string unit;
    std::string key;
  };
  std::vector<Draw> draws;
  std::string limit, limit_unit, limit_key;
  std::string name;
};

void note(Values& values, std::string_view key, std::string_view value) {
  if (!is_package_power(key)) return;
  const auto label = judge_label(key);
  const std::string unit{label.unit.empty() ? "W" : label.unit};
  if (label.draw_rank > 0) {
    const auto before = std::find_if(values.draws.begin(), values.draws.end(),
                                     [&](const Values::Draw& draw) { return draw.key == key; });
    if (before != values.draws.end())
      before->text = value;  // a loop's next turn
    else
      values.draws.push_back({label.draw_rank, std::string{value}, label.averaged, unit, std::string{key}});
  } else if (values.limit.empty() || values.limit_key == key) {
    values.limit = value;
    values.limit_key = key;
    values.limit_unit = unit;
  }
}

ToolDevice device_of(std::int64_t index, Values values) {
  ToolDevice device;
  device.index = index;
  device.name = values.name;
  if (!values.limit.empty()) set_limit(device, values.limit, values.limit_unit);
  std::stable_sort(values.draws.begin(), values.draws.end(),
                   [](const auto& a, const auto& b) { return a.rank > b.rank; });
  std::vector<Candidate> candidates;
  for (const auto& draw : values.draws) candidates.push_back({draw.text, draw.averaged, draw.unit});
  set_power(device, candidates, "no_power_reading_in_this_command");
  return device;
}

std::optional<std::int64_t> card_number(std::string_view key) {
  const auto low = lower(trim(key));
  for (const std::string_view prefix : {"card", "gpu", "dcu", "hcu"})
    if (low.starts_with(prefix)) {
      const auto number = parse_int64(std::string_view{low}.substr(prefix.size()));
      return number && *number >= 0 ? number : std::nullopt;
    }
  return std::nullopt;
}

Result<ToolReadings> finish(std::string_view tool, std::map<std::int64_t, Values> cards,
                            std::string_view text, std::optional<std::int64_t> cut_card = std::nullopt) {
  ToolReadings readings;
  bool any = cut_card.has_value();
  for (auto& [index, values] : cards) {
    any = any || !values.draws.empty() || !values.limit.empty();
    readings.devices.push_back(device_of(index, std::move(values)));
    if (cut_card == index && !readings.devices.back().power)
      readings.devices.back().reason = fmt::format("{}: the text ends within this card's line", kTruncated);
  }
  if (!any) return unknown_form(tool, text, "a card's package power");
  add_up(readings);
  return readings;
}

Result<ToolReadings> parse_rocm_smi_json(std::string_view tool, std::string_view text) {
  TW_TRY(const nlohmann::json root, json_in(tool, text));
  std::map<std::int64_t, Values> cards;
  if (root.is_object())
    for (const auto& [key, card] : root.items()) {
      const auto index = card_number(key);  // "system" is no card
      if (!index || !card.is_object()) continue;
      auto& values = cards[*index];
      for (const auto& [name, value] : card.items()) {
        note(values, name, printed(value));
        if (lower(name) == "card series" && value.is_string()) values.name = value.get<std::string>();
      }
    }
  return finish(tool, std::move(cards), text);
}

// "GPU[0]    : Average Graphics Package Power (W): 39.0", also "DCU[0]".
Result<ToolReadings> parse_lines(std::string_view tool, std::string_view text) {
  std::map<std::int64_t, Values> cards;
  std::optional<std::int64_t> cut_card;
  bool framed = false;
  bool closed = false;
  const auto lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto line = trim(lines[i]);
    if (line.starts_with('=')) {
      framed = framed || cards.empty();
      closed = !cards.empty();
    }
    const auto open = line.find('[');
    const auto close = line.find(']');
    const auto last = line.rfind(": ");
    if (open == std::string_view::npos || close == std::string_view::npos || close < open || open > 4 ||
        last == std::string_view::npos || last < close)
      continue;
    const auto index = parse_int64(line.substr(open + 1, close - open - 1));
    const auto first = line.find(':', close);
    if (!index || *index < 0 || first == std::string_view::npos || first >= last) continue;
    auto& values = cards[*index];
    const auto value = trim(line.substr(last + 1));
    closed = false;
    if (i + 1 == lines.size() && is_open(text))
      cut_card = *index;
    else
      note(values, trim(line.substr(first + 1, last - first - 1)), value);
  }
  if (framed && !cards.empty() && !closed)
    return truncation_error(tool, text, "a line of '=' below the cards");
  TW_TRY(auto readings, finish(tool, std::move(cards), text, cut_card));
  if (!framed && is_open(text)) readings.total.reset();
  return readings;
}

Result<ToolReadings> parse(std::string_view tool, std::string_view command, std::string_view text) {
  const ColumnTable table{.tool = tool, .index_labels = {"GPU", "Device", "DCU", "HCU"}};
  const CsvTable csv{.tool = tool, .index_labels = {"device", "gpu", "dcu", "hcu"}, .maximum_is_limit = true};
  if (has_json(text))
    return read_json_samples(text, [&](std::string_view one) { return parse_rocm_smi_json(tool, one); });
  if (has_csv_header(csv, text)) return parse_csv_table(csv, command, text);
  if (has_column_header(table, text)) return parse_column_table(table, text);
  return parse_lines(tool, text);
}

}  // namespace

Result<ToolReadings> parse_rocm_smi(std::string_view command, std::string_view text) {
  return parse("rocm-smi", command, text);
}

Result<ToolReadings> parse_hy_smi(std::string_view command, std::string_view text) {
  return parse("hy-smi", command, text);
}

}  // namespace tidewatt::metering::tools
