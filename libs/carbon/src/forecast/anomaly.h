// Anomaly persistence: a slowly moving daily profile, and the last hours' distance from it, which decays.
#pragma once

#include <array>
#include <deque>
#include <vector>

#include "day_table.h"

namespace tidewatt::carbon::forecast {

class AnomalyMethod {
 public:
  /// @param half_life_days  of the profile
  AnomalyMethod(const DayTable& table, double half_life_days);

  /// Takes day `day - 1` in; days in order, from 1.
  void learn(int day);
  /// Logarithms of the next 96 hours; uses the days learnt. For each half day the decay that did best lately.
  [[nodiscard]] std::array<double, kHorizon> predict() const;

 private:
  static constexpr std::size_t kDecays = 8;
  [[nodiscard]] double with_decay(std::size_t decay, int hour) const;

  const DayTable* table_;
  double gain_;
  std::array<double, kDayHours> profile_{};
  double distance_ = 0;
  int learnt_ = 0;
  std::array<std::array<double, kHorizon>, kDecays> loss_{};
  std::deque<std::array<std::array<double, kHorizon>, kDecays>> open_;  ///< what was said on the last days
};

}  // namespace tidewatt::carbon::forecast
