// A carbon-intensity series (or a column of weather forecasts) as whole hours, as the forecaster wants it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/units/time.h"

namespace tidewatt::carbon {

/// Means of whole hours without a break: `hours[i]` is [begin + i h, begin + (i + 1) h); nullopt = not known.
struct HourlySeries {
  UtcHour begin{};
  std::vector<std::optional<double>> hours;  ///< of an intensity: [gCO2/kWh]

  [[nodiscard]] UtcHour end() const { return begin + std::chrono::hours{static_cast<long>(hours.size())}; }
};

/// Forecasts of weather (or of load, or of the mix) by the hour they hold for; any unit, each column its own.
struct WeatherTable {
  UtcHour begin{};
  std::vector<std::string> names;
  std::vector<std::vector<std::optional<double>>> columns;  ///< all of one length [columns x hours]
};

/// What was found in a file and put right, in words for a person: "3 hours have no value (first ...)".
using SeriesNotes = std::vector<std::string>;

struct ReadSeries {
  HourlySeries series;
  SeriesNotes notes;
};

struct ReadWeather {
  WeatherTable table;
  SeriesNotes notes;
};

/// Reads `column` of a CSV text whose first column is the time (RFC 3339, seconds may be missing; without a
/// zone it is UTC, which a note says). Steps shorter than an hour become hourly means, longer ones (up to 3
/// h) hold for the step. Rows may be out of order; of two rows for one instant the later row counts, since
/// history is restated. Empty cells, "nan" and words are unknown; negative and absurd values (> 1e5) too.
/// Hours without value at the end are cut off. All of that is told in the notes; so are gaps, stretches
/// of one repeated value, and steps in the level.
/// @error invalid_input  no such column (the known ones are named), no readable row, a time that can't be
/// read,
///                       more than 2,000,000 rows or 20 years
Result<ReadSeries> read_series_csv(std::string_view text, std::string_view column);

/// Reads every numeric column (at most 8) as weather. Values of any sign are kept, beyond 1e9 they are
/// unknown; a row that is 0 in each of several columns is unknown.
/// @error invalid_input  as above
Result<ReadWeather> read_weather_csv(std::string_view text);

/// The hours at which a value stands still as a broken feed does: the same for 8 hours and more, in a series
/// that seldom repeats itself. Told by the past alone, so that an hour's mark never changes with what
/// follows; the first 7 hours of a stretch are therefore not marked. [as many as hours]
std::vector<bool> stuck_hours(const HourlySeries& series);

}  // namespace tidewatt::carbon
