#include "tools/column_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "tidewatt/units/text.h"
#include "tools/box_table.h"
#include "tools/draws.h"
#include "tools/input.h"
#include "tools/label.h"
#include "tools/repeats.h"
#include "tools/samples.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

struct Token {
  std::string_view text;
  std::size_t begin = 0, end = 0;  ///< printed columns, not bytes
};

std::vector<Token> tokens_of(std::string_view line, bool joined) {
  std::vector<Token> tokens;
  std::size_t read = 0;   // bytes of the line
  std::size_t width = 0;  // their printed columns
  for (const auto text : joined ? values_of(line) : words_of(line)) {
    const auto offset = static_cast<std::size_t>(text.data() - line.data());
    width += width_of(line.substr(read, offset - read));
    const auto begin = width;
    width += width_of(text);
    read = offset + text.size();
    tokens.push_back({text, begin, width});
  }
  return tokens;
}

struct Header {
  std::size_t line = 0;
  std::vector<Token> labels;
  std::size_t index = 0;
  std::optional<std::size_t> power;  ///< nullopt = names of other things
  std::vector<std::size_t> rivals;   ///< columns that name the draw as well as `power` does
  std::optional<std::size_t> limit, part;
  bool averaged = false;
};

bool is_any(std::string_view word, const std::vector<std::string_view>& list) {
  return std::any_of(list.begin(), list.end(),
                     [&](std::string_view one) { return same_ignoring_case(one, word); });
}

// "NPU Real-time Power(W) : 12" is no row of names; "[Model : Revision]" is one name.
bool has_field(std::string_view line) {
  int depth = 0;
  for (const char c : line) {
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (c == ':' && depth <= 0) return true;
  }
  return false;
}

bool stand_one_blank_apart(const Token& before, const Token& label) { return before.end + 1 == label.begin; }

// "HBM Power(W)": the word before, one blank apart, says which power is meant. Where all names stand one
// blank apart each has a column of its own.
std::string qualified_name(const std::vector<Token>& labels, std::size_t at) {
  const bool qualified =
      at > 0 && stand_one_blank_apart(labels[at - 1], labels[at]) && qualifies_next(labels[at - 1].text) &&
      std::adjacent_find(labels.begin(), labels.end(), std::not_fn(stand_one_blank_apart)) != labels.end();
  return (qualified ? std::string{labels[at - 1].text} + " " : std::string{}) + std::string{labels[at].text};
}

std::optional<Header> header_in(const ColumnTable& table, std::string_view line) {
  if (has_field(line)) return std::nullopt;
  Header header;
  header.labels = tokens_of(line, false);
  bool has_index = false;
  int best = 0;
  for (std::size_t i = 0; i < header.labels.size(); ++i) {
    const auto text = header.labels[i].text;
    if (!has_index && is_any(text, table.index_labels)) {
      header.index = i;
      has_index = true;
      continue;
    }
    if (!table.part_label.empty() && same_ignoring_case(text, table.part_label)) header.part = i;
    // A column's name is one word here; "Power" inside a sentence isn't followed by columns of rows.
    auto label = judge_label(text);
    if (label.power) label = judge_label(qualified_name(header.labels, i));
    if (label.limit_rank > 0 && !header.limit) header.limit = i;
    if (label.draw_rank > best) {
      best = label.draw_rank;
      header.power = i;
      header.averaged = label.averaged;
      header.rivals.clear();
    } else if (label.draw_rank == best && best > 0) {
      header.rivals.push_back(i);
    }
  }
  if (!has_index || best == 0) return std::nullopt;
  return header;
}

std::optional<Header> header_at(const ColumnTable& table, const std::vector<std::string_view>& lines,
                                std::size_t at) {
  auto header = header_in(table, lines[at]);
  if (!header) return std::nullopt;
  header->line = at;
  // The line below may qualify the names: "(Edge)  (Avg)", "(Junction)  (Socket)".
  if (at + 1 < lines.size())
    for (const auto& token : tokens_of(lines[at + 1], false))
      if (token.text.starts_with('(') && token.begin < header->labels[*header->power].end &&
          token.end > header->labels[*header->power].begin && judge_label(token.text, true).averaged)
        header->averaged = true;
  return header;
}

std::optional<Header> find_header(const ColumnTable& table, const std::vector<std::string_view>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (auto header = header_at(table, lines, i)) return header;
  return std::nullopt;
}

// Names of other things than power, over the same devices: nothing but words, the device's first of all.
std::optional<Header> other_header(const ColumnTable& table, std::string_view line) {
  if (has_field(line)) return std::nullopt;
  Header header;
  header.labels = tokens_of(line, false);
  if (header.labels.size() < 2 || !is_any(header.labels[0].text, table.index_labels) ||
      std::any_of(header.labels.begin(), header.labels.end(), [](const Token& label) {
        return label.text.find_first_of("0123456789") != std::string_view::npos;
      }))
    return std::nullopt;
  return header;
}

bool is_frame(std::string_view line) { return line.starts_with("===") || line.starts_with("---"); }

const Token* overlapping(const std::vector<Token>& tokens, const Token& label) {
  const Token* found = nullptr;
  for (const auto& token : tokens)
    if (token.begin < label.end && token.end > label.begin) {
      if (found != nullptr) return nullptr;  // moved so far that two stand under one name
      found = &token;
    }
  return found;
}

// What tools print where they have no value.
bool says_none(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kNone{"N/A", "NA",  "Unsupported",  "None", "unknown", "-",
                                                         "--",  "n/a", "Not Supported"};
  return std::any_of(kNone.begin(), kNone.end(),
                     [&](std::string_view none) { return same_ignoring_case(none, text); });
}

// "1 234W", "max 15W": the value begins before its last word.
bool begins_before(const std::vector<Token>& values, const Token& token) {
  if (&token == values.data()) return false;
  const auto& before = *(&token - 1);
  return before.end + 1 == token.begin && (parse_double(before.text) || judge_label(before.text, true).bound);
}

// The value of a column: by order where there are as many values as names, else what stands under the name,
// else the k-th printed watts for the k-th name that speaks of watts.
std::optional<std::string_view> value_of(const Header& header, const std::vector<Token>& values,
                                         std::size_t column) {
  if (values.size() == header.labels.size()) return values[column].text;
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < header.labels.size(); ++i)
    if (judge_label(header.labels[i].text).power) columns.push_back(i);
  std::vector<std::string_view> watts;
  for (const auto& value : values)
    if (parse_watts(value.text, "").watts && !begins_before(values, value)) watts.push_back(value.text);
  if (const auto* token = overlapping(values, header.labels[column])) {
    const auto first = token->text.front();
    const bool is_number = first >= '0' && first <= '9';
    if (!is_number) return token->text;
    if (begins_before(values, *token)) return std::nullopt;
    // The unit in the name makes a bare number watts; by the names alone its place must be told from both
    // ends.
    const auto unit = judge_label(header.labels[column].text).unit;
    const auto from_end = static_cast<std::size_t>(values.data() + values.size() - token);
    if (!unit.empty() && from_end + column == header.labels.size() && parse_watts(token->text, unit).watts)
      return token->text;
    // A number without watts under the name is damage, not a reason to look elsewhere.
    if (!parse_watts(token->text, "").watts) return std::nullopt;
    // One of draw and cap is lost, and what is left may have moved under the other's name: unless the other's
    // name has its own word under it, such as "Unsupported".
    if (watts.size() < columns.size() && !std::all_of(columns.begin(), columns.end(), [&](std::size_t other) {
          const auto* under = overlapping(values, header.labels[other]);
          return under != nullptr && (parse_watts(under->text, "").watts || says_none(under->text));
        }))
      return std::nullopt;
    return token->text;
  }
  if (watts.size() != columns.size()) return std::nullopt;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i] == column) return watts[i];
  return std::nullopt;
}

}  // namespace

bool has_column_header(const ColumnTable& table, std::string_view text) {
  return find_header(table, lines_of(text)).has_value();
}

namespace {

// Parts of one card repeat what the card draws: in "NPS1, CPX, 2" the last number is the partition's.
std::optional<std::int64_t> partition_of(const std::vector<Token>& values) {
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    auto mode = values[i].text;
    if (!mode.ends_with(',')) continue;
    mode.remove_suffix(1);
    for (const std::string_view known : {"SPX", "DPX", "TPX", "QPX", "CPX"})
      if (same_ignoring_case(mode, known))
        if (const auto number = parse_int64(values[i + 1].text); number && *number >= 0) return *number;
  }
  return std::nullopt;
}

// A partition's row that prints its card's power again adds nothing.
void count_cards_once(ToolReadings& readings, const std::vector<std::optional<std::int64_t>>& partitions) {
  const ToolDevice* card = nullptr;
  for (std::size_t i = 0; i < readings.devices.size(); ++i) {
    auto& device = readings.devices[i];
    if (!partitions[i] || *partitions[i] == 0) {
      card = &device;
      continue;
    }
    if (card == nullptr || !card->power || !device.power) continue;
    device.power.reset();
    device.reason = std::string{kCountedOnSibling} + "_on_partition_0";
  }
}

// Rows of one number that differ in what names a device are two devices.
class LastRows {
 public:
  std::string_view tell(const Header& header, std::pair<std::int64_t, std::int64_t> number,
                        const std::vector<Token>& values) {
    const auto [before, is_first] = rows_.try_emplace(number, texts_of(values));
    if (is_first) return {};
    std::vector<std::size_t> skip{header.index};
    if (header.part) skip.push_back(*header.part);
    const auto names = texts_of(header.labels);
    const auto now = texts_of(values);
    const auto told = telling_column(names, before->second, now, skip, false);
    before->second = now;
    return told;
  }

 private:
  static std::vector<std::string_view> texts_of(const std::vector<Token>& tokens) {
    std::vector<std::string_view> texts;
    texts.reserve(tokens.size());
    for (const auto& token : tokens) texts.push_back(token.text);
    return texts;
  }
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::string_view>> rows_;
};

void read_draw(const Header& header, const std::vector<Token>& values, ToolDevice& device) {
  std::vector<Draw> draws;
  auto columns = header.rivals;
  columns.insert(columns.begin(), *header.power);
  for (const auto column : columns) {
    const auto value = value_of(header, values, column);
    if (!value) {
      device.reason = "garbled: the row has other cells than its header";
      return;
    }
    const auto name = header.labels[column].text;
    draws.push_back({kPlainTier, name, {*value, header.averaged, judge_label(name).unit}});
  }
  set_best_power(device, draws, "tool_prints_nothing");
}

Result<ToolReadings> parse_one_table(const ColumnTable& table, std::string_view text, bool between_rules) {
  const auto lines = lines_of(text);
  auto header = find_header(table, lines);
  if (!header)
    return layout_error(table.tool, 1, "a line of column names with the device and its power",
                        lines.empty() ? std::string_view{} : trim(lines[0]));
  ToolReadings readings;
  std::vector<std::optional<std::int64_t>> partitions;
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> known;
  LastRows rows;
  const auto first_header = header->line;
  // A table that stands between rules ends with one; another ends anywhere.
  bool framed =
      between_rules || std::any_of(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(header->line),
                                   [](std::string_view line) { return is_frame(trim(line)); });
  bool closed = false;
  for (std::size_t i = header->line + 1; i < lines.size(); ++i) {
    const auto line = trim(lines[i]);
    if (line.empty()) continue;
    auto later =
        header_at(table, lines, i);  // watch mode repeats the names, another command orders them anew
    if (!later) later = other_header(table, lines[i]);
    if (later) {
      header = std::move(later);
      continue;
    }
    if (line.starts_with('=') || line.starts_with('-')) {
      closed = !readings.devices.empty();
      if (closed) break;
      framed = framed || is_frame(line);
      continue;
    }
    const auto values = tokens_of(lines[i], true);
    if (header->index >= values.size()) continue;
    const auto& first = values[header->index];
    const auto number = parse_int64(first.text);
    const auto index_end = header->index + 1 < header->labels.size() ? header->labels[header->index + 1].begin
                                                                     : std::string_view::npos;
    // Lines between the rows (warnings, a card's long name) start elsewhere or with no number.
    if (!number || *number < 0 || first.begin >= index_end) continue;
    ToolDevice device;
    device.index = *number;
    std::int64_t part = -1;
    if (header->part)
      if (const auto text_of_part = value_of(*header, values, *header->part))
        if (const auto parsed = parse_int64(*text_of_part); parsed && *parsed >= 0) part = *parsed;
    if (header->limit)
      if (const auto limit = value_of(*header, values, *header->limit))
        set_limit(device, *limit, judge_label(header->labels[*header->limit].text).unit);
    if (!header->power)
      device.reason = "no power column over this row";
    else
      read_draw(*header, values, device);
    if (part > 0) device.sub_index = ToolIndex{part};
    if (!framed && i + 1 == lines.size() && is_open(text)) {
      device.power.reset();
      device.reason = fmt::format("{}: line {} has no line end", kTruncated, i + 1);
    }
    const auto [place, is_new] = known.emplace(std::pair{*number, part}, readings.devices.size());
    if (const auto told = rows.tell(*header, {*number, part}, values); !told.empty())
      return layout_error(
          table.tool, i + 1,
          fmt::format("one row per device, but '{}' tells two apart that have one number", quotable(told)),
          line);
    if (is_new) {
      readings.devices.push_back(std::move(device));
      partitions.push_back(partition_of(values));
    } else if (header->power || !readings.devices[place->second].power) {
      readings.devices[place->second] = std::move(device);
    }
  }
  if (readings.devices.empty())
    return layout_error(table.tool, first_header + 1, "a row per device below the column names",
                        trim(lines[first_header]));
  if (framed && !closed) return truncation_error(table.tool, text, "a line of '=' or '-' below the rows");
  count_cards_once(readings, partitions);
  add_up(readings);
  if (!framed && is_open(text)) readings.total.reset();
  return readings;
}

}  // namespace

Result<ToolReadings> parse_column_table(const ColumnTable& table, std::string_view text) {
  const auto lines = lines_of(text);
  std::vector<std::size_t> starts;
  bool framed = false;  // a table between rules; without them the rows of a loop just go on
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (header_in(table, lines[i])) starts.push_back(i);
    if (starts.size() < 2) framed = framed || is_frame(trim(lines[i]));
  }
  if (starts.size() < 2 || !framed) return parse_one_table(table, text, false);
  std::vector<std::string_view> samples;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto begin = static_cast<std::size_t>(lines[starts[i]].data() - text.data());
    const auto end = i + 1 < starts.size()
                         ? static_cast<std::size_t>(lines[starts[i + 1]].data() - text.data())
                         : text.size();
    samples.push_back(text.substr(begin, end - begin));
  }
  const auto last = lines_of(samples.back());
  const bool only_header = std::none_of(last.begin() + 1, last.end(), [](std::string_view line) {
    const auto words = words_of(line);
    return !words.empty() && parse_int64(words[0]);
  });
  return read_samples(samples, only_header,
                      [&](std::string_view sample) { return parse_one_table(table, sample, true); });
}

}  // namespace tidewatt::metering::tools
