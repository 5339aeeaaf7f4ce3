// A step in a series' level, as a new method or a closed plant leaves one.
#pragma once

#include <vector>

#include "tidewatt/carbon/hourly_series.h"

namespace tidewatt::carbon::forecast {

struct LevelShift {
  UtcHour at;         ///< start of the first day at the new level
  double factor = 1;  ///< mean after over mean before
};

/// Steps between two fortnights: the daily means of the one lie all above (or all below) those of the other,
/// and the fortnights' means differ by at least 30 %. Of neighbouring days the one with the largest
/// difference.
std::vector<LevelShift> level_shifts(const HourlySeries& series);

}  // namespace tidewatt::carbon::forecast
