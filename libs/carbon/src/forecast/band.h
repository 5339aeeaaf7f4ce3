// The band around a forecast of one day ahead, from how far such forecasts were off lately.
#pragma once

#include <array>
#include <deque>

#include "day_table.h"

namespace tidewatt::carbon::forecast {

/// Quantiles as distances from the centre, logarithms.
struct BandHour {
  double low = 0;
  double middle = 0;
  double high = 0;
};

class Band {
 public:
  /// @param first_spread  of the error, until there are errors to learn from [logarithm]
  explicit Band(double first_spread);

  [[nodiscard]] std::array<BandHour, kDayHours> hours() const;
  /// The errors' variance over the day. [logarithm squared]
  [[nodiscard]] double variance() const;
  /// Takes in a day that came: actual - centre by hour, and the band that was given.
  void learn(const std::array<double, kDayHours>& errors, const std::array<BandHour, kDayHours>& given);

 private:
  [[nodiscard]] double spread(std::size_t hour) const;

  std::array<double, kDayHours> squares_{};
  double weight_ = 0;
  double first_square_;
  std::deque<std::array<double, kDayHours>> scaled_;  ///< errors in units of the spread at their time
  double tail_low_ = 0.1;                             ///< asked of the quantile so that 10 % lie below
  double tail_high_ = 0.1;
};

}  // namespace tidewatt::carbon::forecast
