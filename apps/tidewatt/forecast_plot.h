// A forecast as a picture.
#pragma once

#include <string>

#include "tidewatt/carbon/forecast.h"
#include "tidewatt/carbon/hourly_series.h"

namespace tidewatt::cli {

/// An SVG: the last 3 days of `history`, then the forecast with its 80 % band; dates on the UTC axis.
/// @param title  shown as it is, escaped
std::string forecast_svg(const carbon::HourlySeries& history, const carbon::Forecast& forecast,
                         const std::string& title);

}  // namespace tidewatt::cli
