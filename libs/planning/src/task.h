// A job made ready for planning: its window, what is fixed about it, and its run-now baseline.
#pragma once

#include <vector>

#include "bill.h"
#include "grid.h"
#include "tidewatt/planning/problem.h"

namespace tidewatt::planning {

/// Work by which a job may seem unfinished through rounding.
inline constexpr double kWorkTolerance = 1e-9;

enum class Fate {
  normal,          ///< has a window it fits in
  nothing,         ///< nothing to run
  too_short,       ///< deadline_before_duration: runs at once
  over_every_cap,  ///< power_over_cap: never runs
};

struct Task {
  const Job* job = nullptr;
  std::size_t index = 0;
  Fate fate = Fate::normal;
  Minute earliest = 0;     ///< of its start at home
  Minute deadline = 0;     ///< what lateness is counted from
  bool at_once = false;    ///< may not wait: immediate, or its window is too short
  bool one_piece = false;  ///< not suspended
  std::vector<int> sites;  ///< where it may run: those with room for its power
  Segments baseline;       ///< empty for over_every_cap
  Bill baseline_bill;

  [[nodiscard]] bool elastic() const { return job->elastic.has_value(); }
  [[nodiscard]] Minute duration() const { return job->duration; }
};

std::vector<Task> prepare(const Problem& problem, const Grid& grid);

/// The first minute at which a job released at `release` may run at a site: a loop's pump runs before it.
Minute first_minute(const Problem& problem, int site, Minute release);

/// Whole slots that a count of replicas needs for the work; nullopt when it never ends.
std::optional<Minute> slots_needed(const Elastic& elastic, int replicas, Minute slot);

}  // namespace tidewatt::planning
