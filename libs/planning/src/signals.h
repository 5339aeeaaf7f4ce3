// Intensity series: filling of gaps and CSV.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/planning/problem.h"

namespace tidewatt::planning {

using Series = std::vector<std::optional<double>>;

/// Fills runs of at most `most` nulls between two known slots linearly by slot index; writes zone.ci and
/// zone.known.
void fill_gaps(const Series& raw, std::size_t most, Zone& zone);

/// The slots' means from a CSV of `start_utc,gco2_per_kwh[,…]`.
/// @param start  of slot 0  @param slot  length in minutes
/// @error invalid_input  with the line's number and what is wrong there
Result<Series> series_from_csv(std::string_view text, UtcTime start, Minute slot, std::size_t most_slots);

/// What a CSV's rows before `start` say of a forecaster: gco2_per_kwh is what came, kForeseenColumn what it
/// had said. The slots up to `start` that have both, without a hole; nullopt where there are none.
/// @error invalid_input  as series_from_csv
Result<std::optional<ForecastPast>> past_from_csv(std::string_view text, UtcTime start, Minute slot);

}  // namespace tidewatt::planning
