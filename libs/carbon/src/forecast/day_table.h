// A series cut into days that end at the time of issue, without holes: what the methods work on.
#pragma once

#include <span>
#include <vector>

#include "tidewatt/carbon/hourly_series.h"

namespace tidewatt::carbon::forecast {

inline constexpr int kDayHours = 24;
inline constexpr int kHorizon = 96;
inline constexpr int kBlocks = kHorizon / kDayHours;

struct DayTable {
  int days = 0;
  UtcHour begin{};            ///< start of day 0
  std::vector<double> level;  ///< > 0, unknown hours filled from the past     [days x 24, gCO2/kWh]
  std::vector<bool> filled;   ///< that hour was not known
  int weather_columns = 0;
  std::vector<double>
      weather;  ///< unknown hours filled from the past          [columns x (days x 24 + known)]
  int weather_hours = 0;
  int weather_known_hours = 0;  ///< rows of that many hours after issue may be used

  [[nodiscard]] std::span<const double> day(int index) const {
    return std::span{level}.subspan(static_cast<std::size_t>(index) * kDayHours, kDayHours);
  }
  [[nodiscard]] double weather_at(int column, int hour) const {
    return weather[static_cast<std::size_t>(column) * static_cast<std::size_t>(weather_hours) +
                   static_cast<std::size_t>(hour)];
  }
};

/// Days start at `first_hour` of the series. Every filled value depends on earlier hours only: up to 3 hours
/// hold the last value, longer holes repeat the day before.
DayTable make_day_table(const HourlySeries& series, std::size_t first_hour, const WeatherTable* weather,
                        int weather_known_hours);

}  // namespace tidewatt::carbon::forecast
