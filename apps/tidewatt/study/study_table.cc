#include "study_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "../command.h"
#include "../gzip_text.h"
#include "tidewatt/units/text.h"

namespace tidewatt::cli {
namespace {

using Json = nlohmann::json;

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    const auto comma = line.find(',');
    cells.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

/// A table for people: header, rows of words and numbers.
void print_rows(const std::vector<std::pair<std::string, int>>& columns, const Json& rows) {
  for (const auto& [name, digits] : columns)
    fmt::print("{:>{}}", name, std::max<std::size_t>(14, name.size() + 2));
  fmt::print("\n");
  for (const auto& row : rows) {
    for (const auto& [name, digits] : columns) {
      const auto& value = row[name];
      const auto width = std::max<std::size_t>(14, name.size() + 2);
      if (value.is_number_float())
        fmt::print("{:>{}.{}f}", value.get<double>(), width, digits);
      else if (value.is_string())
        fmt::print("{:>{}}", value.get<std::string>(), width);
      else
        fmt::print("{:>{}}", value.is_null() ? "—" : value.dump(), width);
    }
    fmt::print("\n");
  }
}

}  // namespace

Result<double> StudyTable::number(std::size_t row, std::string_view column) const {
  const auto cell = at(row, column);
  const auto value = parse_double(cell);
  if (!value || !std::isfinite(*value))
    return fail(ErrorCode::invalid_input,
                fmt::format("{}: row {}: {} \"{}\" is no number", path, row + 2, column, cell));
  return *value;
}

std::string_view StudyTable::at(std::size_t row, std::string_view column) const {
  const auto found = columns.find(column);
  return found == columns.end() || found->second >= rows[row].size() ? std::string_view{}
                                                                     : rows[row][found->second];
}

Result<UtcTime> StudyTable::time(std::size_t row, std::string_view column) const {
  auto shown = std::string{at(row, column)};
  constexpr std::size_t kWithoutSeconds = 17;
  if (shown.size() == kWithoutSeconds && shown.back() == 'Z') shown.insert(kWithoutSeconds - 1, ":00");
  const auto found = parse_rfc3339(shown);
  if (!found)
    return fail(ErrorCode::invalid_input,
                fmt::format("{}: row {}: {} \"{}\" is no time such as 2020-01-01T00:00:00Z", path, row + 2,
                            column, shown));
  return *found;
}

Result<std::vector<double>> StudyTable::numbers(std::string_view column) const {
  std::vector<double> values;
  values.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    TW_TRY(const auto value, number(row, column));
    values.push_back(value);
  }
  return values;
}

Result<std::unique_ptr<StudyTable>> read_study_table(const std::string& path,
                                                     const std::vector<std::string>& needed) {
  auto table = std::make_unique<StudyTable>();
  table->path = path;
  TW_TRY(table->text, read_text_or_gzip(path));
  std::string_view rest{table->text};
  bool first = true;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    auto line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    auto cells = cells_of(line);
    if (!first) {
      table->rows.push_back(std::move(cells));
      continue;
    }
    first = false;
    for (std::size_t i = 0; i < cells.size(); ++i) table->columns.emplace(std::string{cells[i]}, i);
  }
  for (const auto& name : needed)
    if (!table->columns.contains(name))
      return fail(ErrorCode::invalid_input, fmt::format("{}: it has no column {}", path, name));
  return table;
}

int print_study(const StudyOptions& options, const std::string& name, const Json& head, const Json& rows,
                const std::vector<std::pair<std::string, int>>& columns) {
  Json answer{{"study", name}};
  answer.update(head);
  answer["rows"] = rows;
  if (options.json) {
    fmt::print("{}\n", answer.dump(2));
    return kOk;
  }
  print_rows(columns, rows);
  for (const auto& [key, value] : head.items()) fmt::print("{}: {}\n", key, value.dump());
  return kOk;
}

}  // namespace tidewatt::cli
