#include "tools/box_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tidewatt/units/text.h"
#include "tools/box_layout.h"
#include "tools/label.h"
#include "tools/samples.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

constexpr std::size_t npos = std::string_view::npos;

bool is_content(std::string_view line) {
  line = trim(line);
  return line.starts_with('|') &&
         !(line.find_first_not_of("|+-= ") == npos && (contains(line, "---") || contains(line, "===")));
}

bool is_rule(std::string_view line) {
  line = trim(line);
  return !line.empty() && !is_content(line) &&
         (line.starts_with('+') || line.starts_with('|') ||
          (line.find_first_not_of("|+-=") == npos && line.size() >= 3));
}

// U+00B0 before C.
constexpr std::string_view kDegreesC = "\u00B0C";

bool is_unit(std::string_view word) {
  static constexpr std::array<std::string_view, 16> kUnits{"C",  "c",   "\u2103", "%",      "MHz", "Mhz",
                                                           "MB", "MiB", "GB",     "GiB",    "KB",  "RPM",
                                                           "V",  "mV",  "J",      kDegreesC};
  return is_watt_unit(word) || std::find(kUnits.begin(), kUnits.end(), word) != kUnits.end();
}

bool is_bare_number(std::string_view word) { return parse_double(word).has_value(); }

bool joins(std::string_view left, std::string_view right) {
  if (left.ends_with('/') || right.starts_with('/')) return true;
  // "129/750 W", "3 W": a number takes the unit behind it.
  const auto slash = left.rfind('/');
  const auto number = slash == npos ? left : trim(left.substr(slash + 1));
  if (is_bare_number(number) &&
      (is_unit(right) || (right.ends_with('/') && is_unit(right.substr(0, right.size() - 1)))))
    return true;
  return (left == "Unknown" && right == "Error") || (left == "Not" && right == "Supported") ||
         (left == "[Unknown" && right == "Error]") || (left == "[Not" && right == "Supported]");
}

bool looks_like_power(std::string_view side, bool unit_needed) {
  side = trim(side);
  if (side.empty()) return false;
  const auto first = side.front();
  const bool number = (first >= '0' && first <= '9') || first == '-' || first == '.';
  if (!number || side == "-") return side.find('%') == npos;
  return parse_watts(side, unit_needed ? "" : "W").watts.has_value();
}

bool is_power_pair(std::string_view value, bool unit_shared) {
  const auto sides = pair_of(value);
  return sides.size() == 2 && looks_like_power(sides[0], !unit_shared) && looks_like_power(sides[1], true) &&
         (contains(value, "W") || contains(lower(value), "n"));
}

// One side of a pair that is printed without its slash: watts, or a word for none.
bool is_side(std::string_view value) {
  return value == "N/A" || value == "NA" || parse_watts(value, "").watts.has_value();
}

// "1 234W", "max 15W", "98W 777W / 400W": the value begins before its last word, or another stands there, so
// that this word alone isn't it.
bool begins_before(const std::vector<std::string_view>& values, std::size_t at) {
  return at > 0 && (is_bare_number(values[at - 1]) || judge_label(values[at - 1], true).bound ||
                    parse_watts(values[at - 1], "").watts);
}

// The value that stands under a label. Equal counts of labels and values: the label's own place among them.
// Otherwise only what can't be mistaken: the cell's single usage/cap pair, or its single value in watts.
std::optional<std::string> value_under(const BoxPowerPlace& place, std::string_view cell, bool unit_shared) {
  const auto values = values_of(cell);
  if (place.pair) {
    if (values.size() == place.words && (pair_of(values[place.word]).size() == 2 || unit_shared))
      return std::string{values[place.word]};
    // "105W  300W": the pair without its slash is the only thing that adds a value.
    if (values.size() == place.words + 1 && is_side(values[place.word]) && is_side(values[place.word + 1]))
      return std::string{values[place.word]} + " / " + std::string{values[place.word + 1]};
    std::optional<std::string> found;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (is_power_pair(values[i], unit_shared)) {
        if (found || begins_before(values, i)) return std::nullopt;
        found = values[i];
      }
    return found;
  }
  if (values.size() == place.words) return std::string{values[place.word]};
  if (values.empty() && place.words == 1) return std::string{};
  std::optional<std::string> found;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (parse_watts(values[i], "").watts) {
      if (found || begins_before(values, i)) return std::nullopt;
      found = values[i];
    }
  return found;
}

void read_pair(ToolDevice& device, std::string_view value, bool unit_shared) {
  const auto sides = pair_of(value);
  if (sides.size() != 2) {
    set_power(device, {{value, false, ""}}, "tool_prints_nothing");
    return;
  }
  set_limit(device, sides[1], "");
  const bool shared = unit_shared && parse_watts(sides[1], "").watts;
  set_power(device, {{sides[0], false, shared ? "W" : ""}}, "tool_prints_nothing");
}

std::string_view cell_at(const std::vector<std::string_view>& block, const BoxLayout& layout,
                         const BoxPlace& place) {
  if (place.line >= block.size()) return {};
  const auto cells = cells_of(block[place.line], '|');
  return cells.size() == layout.cells[place.line] ? cells[place.cell] : std::string_view{};
}

// A line that was cut off behind the wanted cell still names its device.
std::string_view word_at(const std::vector<std::string_view>& block, const BoxPlace& place) {
  const auto cells =
      place.line < block.size() ? cells_of(block[place.line], '|') : std::vector<std::string_view>{};
  const auto words = words_of(place.cell < cells.size() ? cells[place.cell] : std::string_view{});
  if (place.word == 0) return words.empty() ? std::string_view{} : words[0];
  if (place.word + 1 == place.words) return words.size() > place.word ? words.back() : std::string_view{};
  return place.word < words.size() ? words[place.word] : std::string_view{};
}

// Names may hold blanks: all words that the labels left and right of it leave over.
std::string name_in(const std::vector<std::string_view>& block, const BoxLayout& layout) {
  if (!layout.name) return {};
  const auto words = words_of(cell_at(block, layout, *layout.name));
  const auto after = layout.name->words - layout.name->word - 1;
  std::string name;
  for (std::size_t i = layout.name->word; i + after < words.size(); ++i)
    name += (name.empty() ? "" : " ") + std::string{words[i]};
  return name;
}

void read_power(const BoxTable& table, const BoxLayout& layout, const std::vector<std::string_view>& block,
                ToolDevice& device) {
  if (!layout.has_power) {
    device.reason = table.no_power_reason;
    return;
  }
  if (block.size() < layout.cells.size()) {
    device.reason =
        fmt::format("garbled: {} of this row's {} lines are there", block.size(), layout.cells.size());
    return;
  }
  if (cells_of(block[layout.power.line], '|').size() != layout.cells[layout.power.line]) {
    device.reason = "garbled: the power line has other cells than its header";
    return;
  }
  if (layout.limit)
    if (const auto limit = value_under(*layout.limit, cell_at(block, layout, *layout.limit), false))
      set_limit(device, *limit, layout.limit->label.unit);
  const auto cell = cell_at(block, layout, layout.power);
  const auto value = value_under(layout.power, cell, table.unit_shared);
  if (!value)
    device.reason = layout.power.pair ? "no usage/cap pair in the power cell"
                                      : "garbled: the power cell has other values than its header";
  else if (layout.power.pair)
    read_pair(device, *value, table.unit_shared);
  else
    set_power(device, {{*value, layout.power.label.averaged, layout.power.label.unit}},
              "tool_prints_nothing");
}

// Other columns that name the draw as well, with other watts: nothing says which is the device's.
void judge_rivals(const BoxTable& table, const BoxLayout& layout, const std::vector<std::string_view>& block,
                  ToolDevice& device) {
  for (const auto& rival : layout.rivals) {
    const auto value = value_under(rival, cell_at(block, layout, rival), table.unit_shared);
    ToolDevice other;
    if (value && rival.pair) read_pair(other, *value, table.unit_shared);
    if (value && !rival.pair) set_power(other, {{*value, false, rival.label.unit}}, "");
    if (!device.power || !other.power || *device.power == *other.power) continue;
    device.reason = fmt::format("ambiguous: two columns name the draw and print {} W and {} W",
                                format_double(device.power->value()), format_double(other.power->value()));
    device.power.reset();
  }
}

// One number in several rows of one table: the second number tells them apart, or nothing does.
void tell_apart(std::vector<ToolDevice>& devices, const std::vector<std::optional<std::int64_t>>& second) {
  std::set<std::int64_t> seen;
  const bool repeated = std::any_of(devices.begin(), devices.end(), [&](const ToolDevice& device) {
    return !seen.insert(std::get<std::int64_t>(device.index)).second;
  });
  if (!repeated) return;
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (second[i] && !devices[i].sub_index) devices[i].sub_index = ToolIndex{*second[i]};
}

// The device that a table names twice. Which row is its power nobody knows; a loop draws its header again.
std::optional<std::int64_t> named_twice(const std::vector<ToolDevice>& devices) {
  std::set<std::pair<ToolIndex, std::optional<ToolIndex>>> seen;
  for (const auto& device : devices)
    if (!seen.emplace(device.index, device.sub_index).second) return std::get<std::int64_t>(device.index);
  return std::nullopt;
}

struct Run {
  std::vector<std::string_view> lines;
  std::vector<std::size_t> at;  ///< their places in the text, from 0
};

void append(std::vector<Run>& runs, bool& open, std::string_view line, std::size_t at) {
  if (!open) runs.emplace_back();
  open = true;
  runs.back().lines.push_back(trim(line));
  runs.back().at.push_back(at);
}

// Runs of content lines: anything else ends one.
std::vector<Run> runs_of(const std::vector<std::string_view>& lines) {
  std::vector<Run> runs;
  bool open = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_content(lines[i]))
      append(runs, open, lines[i], i);
    else
      open = false;
  }
  return runs;
}

std::size_t longest(const std::vector<Run>& runs) {
  std::size_t most = 0;
  for (const auto& run : runs) most = std::max(most, run.lines.size());
  return most;
}

// A header holds names; a cell that begins with a number belongs to a device.
bool begins_a_row(std::string_view line) {
  const auto cells = cells_of(line, '|');
  return std::any_of(cells.begin(), cells.end(), [](std::string_view cell) {
    const auto words = words_of(cell);
    return !words.empty() && parse_int64(words[0]);
  });
}

// Something whole stands below the rows: a rule as wide as the one above them, or any other line.
bool is_closed(const std::vector<std::string_view>& lines, std::size_t first_row, std::size_t end,
               bool open) {
  if (end == lines.size()) return false;
  if (end + 1 < lines.size() || !open || first_row == 0) return true;
  return trim(lines[end]).size() >= trim(lines[first_row - 1]).size();
}

bool is_process_table(std::string_view line) {
  return contains(lower(line), "process") || contains(line, " PID ") || contains(line, "MIG devices");
}

bool begins_a_device(const BoxLayout& layout, std::string_view line) {
  const auto number = parse_int64(word_at({line}, layout.index));
  return layout.index.line == 0 && number && *number >= 0;
}

// Whether a line fits the header's line at this place of a device's block.
bool fits(const BoxLayout& layout, std::string_view line, std::size_t place) {
  return cells_of(line, '|').size() == layout.cells[place] && (place > 0 || begins_a_device(layout, line));
}

bool prints_watts(std::string_view line) {
  for (const auto cell : cells_of(line, '|'))
    for (const auto value : values_of(cell))
      if (parse_watts(value, "").watts || is_power_pair(value, false)) return true;
  return false;
}

// The rows below a header. A message or a blank line between them neither ends the table nor a device's
// block; behind one only what fits the header goes on, and a title or other names begin another table.
Result<std::vector<Run>> rows_of(const BoxTable& table, const BoxLayout& layout,
                                 const std::vector<std::string_view>& lines, std::size_t from) {
  const auto height = layout.cells.size();
  std::vector<Run> runs;
  bool open = false;
  bool interrupted = false;
  for (std::size_t i = from; i < lines.size(); ++i) {
    if (!is_content(lines[i])) {
      if (is_rule(lines[i]))
        open = false;
      else
        interrupted = true;
      continue;
    }
    const auto line = trim(lines[i]);
    if ((!open || interrupted) && is_process_table(line)) break;
    if (interrupted && !runs.empty()) {
      if (!open || !fits(layout, line, runs.back().lines.size() % height)) open = false;
      if (!open && !fits(layout, line, 0)) {
        if (begins_a_device(layout, line) || prints_watts(line))
          return layout_error(table.tool, i + 1, "a whole row below the line that interrupts the table",
                              line);
        break;
      }
    }
    interrupted = false;
    append(runs, open, line, i);
  }
  return runs;
}

// A line that is printed twice would make every line below it another one's.
void drop_repeated_line(Run& run, std::size_t height) {
  if (run.lines.size() % height != 1) return;
  const auto twice = std::adjacent_find(run.lines.begin(), run.lines.end());
  if (twice == run.lines.end()) return;
  run.at.erase(run.at.begin() + (twice - run.lines.begin()));
  run.lines.erase(twice);
}

}  // namespace

std::vector<std::string_view> values_of(std::string_view cell) {
  const auto words = words_of(cell);
  std::vector<std::string_view> values;
  for (const auto word : words) {
    if (values.empty() || !joins(values.back(), word)) {
      values.push_back(word);
      continue;
    }
    const auto begin = static_cast<std::size_t>(values.back().data() - cell.data());
    const auto end = static_cast<std::size_t>(word.data() - cell.data()) + word.size();
    values.back() = cell.substr(begin, end - begin);
  }
  return values;
}

std::vector<std::string_view> pair_of(std::string_view value) {
  std::size_t slash = npos;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] != '/') continue;
    const bool in_token = i > 0 && i + 1 < value.size() && (value[i - 1] == 'N' || value[i - 1] == 'n') &&
                          (value[i + 1] == 'A' || value[i + 1] == 'a');
    if (in_token) continue;
    if (slash != npos) return {};
    slash = i;
  }
  if (slash == npos) return {};
  return {trim(value.substr(0, slash)), trim(value.substr(slash + 1))};
}

bool has_box_header(const BoxTable& table, std::string_view text) {
  const auto lines = lines_of(text);
  for (const auto& run : runs_of(lines)) {
    if (is_process_table(run.lines[0])) continue;
    const auto layout = box_layout_of(table, run.lines);
    if (layout.has_index && (layout.has_power || !table.no_power_reason.empty())) return true;
  }
  return false;
}

namespace {

Result<ToolReadings> parse_one_box(const BoxTable& table, std::string_view text) {
  const auto lines = lines_of(text);
  std::optional<BoxLayout> layout;
  std::size_t header_line = 0;
  std::size_t height = 0;
  for (const auto& run : runs_of(lines)) {
    if (is_process_table(run.lines[0])) continue;
    auto found = box_layout_of(table, run.lines);
    if (!found.has_index || (!found.has_power && table.no_power_reason.empty())) continue;
    layout = std::move(found);
    header_line = run.at.front();
    height = run.lines.size();
    break;
  }
  if (!layout)
    return layout_error(table.tool, 1, "a table header that names the devices and their power",
                        lines.empty() ? std::string_view{} : trim(lines[0]));

  // Without the rule below it the header takes the first rows in: then it is higher than any device.
  for (std::size_t i = header_line; i < header_line + height; ++i)
    if (begins_a_row(lines[i]))
      return layout_error(table.tool, i + 1, "a rule between the header and the first row", trim(lines[i]));
  TW_TRY(auto runs, rows_of(table, *layout, lines, header_line + height));
  for (auto& run : runs) drop_repeated_line(run, height);
  if (runs.empty())
    return layout_error(table.tool, lines.size(), "rows below the table's header", trim(lines.back()));
  auto end = runs.back().at.back() + 1;
  while (end < lines.size() && trim(lines[end]).empty()) ++end;
  if (!is_closed(lines, runs.front().at.front(), end, is_open(text)))
    return truncation_error(table.tool, text, "the rule that closes the table");
  if (std::all_of(runs.begin(), runs.end(), [&](const Run& run) { return run.lines.size() < height; }))
    return layout_error(
        table.tool, header_line + 1,
        fmt::format("a header as high as the rows below it, which have {} lines at most", longest(runs)),
        trim(lines[header_line]));

  ToolReadings readings;
  std::vector<std::optional<std::int64_t>> second;
  for (const auto& run : runs) {
    // Without rules between devices their lines still come in the header's rhythm.
    const auto step = run.lines.size() > height && run.lines.size() % height == 0 ? height : run.lines.size();
    for (std::size_t begin = 0; begin < run.lines.size(); begin += step) {
      const std::vector<std::string_view> block(
          run.lines.begin() + static_cast<std::ptrdiff_t>(begin),
          run.lines.begin() + static_cast<std::ptrdiff_t>(std::min(begin + step, run.lines.size())));
      const auto number = parse_int64(word_at(block, layout->index));
      if (!number || *number < 0)
        return layout_error(table.tool, run.at[begin] + 1, "a device's number in its rows", block[0]);
      ToolDevice device;
      device.index = *number;
      if (layout->part)
        if (const auto part = parse_int64(word_at(block, *layout->part)); part && *part >= 0)
          device.sub_index = ToolIndex{*part};
      device.name = name_in(block, *layout);
      if (layout->bus) device.bus_id = word_at(block, *layout->bus);
      read_power(table, *layout, block, device);
      judge_rivals(table, *layout, block, device);
      readings.devices.push_back(std::move(device));
      second.push_back(layout->second ? parse_int64(word_at(block, *layout->second)) : std::nullopt);
    }
  }
  tell_apart(readings.devices, second);
  if (const auto twice = named_twice(readings.devices))
    return layout_error(table.tool, header_line + 1, "one row for each device",
                        fmt::format("two rows of device {}", *twice));
  add_up(readings);
  // A closing rule that is the very end may be one between two cards.
  if (is_open(text) && end + 1 == lines.size()) readings.total.reset();
  return readings;
}

bool same_words(std::string_view a, std::string_view b) { return words_of(a) == words_of(b); }

std::size_t offset_of(std::string_view text, const std::vector<std::string_view>& lines, std::size_t line) {
  return line < lines.size() ? static_cast<std::size_t>(lines[line].data() - text.data()) : text.size();
}

// Where the tables of a loop begin: at the first one's banner when it comes again, else at its header.
std::vector<std::size_t> starts_of(const BoxTable& table, const std::vector<std::string_view>& lines) {
  const auto runs = runs_of(lines);
  const auto first = std::find_if(runs.begin(), runs.end(), [&](const Run& run) {
    if (is_process_table(run.lines[0])) return false;
    const auto layout = box_layout_of(table, run.lines);
    return layout.has_index && (layout.has_power || !table.no_power_reason.empty());
  });
  if (first == runs.end()) return {0};
  const auto first_line = first->at.front();
  std::size_t above = 0;  // lines of the table above the header
  while (above < first_line &&
         (is_content(lines[first_line - above - 1]) || is_rule(lines[first_line - above - 1])))
    ++above;
  const auto begins_with = [&](const std::vector<std::string_view>& wanted) {
    std::vector<std::size_t> found;
    for (std::size_t i = static_cast<std::size_t>(first - runs.begin()); i < runs.size(); ++i)
      if (runs[i].lines.size() >= wanted.size() &&
          std::equal(wanted.begin(), wanted.end(), runs[i].lines.begin(), same_words))
        found.push_back(runs[i].at.front());
    return found;
  };
  auto starts = begins_with(first->lines);
  auto distance = above;
  if (first != runs.begin() && (first - 1)->at.front() + above >= first_line) {
    auto banners = begins_with({(first - 1)->lines[0]});
    if (banners.size() + 1 >= starts.size()) {
      distance = (first - 1)->at.front() + above - first_line;
      starts = std::move(banners);
      starts.insert(starts.begin(), first_line);
    }
  }
  for (auto& start : starts) start -= std::min(start, distance);
  starts[0] = 0;
  return starts;
}

}  // namespace

Result<ToolReadings> parse_box_table(const BoxTable& table, std::string_view text) {
  const auto lines = lines_of(text);
  const auto starts = starts_of(table, lines);
  if (starts.size() < 2) return parse_one_box(table, text);
  std::vector<std::string_view> samples;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto begin = offset_of(text, lines, starts[i]);
    const auto end = i + 1 < starts.size() ? offset_of(text, lines, starts[i + 1]) : text.size();
    if (end > begin) samples.push_back(text.substr(begin, end - begin));
  }
  return read_samples(samples, !has_box_header(table, samples.back()),
                      [&](std::string_view sample) { return parse_one_box(table, sample); });
}

}  // namespace tidewatt::metering::tools
