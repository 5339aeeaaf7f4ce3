#include "tools/csv_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tidewatt/units/text.h"
#include "tools/draws.h"
#include "tools/label.h"
#include "tools/repeats.h"
#include "tools/text.h"

namespace tidewatt::metering::tools {
namespace {

struct Columns {
  std::vector<std::string_view> names;
  std::optional<std::size_t> index, part, uuid, name, limit, time;
  std::vector<std::pair<std::size_t, Label>> draws;  ///< best rank first
  bool speaks_of_power = false;
};

std::string plain(std::string_view name) {
  std::string out;
  for (const char c : lower(name))
    if (c != ' ' && c != '_' && c != '"') out += c;
  return out;
}

Columns columns_of(const CsvTable& table, std::vector<std::string_view> names) {
  Columns columns;
  int best_limit = 0;
  std::vector<std::size_t> under_suspicion;
  bool limits = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto name = plain(names[i]);
    const auto is = [&](std::string_view label) { return name == plain(label); };
    if (!columns.index && std::any_of(table.index_labels.begin(), table.index_labels.end(), is)) {
      columns.index = i;
      continue;
    }
    if (!table.part_label.empty() && is(table.part_label)) columns.part = i;
    if (name == "uuid" || name == "gpuuuid") columns.uuid = i;
    if (name == "name") columns.name = i;
    if (name == "timestamp" || name == "time") columns.time = i;
    auto label = judge_label(names[i]);
    if (!label.power) continue;
    columns.speaks_of_power = true;
    limits = limits || label.bound;
    if (table.maximum_is_limit && label.limit_rank == 1) label.limit_rank = 3;
    if (label.draw_rank > 0) {
      if (!table.limit_among_limits.empty() && is(table.limit_among_limits)) under_suspicion.push_back(i);
      columns.draws.emplace_back(i, label);
    } else if (label.limit_rank > best_limit) {
      best_limit = label.limit_rank;
      columns.limit = i;
    }
  }
  if (limits && !under_suspicion.empty()) {
    std::erase_if(columns.draws, [&](const auto& draw) { return draw.first == under_suspicion[0]; });
    columns.limit = under_suspicion[0];
  }
  std::stable_sort(columns.draws.begin(), columns.draws.end(),
                   [](const auto& a, const auto& b) { return a.second.draw_rank > b.second.draw_rank; });
  columns.names = std::move(names);
  return columns;
}

std::vector<std::string_view> asked_for(const CsvTable& table, std::string_view command) {
  const auto words = words_of(command);
  for (std::size_t i = 0; i < words.size(); ++i)
    for (const auto option : table.query_options) {
      std::string_view list;
      if (option.ends_with('=') && words[i].starts_with(option)) list = words[i].substr(option.size());
      if (words[i] == option && i + 1 < words.size()) list = words[i + 1];
      if (!list.empty()) return cells_of(list, ',');
    }
  return {};
}

std::optional<std::int64_t> number_in(std::string_view cell) {
  // "card0" and "GPU0" as well as "0".
  const auto digits = cell.find_first_of("0123456789");
  if (digits == std::string_view::npos) return std::nullopt;
  const auto prefix = lower(cell.substr(0, digits));
  if (!prefix.empty() && prefix != "card" && prefix != "gpu" && prefix != "gpu ") return std::nullopt;
  return parse_int64(cell.substr(digits));
}

// A device that reads itself makes its parts' rows superfluous; one that doesn't is what its parts read.
void keep_wholes(ToolReadings& readings) {
  std::map<ToolIndex, const ToolDevice*> wholes;
  for (const auto& device : readings.devices)
    if (!device.sub_index) wholes.emplace(device.index, &device);
  std::set<ToolIndex> own;
  std::set<ToolIndex> of_parts;
  for (const auto& device : readings.devices) {
    const auto whole = device.sub_index ? wholes.find(device.index) : wholes.end();
    if (whole == wholes.end()) continue;
    if (whole->second->power) own.insert(device.index);
    if (device.power) of_parts.insert(device.index);
  }
  std::erase_if(readings.devices, [&](const ToolDevice& device) {
    return device.sub_index ? own.contains(device.index)
                            : !own.contains(device.index) && of_parts.contains(device.index);
  });
}

std::string_view unquoted(std::string_view cell) {
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"')
    return trim(cell.substr(1, cell.size() - 2));
  return cell;
}

ToolDevice device_of(const Columns& columns, const std::vector<std::string_view>& cells) {
  ToolDevice device;
  if (columns.uuid) device.uuid = unquoted(cells[*columns.uuid]);
  if (device.uuid.size() < 8) device.uuid.clear();  // "N/A" of two cards isn't one identity
  if (columns.name) device.name = unquoted(cells[*columns.name]);
  if (columns.limit) {
    const auto unit = judge_label(columns.names[*columns.limit]).unit;
    set_limit(device, unquoted(cells[*columns.limit]), unit.empty() ? "W" : unit);
  }
  std::vector<Draw> draws;
  draws.reserve(columns.draws.size());
  for (const auto& [column, label] : columns.draws)
    draws.push_back({label.draw_rank,
                     columns.names[column],
                     {unquoted(cells[column]), label.averaged, label.unit.empty() ? "W" : label.unit}});
  set_best_power(device, draws, "no_power_reading_in_this_command");
  return device;
}

}  // namespace

bool has_csv_header(const CsvTable& table, std::string_view text) {
  for (const auto line : lines_of(text)) {
    if (trim(line).empty()) continue;
    if (!contains(line, ",")) return false;
    return columns_of(table, cells_of(line, ',')).speaks_of_power;
  }
  return false;
}

namespace {

// Names again, in whatever order: what tells them from a row, damaged or not, is that they hold no number and
// spell the device or the power out.
bool is_header(const CsvTable& table, const std::vector<std::string_view>& cells) {
  bool spelt_out = false;
  for (const auto cell : cells) {
    if (parse_double(unquoted(cell)) || parse_watts(unquoted(cell), "").watts) return false;
    const auto name = lower(cell);
    spelt_out = spelt_out || ((contains(name, "power") || contains(name, "pwr") || contains(name, "watt")) &&
                              judge_label(cell).power);
  }
  return spelt_out || columns_of(table, cells).index;
}

// Rows of one text under the names that were printed last.
class CsvRows {
 public:
  explicit CsvRows(const CsvTable& table) : table_(table) {}

  void begin_table(Columns columns) {
    const bool draws = !columns.draws.empty();
    const bool identified = columns.index || columns.uuid;
    skipped_ = !draws && !identified && !readings_.devices.empty();
    // Without names for the devices on both sides a new snapshot takes the place of the one before it.
    if (draws && !(identified && (columns_.index || columns_.uuid))) {
      readings_.devices.clear();
      known_.clear();
    }
    has_parts_ = has_parts_ || columns.part;
    columns_ = std::move(columns);
    rows_.clear();
  }

  Status add(std::string_view line, std::size_t at, bool open) {
    const auto cells = cells_of(line, ',');
    const auto number = columns_.index && *columns_.index < cells.size()
                            ? number_in(unquoted(cells[*columns_.index]))
                            : std::nullopt;
    // A row whose device can't be told is no row ("system", warnings between the rows).
    if (skipped_ || (columns_.index && (!number || *number < 0))) return {};
    if (!columns_.index && names_a_whole(cells[0])) return {};
    // Commas within numbers move all that stands behind them, the device's number too.
    if (cells.size() > columns_.names.size() && columns_.index.value_or(0) > 0)
      return layout_error(table_.tool, at, fmt::format("{} cells as the header names", columns_.names.size()),
                          trim(line));
    auto device = read(cells, at, open);
    device.index = number.value_or(static_cast<std::int64_t>(readings_.devices.size()));
    std::int64_t part = -1;
    if (columns_.part && *columns_.part < cells.size())
      part = parse_int64(cells[*columns_.part]).value_or(-1);
    if (part >= 0) device.sub_index = ToolIndex{part};
    const auto identity = number                 ? fmt::format("#{}/{}", *number, part)
                          : !device.uuid.empty() ? device.uuid
                                                 : fmt::format("row {}", at);
    if (!number && device.uuid.empty() && columns_.time && !readings_.devices.empty())
      return layout_error(table_.tool, at,
                          "a column that names the device: rows of several times can't be told apart",
                          trim(line));
    TW_TRY_STATUS(judge_repeat(identity, cells, line, at));
    const auto [place, is_new] = known_.emplace(identity, readings_.devices.size());
    if (is_new) {
      readings_.devices.push_back(std::move(device));
    } else if (auto& before = readings_.devices[place->second]; !columns_.draws.empty() || !before.power) {
      // Columns of other things say nothing of the draw that is known.
      device.index = before.index;
      before = std::move(device);
    }
    return {};
  }

  ToolReadings finish() {
    if (has_parts_) keep_wholes(readings_);
    add_up(readings_);
    return std::move(readings_);
  }

  [[nodiscard]] bool speaks_of_power() const { return columns_.speaks_of_power; }
  [[nodiscard]] bool is_empty() const { return readings_.devices.empty(); }

 private:
  [[nodiscard]] ToolDevice read(const std::vector<std::string_view>& cells, std::size_t at, bool open) const {
    const auto names = columns_.names.size();
    ToolDevice device;
    if (cells.size() != names) {
      device.reason =
          open && cells.size() < names
              ? fmt::format("{}: line {} has {} cells, the header names {}", kTruncated, at, cells.size(),
                            names)
              : fmt::format("garbled: line {} has {} cells, the header names {}", at, cells.size(), names);
      return device;
    }
    device = device_of(columns_, cells);
    if (open && may_be_cut(cells.back()) &&
        std::any_of(columns_.draws.begin(), columns_.draws.end(),
                    [&](const auto& draw) { return draw.first + 1 == cells.size(); })) {
      device.power.reset();
      device.reason = fmt::format("{}: line {} ends within its last number", kTruncated, at);
    }
    return device;
  }

  // Rows of one number that differ in what names a device are two devices, and none may take the other's
  // place.
  Status judge_repeat(const std::string& identity, const std::vector<std::string_view>& cells,
                      std::string_view line, std::size_t at) {
    const auto [before, is_first] = rows_.try_emplace(identity, cells);
    if (is_first) return {};
    std::vector<std::size_t> skip;
    for (const auto column : {columns_.index, columns_.part})
      if (column) skip.push_back(*column);
    const bool other_time = columns_.time && *columns_.time < std::min(cells.size(), before->second.size()) &&
                            cells[*columns_.time] != before->second[*columns_.time];
    const auto told = telling_column(columns_.names, before->second, cells, skip, other_time);
    before->second = cells;
    if (told.empty()) return {};
    return layout_error(
        table_.tool, at,
        fmt::format("one row per device, but '{}' tells two apart that have one number", quotable(told)),
        trim(line));
  }

  const CsvTable& table_;
  Columns columns_;
  std::map<std::string, std::vector<std::string_view>, std::less<>> rows_;  ///< the last one of each identity
  bool has_parts_ = false;
  bool skipped_ = false;  ///< rows that tell neither a device nor a draw
  ToolReadings readings_;
  std::map<std::string, std::size_t, std::less<>> known_;  ///< identity -> place
};

}  // namespace

Result<ToolReadings> parse_csv_table(const CsvTable& table, std::string_view command, std::string_view text) {
  const auto lines = lines_of(text);
  std::size_t first = 0;
  while (first < lines.size() && trim(lines[first]).empty()) ++first;
  CsvRows rows(table);
  if (has_csv_header(table, text))
    rows.begin_table(columns_of(table, cells_of(lines[first++], ',')));
  else
    rows.begin_table(columns_of(table, asked_for(table, command)));
  if (!rows.speaks_of_power())
    return layout_error(table.tool, first + 1, "CSV with a column that names power",
                        first < lines.size() ? trim(lines[first]) : std::string_view{});
  for (std::size_t i = first; i < lines.size(); ++i) {
    if (trim(lines[i]).empty()) continue;
    auto cells = cells_of(lines[i], ',');
    if (is_header(table, cells))
      rows.begin_table(columns_of(table, std::move(cells)));
    else
      TW_TRY_STATUS(rows.add(lines[i], i + 1, i + 1 == lines.size() && is_open(text)));
  }
  if (rows.is_empty())
    return layout_error(table.tool, lines.size(), "a row per device below the names",
                        lines.empty() ? std::string_view{} : trim(lines.back()));
  auto readings = rows.finish();
  if (is_open(text)) readings.total.reset();
  return readings;
}

}  // namespace tidewatt::metering::tools
