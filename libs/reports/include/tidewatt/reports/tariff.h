// What a kilowatt hour costs, and what the highest month's power does.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/carbon/hourly_series.h"
#include "tidewatt/units/time.h"

namespace tidewatt::reports {

/// An hour as the tariff's place counts it.
struct LocalHour {
  int weekday = 0;  ///< 0 = Monday
  int hour = 0;     ///< 0..23
};

/// Price per kWh in the report's currency; may be negative.
class Tariff {
 public:
  /// "0.18", or a basic price and others by weekday and hour, the last that fits counts:
  /// "0.14; mon-fri 8-20 0.24; sat 10-14 0.18; 22-6 0.10"
  /// @error invalid_input  naming what can't be read
  static Result<Tariff> parse(std::string_view text);
  [[nodiscard]] double price(const LocalHour& hour) const;
  [[nodiscard]] bool flat() const { return windows_.empty(); }

 private:
  struct TimeWindow {
    std::array<bool, 7> days{};
    int from = 0;
    int to = 24;  ///< at or before `from`: over midnight
    double price = 0;
  };
  double base_ = 0;
  std::vector<TimeWindow> windows_;
};

}  // namespace tidewatt::reports
