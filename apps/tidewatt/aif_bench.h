// Times an agent's steps: infer states, infer policies, choose.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "tidewatt/model_file/run_file.h"

namespace tidewatt::cli {

struct AifTiming {
  double least_us = 0;  ///< CPU per step
  double median_us = 0;
  std::array<double, 2> g_sum{};               ///< over policies, first and last step
  std::optional<double> allocations_per_step;  ///< after the first step
};

/// @pre steps > 0
AifTiming time_agent(const model_file::BenchFile& file, std::size_t steps);
/// CPU microseconds per decision of `agents` agents that decide in turn, as in a fleet: their memory is not
/// in the cache.
double time_fleet(const model_file::BenchFile& file, std::size_t agents, std::size_t rounds);

}  // namespace tidewatt::cli
