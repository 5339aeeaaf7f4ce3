// The policies that take one job after the other: each places a job in what the market has left.
#pragma once

#include "job_search.h"

namespace tidewatt::planning {

/// A job's segments under a single-job policy; late where there is no room in time. Empty: never any room.
Segments place_by_policy(const Market& market, const Task& task, Policy policy);

/// At home, in one piece, as early as there is room. Empty: never any room.
Segments place_at_once(const Market& market, const Task& task);

/// Indices of tasks by priority, then release, then file order.
std::vector<std::size_t> by_priority(const std::vector<Task>& tasks);
/// By release, then file order.
std::vector<std::size_t> by_release(const std::vector<Task>& tasks);

}  // namespace tidewatt::planning
