// Cooling loops that several jobs share: their limits, their pumps, and a plan that keeps to them.
#pragma once

#include <vector>

#include "joint.h"
#include "market.h"
#include "task.h"

namespace tidewatt::planning {

/// What the pumps of the loops that tasks can use cost.
double pump_objective(const Problem& problem, const Grid& grid, const std::vector<const Task*>& tasks,
                      const std::vector<Segments>& segments, const std::vector<Segment>& fixed);

/// Minutes, starts and kW by which a site's limits are broken; 0: all are kept.
double loop_violation(const Problem& problem, int site, const std::vector<const Segment*>& sorted_by_begin);

/// One piece per job, placed one after the other and then moved while that helps: for groups that are too
/// large to solve exactly. A job that finds no place within the limits isn't run.
JointPlan plan_around_loops(const Market& market, const std::vector<const Task*>& tasks,
                            const std::vector<Segment>& fixed);

}  // namespace tidewatt::planning
