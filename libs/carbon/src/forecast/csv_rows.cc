#include "csv_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tidewatt::carbon::forecast {
namespace {

constexpr std::size_t kMostRows = 2'000'000;
constexpr std::size_t kMostColumns = 8;
constexpr std::size_t kMostShown = 60;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view trimmed(std::string_view text) {
  const auto drop = [](char c) { return c == ' ' || c == '\r' || c == '\t'; };
  while (!text.empty() && drop(text.front())) text.remove_prefix(1);
  while (!text.empty() && drop(text.back())) text.remove_suffix(1);
  return text;
}

/// For messages: one line of plain ASCII, not endless.
std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kMostShown)) out += c < ' ' ? ' ' : c > '~' ? '?' : c;
  return out;
}

/// The cells of one line; a separator within double quotes parts nothing.
/// @return false: a quote isn't closed, or something stands behind a closed one
bool split(std::string_view line, char separator, std::vector<std::string_view>& out) {
  out.clear();
  for (;;) {
    const auto begin = std::min(line.find_first_not_of(" \t"), line.size());
    std::size_t at = std::string_view::npos;
    if (begin < line.size() && line[begin] == '"') {
      auto close = line.find('"', begin + 1);
      while (close != std::string_view::npos && line.substr(close + 1).starts_with('"'))
        close = line.find('"', close + 2);
      if (close == std::string_view::npos) return false;
      at = line.find(separator, close + 1);
      if (!trimmed(line.substr(close + 1, at == std::string_view::npos ? at : at - close - 1)).empty())
        return false;
      out.push_back(trimmed(line.substr(begin + 1, close - begin - 1)));
    } else {
      at = line.find(separator);
      out.push_back(trimmed(line.substr(0, at)));
    }
    if (at == std::string_view::npos) return true;
    line.remove_prefix(at + 1);
  }
}

/// A number in another spelling than ours: "301,5", "1.234,5", "1 234". Nobody may read it as another number,
/// nor as none.
bool is_foreign_number(std::string_view text) {
  constexpr std::string_view kNoBreakSpace = "\xC2\xA0";
  bool digit = false;
  bool foreign = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c >= '0' && c <= '9') {
      digit = true;
    } else if (c == ',' || c == ' ' || c == '\'' || c == '_') {
      foreign = true;
    } else if (text.substr(i).starts_with(kNoBreakSpace)) {
      foreign = true;
      ++i;
    } else if (c == '.') {
      foreign = foreign || text.find('.', i + 1) != std::string_view::npos;
    } else if (i > 0 || (c != '+' && c != '-')) {
      return false;
    }
  }
  return digit && foreign;
}

tl::unexpected<Error> bad_cell(std::size_t line, std::string_view column, std::string_view cell) {
  return fail(ErrorCode::invalid_input,
              fmt::format("line {}, column \"{}\": \"{}\" is no number", line, shown(column), shown(cell)),
              "write it with a decimal point and without marks between thousands, such as 301.5");
}

std::optional<double> number(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

struct ReadTime {
  UtcTime at;
  bool has_zone = true;
};

/// RFC 3339, also with a space for the T, without seconds, with +0200 for +02:00, and without a zone (UTC).
std::optional<ReadTime> read_time(std::string_view text) {
  constexpr std::size_t kMinutesEnd = 16;  // 2021-07-01T00:00
  if (text.size() < kMinutesEnd) return std::nullopt;
  std::string full{text.substr(0, kMinutesEnd)};
  if (full[10] == ' ') full[10] = 'T';
  auto rest = text.substr(kMinutesEnd);
  if (rest.starts_with(':')) {
    const auto zone_at = rest.find_first_of("Zz+- ", 1);
    full += rest.substr(0, zone_at);
    rest = zone_at == std::string_view::npos ? std::string_view{} : rest.substr(zone_at);
  } else {
    full += ":00";
  }
  rest = trimmed(rest);
  const bool has_zone = !rest.empty();
  if (!has_zone || rest == "z" || rest == "UTC")
    full += 'Z';
  else if (rest.size() == 5 && rest.find(':') == std::string_view::npos)
    full.append(rest.substr(0, 3)).append(":").append(rest.substr(3));
  else if (rest.size() == 3)
    full.append(rest).append(":00");
  else
    full += rest;
  const auto at = parse_rfc3339(full);
  if (!at) return std::nullopt;
  return ReadTime{*at, has_zone};
}

/// Which columns of the header are meant.
Result<std::vector<std::size_t>> choose(const std::vector<std::string_view>& header,
                                        std::string_view column) {
  std::vector<std::size_t> chosen;
  std::string known;
  for (std::size_t i = 1; i < header.size(); ++i) {
    if (column.empty() ? chosen.size() < kMostColumns : header[i] == column) chosen.push_back(i);
    if (i <= 20) known += (known.empty() ? "" : ", ") + shown(header[i]);
  }
  if (chosen.empty())
    return fail(ErrorCode::invalid_input,
                column.empty() ? "there is no column beside the time"
                               : fmt::format("there is no column \"{}\"", shown(column)),
                known.empty() ? "the first line must name the columns, the first one holds the time"
                              : "the file has: " + known);
  if (!column.empty()) chosen.resize(1);
  return chosen;
}

}  // namespace

Result<CsvRows> read_csv_rows(std::string_view text, std::string_view column) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  CsvRows out;
  std::vector<std::size_t> chosen;
  std::vector<std::string_view> cells;
  std::size_t columns = 0;  ///< that the header names
  char separator = ',';
  for (std::size_t line_number = 1; !text.empty(); ++line_number) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (trimmed(line).empty()) continue;
    if (chosen.empty()) {
      for (const char candidate : {',', ';', '\t'})
        if (line.find(candidate) != std::string_view::npos) {
          separator = candidate;
          break;
        }
    }
    if (!split(line.substr(0, line.find_last_not_of('\r') + 1), separator, cells))
      return fail(ErrorCode::invalid_input, fmt::format("line {}: a quote isn't closed", line_number),
                  "close it, or write the line without quotes");
    if (chosen.empty()) {
      TW_TRY(chosen, choose(cells, column));
      columns = cells.size();
      for (const std::size_t index : chosen) out.names.emplace_back(cells[index]);
      continue;
    }
    while (cells.size() > columns && cells.back().empty()) cells.pop_back();
    if (cells.size() > columns)
      return fail(
          ErrorCode::invalid_input,
          fmt::format("line {}: {} cells where the first line names {}", line_number, cells.size(), columns),
          fmt::format("a \"{}\" within a number or a name parts it: write numbers with a decimal point",
                      separator == '\t' ? "tab" : std::string(1, separator)));
    const auto time = read_time(cells.front());
    if (!time)
      return fail(ErrorCode::invalid_input,
                  fmt::format("line {}: \"{}\" is no time", line_number, shown(cells.front())),
                  "times look like 2026-03-29T00:00Z");
    if (out.rows.size() == kMostRows)
      return fail(ErrorCode::invalid_input, fmt::format("more than {} rows", kMostRows),
                  "give the years that matter only");
    if (!time->has_zone) ++out.without_zone;
    auto& row = out.rows.emplace_back(TimedRow{time->at, line_number, {}});
    for (const std::size_t index : chosen) {
      const auto cell = index < cells.size() ? cells[index] : std::string_view{};
      row.values.push_back(number(cell));
      if (!row.values.back() && is_foreign_number(cell))
        return bad_cell(line_number, out.names[row.values.size() - 1], cell);
      if (!row.values.back() && !cell.empty()) ++out.unreadable_cells;
    }
  }
  if (chosen.empty())
    return fail(ErrorCode::invalid_input, "the file is empty", "its first line must name the columns");
  if (out.rows.empty()) return fail(ErrorCode::invalid_input, "the file has no row below its header");
  return out;
}

}  // namespace tidewatt::carbon::forecast
