// Waiting by a real day-ahead forecast (CarbonCast's of California) beside perfect knowledge, beside the
// hours of the last seven days, and by the planner's rule to do no harm.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tidewatt/studies/shifting.h"

namespace tidewatt::studies {

struct WaitCell {
  std::size_t job = 1, slack = 0;  ///< hours
};

/// Sums over the start hours; `at_once` is the same in all.
struct ForecastStudy {
  Shifted perfect, forecast, profile, no_harm;
  std::size_t starts = 0, waits_one_window = 0, waits_interrupting = 0;  ///< of the rule
};

/// Jobs come at each hour of [first, last) from which their window ends before `last`. What the rule knows at
/// an hour is the series before it and the forecast from it on.
/// @param actual, forecast  gCO2/kWh of each hour, of one length. A week before `first` is needed
/// @return  as the cells
std::vector<ForecastStudy> forecast_study(std::span<const double> actual, std::span<const double> forecast,
                                          std::size_t first, std::size_t last,
                                          const std::vector<WaitCell>& cells);

}  // namespace tidewatt::studies
