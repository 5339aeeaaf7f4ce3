// Let's Wait Awhile (Middleware 2021), the scenario of machine-learning jobs: a year of jobs, each with its
// own deadline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tidewatt/studies/shifting.h"

namespace tidewatt::studies {

struct WaitingJob {
  std::size_t start = 0;     ///< slot
  std::size_t length = 0;    ///< slots
  std::size_t deadline = 0;  ///< slot that it must not reach
};

/// Sums over the jobs.
/// @param slots   gCO2/kWh of each slot of the year
/// @param error   standard deviation of the forecast's error as a share of the series' mean; 0 = perfect
/// @param seed    of the error
Shifted wait_awhile_study(std::span<const double> slots, const std::vector<WaitingJob>& jobs, double error,
                          std::uint64_t seed);

}  // namespace tidewatt::studies
