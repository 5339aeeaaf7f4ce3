// "On the Limitations of Carbon-Aware Temporal and Spatial Workload Shifting in the Cloud" (EuroSys 2024): a
// job of 1 kW may wait 24 hours; how much less does it emit, on the mean of all hours at which it may come?
#pragma once

#include <cstddef>
#include <span>

namespace tidewatt::studies {

/// Means over the start hours, gCO2 per job.
struct Eurosys24Row {
  double at_once = 0;
  double one_window = 0;
  double interrupting = 0;
};

/// @param hours  gCO2/kWh of each hour of a year
/// @param job    hours of work; jobs come at hours 0 ... hours.size() - job - 1, and their windows end with
/// the
///               series
Eurosys24Row eurosys24(std::span<const double> hours, std::size_t job, std::size_t slack);

}  // namespace tidewatt::studies
