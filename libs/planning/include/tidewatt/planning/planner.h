// From a plan file to its answer.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/planning/mip.h"
#include "tidewatt/planning/problem.h"

namespace tidewatt::planning {

enum class JobStatus { planned, infeasible, late };

struct JobAnswer {
  JobStatus status = JobStatus::planned;
  std::optional<std::string> reason;
  Segments segments;
  double carbon_g = 0, energy_kwh = 0;
  std::optional<double> cost;  ///< money; nullopt where a price is missing
  double baseline_carbon_g = 0;
  std::optional<double> savings_g,
      savings_percent;  ///< nullopt where an intensity is missing, and of a baseline of 0
  Minute late_minutes = 0;
  double carbon_coverage = 1;
  std::string binding;          ///< what keeps it from a cleaner plan
  std::int64_t considered = 0;  ///< slots looked at
  std::vector<std::string> notes;
};

struct SiteAnswer {
  int site = 0;
  double pump_kwh = 0, pump_carbon_g = 0;
  std::size_t starts = 0;
};

struct Answer {
  std::vector<JobAnswer> jobs;    ///< in file order
  std::vector<SiteAnswer> sites;  ///< those with a loop
  double carbon_g = 0, energy_kwh = 0;
  std::optional<double> cost;
  double baseline_carbon_g = 0;
  std::optional<double>
      baseline_capped_carbon_g;  ///< first come, at once, under the same caps; nullopt where no cap binds
  std::optional<double> lower_bound_g;               ///< proved; nullopt: none known
  std::optional<double> objective, objective_bound;  ///< where weights are given
  std::map<std::string, double> over_budget;
  std::string quality;  ///< complete, interpolated, partial, none
};

/// Plans a problem. The same problem gives the same answer.
/// @param solver  for small cases that share a loop or must be optimal; may be null
Answer plan(const Problem& problem, const MipSolver* solver);

/// The answer as tidewatt-plan/1 says, one line.
std::string to_json(const Problem& problem, const Answer& answer);

std::string to_string(Policy policy);

}  // namespace tidewatt::planning
