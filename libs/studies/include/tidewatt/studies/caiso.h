// Waiting by a real day-ahead forecast (CarbonCast's of California) beside perfect knowledge and beside the
// hours of the last seven days.
#pragma once

#include <cstddef>
#include <span>

#include "tidewatt/studies/shifting.h"

namespace tidewatt::studies {

/// Sums over the start hours; `at_once` is the same in all.
struct ForecastStudy {
  Shifted perfect, forecast, profile;
};

/// Jobs come at each hour of [first, last); their windows may reach beyond.
/// @param actual, forecast  gCO2/kWh of each hour, of one length. A week before `first` is needed, and
///                          `job + slack` hours after `last`
ForecastStudy forecast_study(std::span<const double> actual, std::span<const double> forecast,
                             std::size_t first, std::size_t last, std::size_t job, std::size_t slack);

}  // namespace tidewatt::studies
