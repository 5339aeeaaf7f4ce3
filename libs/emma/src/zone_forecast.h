// Who forecasts a zone: its provider and ourselves, how each did, and whose is shown.
#pragma once

#include <optional>

#include "tidewatt/carbon/forecast.h"
#include "tidewatt/carbon/hourly_series.h"
#include "zone.h"

namespace tidewatt::emma {

/// Keeps what the provider said of the time to come, to be scored when it has come.
void note_forecast(Zone& zone, const carbon::ParsedSignal& signal, UtcTime now);
/// Scores what was said of the hours that are known now.
void score(Zone& zone, UtcTime now);

/// What a forecast of our own would be made of; nullopt where the last one is new enough.
std::optional<carbon::HourlySeries> series_to_forecast(const Zone& zone, UtcTime now);
/// nullopt where the series can't be learnt from. Takes up to seconds: not under a mutex.
std::optional<carbon::Forecast> own_forecast(const carbon::HourlySeries& series);
void keep_own_forecast(Zone& zone, carbon::Forecast forecast);

/// For each hour to come the better forecaster's.
carbon::ZoneForecast forecast_of(const Zone& zone, UtcTime now, int hours);

}  // namespace tidewatt::emma
