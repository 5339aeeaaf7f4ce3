#include "tidewatt/tasks/epoch_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "shown.h"
#include "tidewatt/units/text.h"

namespace tidewatt::tasks {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kColumnsHint = "the first line must name epoch,energy_j[,seconds]";
constexpr std::size_t kMostColumns = 256;
constexpr double kLargestWholeDouble = 9e15;

std::string lower(std::string_view text) {
  std::string out{text};
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

std::string_view unquoted(std::string_view cell) {
  cell = trim(cell);
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"')
    cell = trim(cell.substr(1, cell.size() - 2));
  return cell;
}

/// Numbers hold no commas in quotes, so a comma always parts cells.
std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  while (cells.size() < kMostColumns) {
    const auto comma = line.find(',');
    cells.push_back(unquoted(line.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    line.remove_prefix(comma + 1);
  }
  return cells;
}

bool says_unknown(std::string_view cell) {
  constexpr std::array<std::string_view, 7> kWords{"", "nan", "na", "n/a", "null", "none", "-"};
  return cell.size() <= 4 && std::find(kWords.begin(), kWords.end(), lower(cell)) != kWords.end();
}

struct Columns {
  std::size_t epoch = 0;
  std::size_t energy = 0;
  std::optional<std::size_t> seconds;
  std::size_t count = 0;
};

Result<Columns> columns_of(std::string_view header) {
  const auto names = cells_of(header);
  const auto find = [&](std::string_view wanted) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < names.size(); ++i)
      if (lower(names[i]) == wanted) return i;
    return std::nullopt;
  };
  const auto epoch = find("epoch");
  const auto energy = find("energy_j");
  if (!epoch || !energy)
    return fail(
        ErrorCode::invalid_input,
        fmt::format("line 1: no column \"{}\" in \"{}\"", epoch ? "energy_j" : "epoch", shown(header)),
        std::string{kColumnsHint});
  for (const auto* twice : {"epoch", "energy_j", "seconds"})
    if (std::count_if(names.begin(), names.end(), [&](auto name) { return lower(name) == twice; }) > 1)
      return fail(ErrorCode::invalid_input, fmt::format("line 1: column \"{}\" is there twice", twice),
                  std::string{kColumnsHint});
  return Columns{*epoch, *energy, find("seconds"), names.size()};
}

Result<std::optional<double>> amount(std::string_view cell, std::string_view column, std::size_t line,
                                     double most) {
  if (says_unknown(cell)) return std::nullopt;
  const auto value = parse_double(cell);
  if (!value)
    return fail(ErrorCode::invalid_input,
                fmt::format("line {}: {} \"{}\" is no number", line, column, shown(cell)),
                "leave the cell empty if the value isn't known");
  if (*value < 0 || *value > most)
    return fail(ErrorCode::invalid_input,
                fmt::format("line {}: {} {} is not within 0 to {}", line, column, shown(cell), most),
                "each row holds one epoch's own amount");
  return *value;
}

Result<std::int64_t> epoch_number(std::string_view cell, std::size_t line) {
  if (const auto whole = parse_int64(cell);
      whole && *whole >= 0 && *whole <= std::int64_t{9'000'000'000'000'000})
    return *whole;
  // Some writers print whole numbers as 3.0.
  const auto value = parse_double(cell);
  if (!value || *value < 0 || *value > kLargestWholeDouble || std::floor(*value) != *value)
    return fail(ErrorCode::invalid_input,
                fmt::format("line {}: epoch \"{}\" is no whole number from 0", line, shown(cell)),
                "number the epochs or blocks 1, 2, 3");
  return static_cast<std::int64_t>(*value);
}

Result<Epoch> epoch_of(std::string_view line, std::size_t number, const Columns& columns) {
  const auto cells = cells_of(line);
  // A cell short could be any of them: refused rather than guessed at.
  if (cells.size() != columns.count)
    return fail(
        ErrorCode::invalid_input,
        fmt::format("line {}: {} cells where the first line has {}", number, cells.size(), columns.count),
        "write the row anew or take it out");
  Epoch epoch;
  TW_TRY(epoch.number, epoch_number(cells[columns.epoch], number));
  TW_TRY(const auto energy, amount(cells[columns.energy], "energy_j", number, kMostEpochJoules));
  if (energy) epoch.energy = Joules{*energy};
  if (!columns.seconds) return epoch;
  TW_TRY(const auto seconds, amount(cells[*columns.seconds], "seconds", number, kMostEpochSeconds));
  if (seconds) epoch.seconds = Seconds{*seconds};
  return epoch;
}

void note_order(const std::vector<Epoch>& epochs, std::vector<std::string>& notes) {
  std::size_t back = 0;
  std::size_t skips = 0;
  for (std::size_t i = 1; i < epochs.size(); ++i) {
    if (epochs[i].number <= epochs[i - 1].number) ++back;
    if (epochs[i].number > epochs[i - 1].number + 1) ++skips;
  }
  if (back > 0)
    notes.push_back(fmt::format(
        "the epoch counts back {} time{}: each row is taken as work done (a restart from a checkpoint)", back,
        back == 1 ? "" : "s"));
  if (skips > 0)
    notes.push_back(fmt::format("the epoch skips {} time{}: what is not in the file is not known", skips,
                                skips == 1 ? "" : "s"));
}

}  // namespace

Result<EpochTable> read_epoch_csv(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  EpochTable table;
  std::optional<Columns> columns;
  std::size_t unknown = 0;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const auto line = trim(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#') continue;
    if (!columns) {
      TW_TRY(columns, columns_of(line));
      continue;
    }
    if (table.epochs.size() == kMostEpochRows)
      return fail(ErrorCode::invalid_input, fmt::format("more than {} rows", kMostEpochRows),
                  "cut the file to the epochs that matter");
    TW_TRY(const Epoch epoch, epoch_of(line, number, *columns));
    if (!epoch.energy) ++unknown;
    table.epochs.push_back(epoch);
  }
  if (!columns) return fail(ErrorCode::invalid_input, "the file is empty", std::string{kColumnsHint});
  if (table.epochs.empty())
    return fail(ErrorCode::invalid_input, "no epoch after the first line", "one row an epoch is needed");
  if (unknown > 0)
    table.notes.push_back(
        fmt::format("{} row{} without energy: unknown, left out", unknown, unknown == 1 ? "" : "s"));
  note_order(table.epochs, table.notes);
  return table;
}

}  // namespace tidewatt::tasks
