// Days of a liquid-cooled site planned with its loop's limits and without: are the limits kept, and what do
// they cost?
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tidewatt::studies {

struct CoolingStudy {
  std::size_t days = 0, slots = 0, jobs = 0;
  std::size_t short_on = 0, short_off = 0, many_starts = 0,
              steep = 0;  ///< limits broken, counted apart from the planner
  std::size_t late = 0, not_run = 0;
  double carbon_g = 0, unconstrained_g = 0, run_now_g = 0;
  double chip_most_c = 0;  ///< coolant at the chips, the planned days run through the model of heat
  double steepest_c_per_minute = 0;
};

inline constexpr std::size_t kCoolingSlotMinutes = 5;

/// Plans days of random rigid jobs, one after the other. The same seed gives the same days.
/// @param ci  gCO2/kWh of slots of five minutes, whole days, used again from the start when they end
CoolingStudy cooling_study(std::span<const double> ci, std::size_t days, std::uint64_t seed);

}  // namespace tidewatt::studies
