// Where every job goes, by the plan's policy.
#pragma once

#include <optional>
#include <vector>

#include "market.h"
#include "task.h"
#include "tidewatt/planning/mip.h"

namespace tidewatt::planning {

struct Placement {
  std::vector<Segments> segments;  ///< per task; empty: nothing runs
  std::optional<double> bound;     ///< of the objective, proved
  bool caps_bind = false;          ///< not everybody could take their own best
  std::vector<bool> displaced;     ///< per task: shares a cap or loop and runs otherwise than alone
};

Placement place_all(const Problem& problem, const Grid& grid, const Atoms& atoms,
                    const std::vector<Task>& tasks, const MipSolver* solver);

/// First come by release, then file order, at once, under the same caps.
std::vector<Segments> place_first_come(const Problem& problem, const Grid& grid, const Atoms& atoms,
                                       const std::vector<Task>& tasks);

}  // namespace tidewatt::planning
