// The forecast of a zone's carbon intensity from its own history, with a calibrated band.
//
// Method, figures and limits: docs/method/forecast.md, docs/studies/forecast.md.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/carbon/hourly_series.h"
#include "tidewatt/units/quantity.h"
#include "tidewatt/units/time.h"

namespace tidewatt::carbon {

inline constexpr int kForecastHours = 96;
inline constexpr int kForecastDays = 4;

struct ForecastOptions {
  /// How far beyond the issue time the weather table's rows were known when the forecast was issued [h],
  /// 0-96. A table of day-ahead forecasts: 24. Rows later than that are never looked at.
  int weather_known_hours = 24;
};

/// One hour of a forecast. p10 <= p50 <= p90.
struct ForecastPoint {
  UtcTime start;
  GramsPerKwh expected;  ///< the value with the least expected relative error (a little below p50)
  GramsPerKwh p10;       ///< the value is lower in 10 % of the cases
  GramsPerKwh p50;
  GramsPerKwh p90;  ///< the value is higher in 10 % of the cases
};

struct Forecast {
  UtcTime issued_at;  ///< the end of the history: nothing later was looked at, save known weather
  std::vector<ForecastPoint> points;
};

/// A forecaster fitted to the history of one zone. The same input gives the same bytes. Immutable once
/// fitted.
class Forecaster {
 public:
  /// Learns from `history`; its end is the time of issue. Hours without value are allowed anywhere.
  /// @param weather  may be null; rows after end + options.weather_known_hours are ignored
  /// @error invalid_input  less than 9 days of history, more than 20 years, more than half of it unknown,
  ///                       nothing known in its last 3 days
  static Result<Forecaster> fit(const HourlySeries& history, const WeatherTable* weather = nullptr,
                                const ForecastOptions& options = {});

  /// @param hours  1..96
  /// @error invalid_input  hours outside that range
  [[nodiscard]] Result<Forecast> predict(int hours = kForecastHours) const;

  Forecaster(Forecaster&&) noexcept;
  Forecaster& operator=(Forecaster&&) noexcept;
  ~Forecaster();

 private:
  struct State;
  explicit Forecaster(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// How well forecasts issued at 00:00 UTC came true on one of the days after issue.
struct DayScore {
  int day = 1;                        ///< 1 = the first 24 hours after issue
  std::optional<double> mape;         ///< mean over issue days of the day's mean |f - a| / a    [%]
  std::optional<double> mae;          ///< the same of |f - a|                                   [gCO2/kWh]
  std::optional<double> coverage_80;  ///< share of hours within p10..p90                        [0..1]
};

struct BacktestResult {
  std::vector<DayScore> days;
  // MAPE per day of methods anyone could use                                                      [%]
  std::vector<std::optional<double>> daily_repeat;    ///< the last 24 hours again and again
  std::vector<std::optional<double>> persistence;     ///< the last value
  std::vector<std::optional<double>> weekly_profile;  ///< mean of the same hour of week, last 4 weeks
  int issued = 0;                                     ///< forecasts made
};

/// Issues a forecast at 00:00 UTC of each day of [from, to] from the values before that instant, and compares
/// with what came. Days of which nothing is known are left out of the mean, and so are, for MAPE, hours at 0.
/// @param hours  1..96; days that don't lie wholly within it are scored by their hours that do
/// @error invalid_input  fewer than 9 days before `from`, `from` after `to`, no value to compare with
Result<BacktestResult> backtest(const HourlySeries& series, const WeatherTable* weather,
                                std::chrono::sys_days from, std::chrono::sys_days to,
                                int hours = kForecastHours, const ForecastOptions& options = {});

}  // namespace tidewatt::carbon
