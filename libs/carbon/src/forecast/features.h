// What a regression sees at an issue time: the last days hour by hour, the profile of the week before, the
// calendar and the weather.
#pragma once

#include <array>
#include <vector>

#include "day_table.h"

namespace tidewatt::carbon::forecast {

enum class Space { logarithm, level };
/// What a regression falls back to when it knows nothing: the last week's profile, or the training's mean.
enum class Anchor { last_week, long_run };

inline constexpr int kProfileDays = 7;

/// Where an hour of a day stands in a table.
inline std::size_t hour_index(int day, int hour) {
  return static_cast<std::size_t>(day) * kDayHours + static_cast<std::size_t>(hour);
}

/// One space's view of a table: values of the series as that space has them, and the features of each day.
class FeatureView {
 public:
  /// @param scale  by which the level space divides, so that its values lie near 1 [gCO2/kWh]
  FeatureView(const DayTable& table, Space space, Anchor anchor, bool with_weather, double scale);

  /// The features of an issue at the start of `day` (kProfileDays..days): only earlier hours are used, and
  /// weather up to the known hours.
  [[nodiscard]] std::vector<double> features(int day) const;
  /// What predictions are relative to: the mean of each hour of day over the last 7 days, or 0.
  [[nodiscard]] std::array<double, kDayHours> base(int day) const;
  /// The space's value of an hour.
  [[nodiscard]] double value(int day, int hour) const { return values_[hour_index(day, hour)]; }
  /// The logarithm of the level that a prediction in this space means.
  [[nodiscard]] double to_log(double prediction, double least_level) const;

 private:
  /// The mean of each hour of day over `days` before `day`.
  [[nodiscard]] std::array<double, kDayHours> profile_of(int day, int days) const;
  void add_weather(int day, std::vector<double>& out) const;

  const DayTable* table_;
  Space space_;
  Anchor anchor_;
  bool with_weather_;
  double scale_;
  std::vector<double> values_;
  std::vector<double> sums_;  ///< running sums of each hour of day [(days + 1) x 24]
};

}  // namespace tidewatt::carbon::forecast
