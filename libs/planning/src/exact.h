// Small groups of jobs that share caps and cooling loops, as a mixed-integer programme.
#pragma once

#include <optional>
#include <vector>

#include "market.h"
#include "task.h"
#include "tidewatt/planning/mip.h"

namespace tidewatt::planning {

struct GroupPlan {
  bool found = false;
  bool proved = false;  ///< no plan in which nobody is late has a lower objective, the loops' pumps included
  std::vector<Segments> segments;  ///< as the tasks given
};

/// @param fixed  what runs already and can't be moved
/// Not found: too large, no solver, or no plan in which nobody is late.
GroupPlan plan_exactly(const Market& market, const std::vector<const Task*>& tasks,
                       const std::vector<Segment>& fixed, const MipSolver* solver);

}  // namespace tidewatt::planning
