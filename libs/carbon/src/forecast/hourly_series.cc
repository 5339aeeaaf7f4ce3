#include "tidewatt/carbon/hourly_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "csv_rows.h"
#include "level_shift.h"

namespace tidewatt::carbon {
namespace {

using forecast::CsvRows;
using forecast::TimedRow;

constexpr double kMostIntensity = 1e5;
constexpr double kMostWeather = 1e9;
constexpr Milliseconds kHour = std::chrono::hours{1};
constexpr Milliseconds kLongestStep = std::chrono::hours{3};
constexpr std::int64_t kMostHours = std::int64_t{24} * 366 * 20;
constexpr std::size_t kStuckHours = 8;
constexpr std::size_t kLeastForStuck = 168;
constexpr double kSeldom = 0.05;

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

/// Sorts the rows and leaves one per instant.
void put_in_order(CsvRows& read, SeriesNotes& notes) {
  auto& rows = read.rows;
  const auto earlier = [](const TimedRow& a, const TimedRow& b) { return a.at < b.at; };
  std::size_t misplaced = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) misplaced += earlier(rows[i], rows[i - 1]) ? 1U : 0U;
  if (misplaced > 0)
    notes.push_back(counted(misplaced, "row was out of order", "rows were out of order") + "; sorted");
  std::stable_sort(rows.begin(), rows.end(), earlier);
  std::vector<TimedRow> single;
  std::size_t doubled = 0;
  UtcTime first{};
  for (auto& row : rows) {
    if (!single.empty() && single.back().at == row.at) {
      if (doubled++ == 0) first = row.at;
      single.back() = std::move(row);
    } else {
      single.push_back(std::move(row));
    }
  }
  rows = std::move(single);
  if (read.without_zone > 0) notes.emplace_back("the times name no zone; read as UTC");
  if (doubled > 0)
    notes.push_back(
        counted(doubled, "row repeats an instant", "rows repeat an instant") +
        fmt::format(" (first {}); the later row of the file counts", format_rfc3339_short(first)) +
        (read.without_zone > 0 ? ", or the times are local and these are the hours that come twice in autumn"
                               : ""));
}

/// The step of each row: the distance to its nearer neighbour, at most 3 h.
std::vector<Milliseconds> steps_of(const std::vector<TimedRow>& rows) {
  std::vector<Milliseconds> steps(rows.size(), kHour);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Milliseconds step = rows.size() == 1 ? kHour : kLongestStep;
    if (i > 0) step = std::min(step, rows[i].at - rows[i - 1].at);
    if (i + 1 < rows.size()) step = std::min(step, rows[i + 1].at - rows[i].at);
    steps[i] = step;
  }
  return steps;
}

void note_steps(const std::vector<TimedRow>& rows, const std::vector<Milliseconds>& steps,
                SeriesNotes& notes) {
  const auto minutes = [](Milliseconds step) {
    return std::chrono::duration_cast<std::chrono::minutes>(step).count();
  };
  // A change is one that holds for a day.
  Milliseconds now = steps.front();
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (steps[i] == now) continue;
    std::size_t same = i;
    while (same < rows.size() && steps[same] == steps[i] && rows[same].at - rows[i].at < 24 * kHour) ++same;
    if (same == rows.size() || rows[same].at - rows[i].at < 24 * kHour) continue;
    notes.push_back(fmt::format("the step changes from {} to {} min at {}", minutes(now), minutes(steps[i]),
                                format_rfc3339_short(rows[i].at)));
    now = steps[i];
  }
  if (notes.empty() && now != kHour)
    notes.push_back(fmt::format("the step is {} min; {}", minutes(now),
                                now < kHour ? "hourly means were taken" : "each value holds for its step"));
}

struct Accumulated {
  UtcHour begin{};
  std::vector<std::vector<std::optional<double>>> columns;
};

/// Means of whole hours; an hour is known if at least half of it is.
Result<Accumulated> by_the_hour(const CsvRows& read, const std::vector<Milliseconds>& steps) {
  Accumulated out;
  out.begin = hour_of(read.rows.front().at);
  const auto last = read.rows.back().at + steps.back();
  const auto hours = (std::chrono::ceil<std::chrono::hours>(last) - out.begin).count();
  if (hours > kMostHours)
    return fail(ErrorCode::invalid_input,
                fmt::format("the times reach from {} to {}", format_rfc3339_short(read.rows.front().at),
                            format_rfc3339_short(read.rows.back().at)),
                "20 years at most can be read; is a time wrong?");
  for (std::size_t column = 0; column < read.names.size(); ++column) {
    std::vector<double> sums(static_cast<std::size_t>(hours), 0.0);
    std::vector<double> covered(static_cast<std::size_t>(hours), 0.0);
    for (std::size_t i = 0; i < read.rows.size(); ++i) {
      const auto& value = read.rows[i].values[column];
      if (!value) continue;
      const UtcTime end = read.rows[i].at + steps[i];
      for (UtcTime at = read.rows[i].at; at < end;) {
        const UtcHour hour = hour_of(at);
        const UtcTime until = std::min(end, start_of(hour + std::chrono::hours{1}));
        const auto index = static_cast<std::size_t>((hour - out.begin).count());
        const auto share = static_cast<double>((until - at).count()) / static_cast<double>(kHour.count());
        sums[index] += *value * share;
        covered[index] += share;
        at = until;
      }
    }
    auto& known = out.columns.emplace_back(static_cast<std::size_t>(hours));
    for (std::size_t i = 0; i < known.size(); ++i)
      if (covered[i] >= 0.5 - 1e-9) known[i] = sums[i] / covered[i];
  }
  return out;
}

void note_gaps(const HourlySeries& series, SeriesNotes& notes) {
  std::size_t unknown = 0;
  std::size_t longest = 0;
  std::size_t longest_end = 0;
  std::size_t run = 0;
  for (std::size_t i = 0; i < series.hours.size(); ++i) {
    run = series.hours[i] ? 0 : run + 1;
    unknown += series.hours[i] ? 0U : 1U;
    if (run > longest) {
      longest = run;
      longest_end = i + 1;
    }
  }
  if (unknown == 0) return;
  const auto from = series.begin + std::chrono::hours{static_cast<long>(longest_end - longest)};
  notes.push_back(fmt::format("{} no value (the longest gap: {} h from {})",
                              counted(unknown, "hour has", "hours have"), longest,
                              format_rfc3339_short(start_of(from))));
}

void note_stuck(const HourlySeries& series, SeriesNotes& notes) {
  const auto stuck = stuck_hours(series);
  const auto first = std::find(stuck.begin(), stuck.end(), true);
  if (first == stuck.end()) return;
  const auto at = series.begin + std::chrono::hours{first - stuck.begin()};
  const auto count = static_cast<std::size_t>(std::count(stuck.begin(), stuck.end(), true));
  notes.push_back(fmt::format("{} the value of the {} h before (first {}); not learnt from",
                              counted(count, "hour repeats", "hours repeat"), kStuckHours - 1,
                              format_rfc3339_short(start_of(at))));
}

void note_shifts(const HourlySeries& series, SeriesNotes& notes) {
  const auto shifts = forecast::level_shifts(series);
  if (shifts.empty()) return;
  notes.push_back(fmt::format(
      "the level changes by a factor of {:.2f} at {}{}", shifts.front().factor,
      format_rfc3339_short(start_of(shifts.front().at)),
      shifts.size() > 1 ? fmt::format(", and {} more", counted(shifts.size() - 1, "time", "times")) : ""));
}

}  // namespace

Result<ReadSeries> read_series_csv(std::string_view text, std::string_view column) {
  if (column.empty())
    return fail(ErrorCode::invalid_input, "no column is named", "name the intensity's column");
  TW_TRY(auto read, forecast::read_csv_rows(text, column));
  ReadSeries out;
  std::size_t absurd = 0;
  std::size_t known = 0;
  for (auto& row : read.rows) {
    auto& value = row.values.front();
    if (value && (*value < 0 || *value > kMostIntensity)) {
      value.reset();
      ++absurd;
    }
    known += value ? 1U : 0U;
  }
  if (known == 0)
    return fail(ErrorCode::invalid_input,
                fmt::format("column \"{}\" holds no number in 0..100000", read.names.front()),
                "is it the intensity in gCO2/kWh?");
  put_in_order(read, out.notes);
  const auto steps = steps_of(read.rows);
  SeriesNotes of_steps;
  note_steps(read.rows, steps, of_steps);
  out.notes.insert(out.notes.end(), of_steps.begin(), of_steps.end());
  if (absurd > 0)
    out.notes.push_back(counted(absurd, "value is", "values are") + " below 0 or above 100000; not used");
  if (read.unreadable_cells > 0)
    out.notes.push_back(counted(read.unreadable_cells, "cell is", "cells are") + " no number; not used");
  TW_TRY(auto hours, by_the_hour(read, steps));
  out.series = {hours.begin, std::move(hours.columns.front())};
  // Rows without value at the end are hours that haven't come yet.
  const auto whole = out.series.hours.size();
  while (!out.series.hours.empty() && !out.series.hours.back()) out.series.hours.pop_back();
  if (out.series.hours.empty())
    return fail(ErrorCode::invalid_input,
                fmt::format("column \"{}\" has no hour of which half is known", read.names.front()),
                "give a series with fewer gaps");
  if (const auto cut = whole - out.series.hours.size(); cut > 0)
    out.notes.push_back(counted(cut, "hour", "hours") +
                        " without value at the end were left out; the history ends at " +
                        format_rfc3339_short(start_of(out.series.end())));
  note_gaps(out.series, out.notes);
  note_stuck(out.series, out.notes);
  note_shifts(out.series, out.notes);
  return out;
}

Result<ReadWeather> read_weather_csv(std::string_view text) {
  TW_TRY(auto read, forecast::read_csv_rows(text, {}));
  ReadWeather out;
  std::size_t empty_rows = 0;
  for (auto& row : read.rows) {
    for (auto& value : row.values)
      if (value && std::abs(*value) > kMostWeather) value.reset();
    const bool all_zero =
        std::all_of(row.values.begin(), row.values.end(), [](const auto& value) { return value == 0.0; });
    if (!all_zero || row.values.size() < 2) continue;
    for (auto& value : row.values) value.reset();
    ++empty_rows;
  }
  SeriesNotes order;
  put_in_order(read, order);
  for (const auto& note : order) out.notes.push_back("weather: " + note);
  if (empty_rows > 0)
    out.notes.push_back("weather: " + counted(empty_rows, "row is", "rows are") +
                        " 0 in each column; not used");
  const auto steps = steps_of(read.rows);
  TW_TRY(auto hours, by_the_hour(read, steps));
  out.table.begin = hours.begin;
  for (std::size_t i = 0; i < read.names.size(); ++i) {
    const auto& column = hours.columns[i];
    const bool any =
        std::any_of(column.begin(), column.end(), [](const auto& value) { return value.has_value(); });
    if (!any) {
      out.notes.push_back(fmt::format("weather: column \"{}\" holds no number; not used", read.names[i]));
      continue;
    }
    out.table.names.push_back(read.names[i]);
    out.table.columns.push_back(column);
  }
  if (out.table.columns.empty())
    return fail(ErrorCode::invalid_input, "no column of the weather holds numbers",
                "name the columns in the first line, the time in the first one");
  return out;
}

std::vector<bool> stuck_hours(const HourlySeries& series) {
  std::vector<bool> stuck(series.hours.size(), false);
  std::size_t run = 1;      // hours with this value, up to now
  std::size_t repeats = 0;  // outside of stretches, as known before this one
  std::size_t pending = 0;  // repeats of the present stretch
  for (std::size_t i = 1; i < series.hours.size(); ++i) {
    const auto& value = series.hours[i];
    if (value && value == series.hours[i - 1]) {
      ++run;
      ++pending;
    } else {
      if (run < kStuckHours) repeats += pending;
      run = 1;
      pending = 0;
    }
    stuck[i] = run >= kStuckHours && i >= kLeastForStuck + run &&
               static_cast<double>(repeats) < kSeldom * static_cast<double>(i);
  }
  return stuck;
}

}  // namespace tidewatt::carbon
