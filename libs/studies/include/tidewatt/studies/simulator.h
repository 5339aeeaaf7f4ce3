// A zone's year with jobs that come one after the other: what is known when each is planned, what it then
// costs, a power cap that all share, failures, signals that stop, and plans made anew. Source:
// docs/studies/year.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tidewatt::studies {

inline constexpr std::size_t kSlotsAnHour = 4;

struct SimulatedJob {
  double arrival_hours = 0;  ///< from the first hour
  double length_hours = 0;
  double cpus = 1;       ///< power follows them
  std::size_t cell = 0;  ///< of the result in which it is counted
};

enum class WaitPolicy { run_now, one_window, pieces };

/// Hours in which no signal arrives: [from, to).
struct SignalOutage {
  std::size_t from = 0, to = 0;
};

struct SimulationSettings {
  WaitPolicy policy = WaitPolicy::run_now;
  double slack_hours = 0;  ///< of every job, from its arrival and length
  bool perfect = false;    ///< the signal's future is known; else the hours of the last seven days, corrected
                           ///< by their recent error, under the rule to do no harm
  double cap_cpus = 0;     ///< that run at once; 0: no cap
  std::size_t replan_hours = 12;
  double failures_per_hour = 0;  ///< of a running job; it loses what it did since the last full hour of work
  std::uint64_t seed = 1;        ///< of the failures: the same job fails after the same work in every policy
  std::vector<SignalOutage> outages;
};

struct SimulatedCell {
  std::size_t jobs = 0;
  double cpu_hours = 0;   ///< run, lost work included
  double carbon = 0;      ///< CPU-hours x gCO2/kWh
  double wait_hours = 0;  ///< sum of end - arrival - length
  double wait_p95_hours = 0;
  std::size_t late = 0;           ///< ended after arrival + length + slack
  std::size_t late_unfailed = 0;  ///< of those, jobs that never failed
  std::size_t pauses = 0;
  std::size_t undecided = 0;  ///< had no start fixed when they came
};

struct SimulationResult {
  std::vector<SimulatedCell> cells;
  std::size_t failures = 0;
  std::size_t moved = 0;     ///< jobs whose plan was made anew with another start
  std::size_t left_out = 0;  ///< end after the series, at the latest
  double peak_cpus = 0;
};

/// @param hours  gCO2/kWh of each hour
/// @param jobs   in order of arrival
SimulationResult simulate(std::span<const double> hours, const std::vector<SimulatedJob>& jobs,
                          const SimulationSettings& settings);

}  // namespace tidewatt::studies
