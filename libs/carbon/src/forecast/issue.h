// When a history suffices for a forecast, and where the warm-up before it starts.
#pragma once

#include "tidewatt/base/result.h"
#include "tidewatt/carbon/forecast.h"

namespace tidewatt::carbon::forecast {

/// Whether a forecast can be issued at the end of the first `hours` of `series`.
/// @error invalid_input  as Forecaster::fit
Status check_history(const HourlySeries& series, std::size_t hours, const ForecastOptions& options);

/// The day from which on forecasts are made, so that those of the last months before `days` can be compared
/// with what came. At least 8, less than `days`.
int first_issue_before(int days);

}  // namespace tidewatt::carbon::forecast
