// Jobs that share a cap, planned together.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "job_search.h"
#include "tidewatt/planning/mip.h"

namespace tidewatt::planning {

/// What a whole plan is judged by, in this order.
struct Total {
  std::array<Minute, 4> late{};  ///< by priority
  Minute unknown = 0;
  double cost = 0;

  void add(const Task& task, const Value& value, int sign = 1);
};
/// Whether a is better by more than a tie.
bool better(const Total& a, const Total& b);

struct JointPlan {
  std::vector<Segments> segments;  ///< as the tasks given
  std::optional<double> bound;     ///< proved: no admissible plan has a lower objective
};

/// Plans `tasks` (all with Fate::normal) in what is free in the market, and takes their room.
JointPlan plan_jointly(Market& market, const std::vector<const Task*>& tasks);

/// A lower bound of the objective of jobs that share nothing: each its own best, whatever room the others
/// leave.
double bound_alone(const Market& market, const std::vector<const Task*>& tasks);

}  // namespace tidewatt::planning
