#include "day_table.h"

#include <algorithm>
#include <optional>

namespace tidewatt::carbon::forecast {
namespace {

constexpr int kHoldHours = 3;
// Logarithms of values near 0 would outweigh all else.
constexpr double kFloorOfMean = 0.02;
constexpr double kSmallest = 1e-3;

/// The first known values stand for what is unknown before them.
double first_known(const std::vector<std::optional<double>>& values, std::size_t from, double otherwise) {
  for (std::size_t i = from; i < values.size(); ++i)
    if (values[i]) return *values[i];
  return otherwise;
}

void fill_levels(const HourlySeries& series, std::size_t first_hour, DayTable& table) {
  const auto stuck = stuck_hours(series);
  const auto hours = static_cast<std::size_t>(table.days) * kDayHours;
  table.level.resize(hours);
  table.filled.assign(hours, false);
  double last = first_known(series.hours, first_hour, 1.0);
  double mean = last;
  int since_known = kHoldHours;
  for (std::size_t i = 0; i < hours; ++i) {
    const auto& value = series.hours[first_hour + i];
    const bool known = value && !stuck[first_hour + i];
    since_known = known ? 0 : since_known + 1;
    table.filled[i] = !known;
    double use = last;
    if (known)
      use = *value;
    else if (since_known > kHoldHours && i >= kDayHours)
      use = table.level[i - kDayHours];
    use = std::max({use, kFloorOfMean * mean, kSmallest});
    mean += (use - mean) / (28.0 * kDayHours);
    table.level[i] = last = use;
  }
}

void fill_weather(const WeatherTable& weather, DayTable& table) {
  table.weather_columns = static_cast<int>(weather.columns.size());
  table.weather_hours = table.days * kDayHours + table.weather_known_hours;
  const auto hours = static_cast<std::size_t>(table.weather_hours);
  table.weather.resize(weather.columns.size() * hours);
  const auto shift = (table.begin - weather.begin).count();
  for (std::size_t c = 0; c < weather.columns.size(); ++c) {
    const auto& column = weather.columns[c];
    double* out = table.weather.data() + c * hours;
    const auto from = static_cast<std::size_t>(std::max<std::int64_t>(shift, 0));
    double last = from < column.size() ? first_known(column, from, 0.0) : 0.0;
    int since_known = kHoldHours;
    for (std::size_t i = 0; i < hours; ++i) {
      const auto at = shift + static_cast<std::int64_t>(i);
      const bool known = at >= 0 && at < static_cast<std::int64_t>(column.size()) &&
                         column[static_cast<std::size_t>(at)].has_value();
      since_known = known ? 0 : since_known + 1;
      if (known)
        last = *column[static_cast<std::size_t>(at)];
      else if (since_known > kHoldHours && i >= kDayHours)
        last = out[i - kDayHours];
      out[i] = last;
    }
  }
}

}  // namespace

DayTable make_day_table(const HourlySeries& series, std::size_t first_hour, const WeatherTable* weather,
                        int weather_known_hours) {
  DayTable table;
  table.begin = series.begin + std::chrono::hours{static_cast<long>(first_hour)};
  table.days = static_cast<int>((series.hours.size() - first_hour) / kDayHours);
  fill_levels(series, first_hour, table);
  table.weather_known_hours = weather_known_hours;
  if (weather != nullptr && !weather->columns.empty()) fill_weather(*weather, table);
  return table;
}

}  // namespace tidewatt::carbon::forecast
