#include "signals.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "tidewatt/units/text.h"

namespace tidewatt::planning {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct Row {
  UtcTime at;
  std::optional<double> value;
};

std::string_view unquoted(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return trim(text);
}

struct Fields {
  std::string_view first;
  std::optional<std::string_view> second;
  std::ptrdiff_t commas = 0;
};

/// The fields `column` and 0 of a line. Numbers and times hold no comma, so that one in quotes leaves no
/// number.
Fields fields_of(std::string_view line, std::size_t column = 1) {
  Fields fields;
  fields.commas = std::count(line.begin(), line.end(), ',');
  const auto comma = line.find(',');
  fields.first = unquoted(line.substr(0, comma));
  if (comma == std::string_view::npos) return fields;
  auto rest = line.substr(comma + 1);
  for (std::size_t i = 1; i < column; ++i) {
    const auto next = rest.find(',');
    if (next == std::string_view::npos) return fields;
    rest.remove_prefix(next + 1);
  }
  fields.second = unquoted(rest.substr(0, rest.find(',')));
  return fields;
}

tl::unexpected<Error> bad_line(std::size_t number, const std::string& what) {
  return fail(ErrorCode::invalid_input, "line " + std::to_string(number) + ": " + what);
}

Result<Row> parse_row(std::string_view line, std::size_t number, std::ptrdiff_t commas, std::size_t column) {
  const auto fields = fields_of(line, column);
  const auto& [time_text, value_text, found] = fields;
  if (found > commas && line.find('"') == std::string_view::npos)
    return bad_line(number, std::to_string(found + 1) + " fields where the header names " +
                                std::to_string(commas + 1) +
                                "; write gco2_per_kwh with a decimal point, such as 301.5");
  const auto at = parse_rfc3339(time_text);
  if (!at)
    return bad_line(
        number, "\"" + std::string{time_text.substr(0, 40)} + "\" is no time such as 2026-02-03T00:00:00Z");
  if (!value_text && column > 1) return Row{*at, std::nullopt};
  if (!value_text) return bad_line(number, "has no second column");
  Row row{*at, std::nullopt};
  if (value_text->empty()) return row;
  row.value = parse_double(*value_text);
  if (!row.value || *row.value < 0)
    return bad_line(number,
                    "\"" + std::string{value_text->substr(0, 40)} + "\" is no intensity in gCO2e/kWh");
  return row;
}

/// Sorted by time; of rows with one start the last.
Result<std::vector<Row>> parse_rows(std::string_view text, std::size_t column = 1) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<Row> rows;
  std::size_t number = 0;
  std::ptrdiff_t commas = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = trim(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    ++number;
    if (number == 1) {
      const auto header = fields_of(line);
      commas = header.commas;
      if (header.first != "start_utc" || header.second != "gco2_per_kwh")
        return bad_line(1, "the header must begin with start_utc,gco2_per_kwh");
      continue;
    }
    if (line.empty()) continue;
    TW_TRY(const Row row, parse_row(line, number, commas, column));
    rows.push_back(row);
  }
  if (number == 0)
    return fail(ErrorCode::invalid_input, "is empty; it needs a header start_utc,gco2_per_kwh");
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.at < b.at; });
  std::vector<Row> unique;
  for (const auto& row : rows) {
    if (!unique.empty() && unique.back().at == row.at)
      unique.back() = row;
    else
      unique.push_back(row);
  }
  return unique;
}

/// The most frequent difference between neighbours; of equally frequent ones the smallest.
Milliseconds step_of(const std::vector<Row>& rows, Milliseconds otherwise) {
  std::map<Milliseconds, std::size_t> seen;
  for (std::size_t i = 1; i < rows.size(); ++i) ++seen[rows[i].at - rows[i - 1].at];
  Milliseconds best = otherwise;
  std::size_t most = 0;
  for (const auto& [step, times] : seen)
    if (times > most) {
      most = times;
      best = step;
    }
  return best;
}

}  // namespace

void fill_gaps(const Series& raw, std::size_t most, Zone& zone) {
  const auto size = raw.size();
  zone.ci.assign(size, 0);
  zone.known.assign(size, Known::unknown);
  for (std::size_t i = 0; i < size;) {
    if (raw[i]) {
      zone.ci[i] = *raw[i];
      zone.known[i++] = Known::known;
      continue;
    }
    auto end = i;
    while (end < size && !raw[end]) ++end;
    if (i > 0 && end < size && end - i <= most) {
      const double from = *raw[i - 1];
      const double to = *raw[end];
      for (auto k = i; k < end; ++k) {
        zone.ci[k] = from + (to - from) * static_cast<double>(k - i + 1) / static_cast<double>(end - i + 1);
        zone.known[k] = Known::interpolated;
      }
    }
    i = end;
  }
}

namespace {

/// The slots' time-weighted means; a slot that isn't wholly covered is unknown.
Series means(const std::vector<Row>& rows, Milliseconds step, UtcTime start, Milliseconds slot_length,
             std::size_t slots) {
  std::vector<double> sum(slots, 0);
  std::vector<Milliseconds> covered(slots, Milliseconds{0});
  const auto horizon = start + slot_length * static_cast<std::int64_t>(slots);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].value) continue;
    auto begin = std::max(rows[i].at, start);
    auto end = std::min(rows[i].at + step, horizon);
    if (i + 1 < rows.size()) end = std::min(end, rows[i + 1].at);
    while (begin < end) {
      const auto k = static_cast<std::size_t>((begin - start) / slot_length);
      const auto until = std::min(end, start + slot_length * static_cast<std::int64_t>(k + 1));
      sum[k] += *rows[i].value * static_cast<double>((until - begin).count());
      covered[k] += until - begin;
      begin = until;
    }
  }
  Series series;
  for (std::size_t k = 0; k < slots; ++k)
    series.push_back(covered[k] == slot_length
                         ? std::optional<double>{sum[k] / static_cast<double>(slot_length.count())}
                         : std::nullopt);
  return series;
}

/// The place of a column in a CSV's header.
std::optional<std::size_t> column_of(std::string_view text, std::string_view name) {
  auto header = text.substr(0, text.find('\n'));
  for (std::size_t place = 0;; ++place) {
    const auto comma = header.find(',');
    if (unquoted(header.substr(0, comma)) == name) return place;
    if (comma == std::string_view::npos) return std::nullopt;
    header.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<Series> series_from_csv(std::string_view text, UtcTime start, Minute slot, std::size_t most_slots) {
  TW_TRY(const auto rows, parse_rows(text));
  if (rows.empty()) return Series{};
  const Milliseconds slot_length = std::chrono::minutes{slot};
  const auto step = step_of(rows, slot_length);
  const auto last = rows.back().at + step;
  if (last <= start) return Series{};
  const auto slots = static_cast<std::size_t>((last - start + slot_length - Milliseconds{1}) / slot_length);
  if (slots > most_slots)
    return fail(ErrorCode::invalid_input, "reaches " + std::to_string(slots) +
                                              " slots past the start; at most " + std::to_string(most_slots));
  return means(rows, step, start, slot_length, slots);
}

Result<std::optional<ForecastPast>> past_from_csv(std::string_view text, UtcTime start, Minute slot) {
  const auto place = column_of(text, kForeseenColumn);
  constexpr Minute kLongestSlot = 60;
  if (!place || *place < 2 || slot > kLongestSlot) return std::nullopt;
  TW_TRY(const auto actual_rows, parse_rows(text));
  TW_TRY(const auto foreseen_rows, parse_rows(text, *place));
  const Milliseconds slot_length = std::chrono::minutes{slot};
  const auto slots = static_cast<std::size_t>(static_cast<Minute>(kPastDays) * Minute{24 * 60} / slot);
  const auto from = start - slot_length * static_cast<std::int64_t>(slots);
  const auto actual = means(actual_rows, step_of(actual_rows, slot_length), from, slot_length, slots);
  const auto foreseen = means(foreseen_rows, step_of(foreseen_rows, slot_length), from, slot_length, slots);
  // Without a hole, up to now.
  auto first = slots;
  while (first > 0 && actual[first - 1] && foreseen[first - 1]) --first;
  if (first == slots) return std::nullopt;
  ForecastPast past;
  for (auto k = first; k < slots; ++k) {
    past.actual.push_back(*actual[k]);
    past.foreseen.push_back(*foreseen[k]);
  }
  return past;
}

}  // namespace tidewatt::planning
