#include "belief.h"

#include <algorithm>
#include <cmath>

namespace tidewatt::planning {
namespace {

/// Linear between the record's leads, the nearest beyond them.
double std_at(const ErrorRecord& record, double lead_hours) {
  if (record.lead_hours.empty()) return 0;
  const auto after = std::lower_bound(record.lead_hours.begin(), record.lead_hours.end(), lead_hours);
  if (after == record.lead_hours.begin()) return record.std_g.front();
  if (after == record.lead_hours.end()) return record.std_g.back();
  const auto i = static_cast<std::size_t>(after - record.lead_hours.begin());
  const double share =
      (lead_hours - record.lead_hours[i - 1]) / (record.lead_hours[i] - record.lead_hours[i - 1]);
  return record.std_g[i - 1] + share * (record.std_g[i] - record.std_g[i - 1]);
}

void believe(Zone& zone, Minute slot) {
  double sum = 0, squares = 0, count = 0;
  for (std::size_t k = 0; k < zone.ci.size(); ++k) {
    if (zone.known[k] == Known::unknown) continue;
    sum += zone.ci[k];
    squares += zone.ci[k] * zone.ci[k];
    ++count;
  }
  if (count == 0) return;
  const double mean = sum / count;
  const double variance = std::max(0.0, squares / count - mean * mean);
  for (std::size_t k = 0; k < zone.ci.size(); ++k) {
    if (zone.known[k] == Known::unknown) continue;
    const double lead = (static_cast<double>(k) + 0.5) * static_cast<double>(slot) / kMinutesPerHour;
    const double error = std_at(*zone.error, lead);
    if (error == 0) continue;
    const double trust = variance > 0 ? std::max(0.0, 1 - error * error / variance) : 0;
    zone.ci[k] = mean + trust * (zone.ci[k] - mean);
  }
}

}  // namespace

bool has_error_record(const Problem& problem) {
  return std::any_of(problem.zones.begin(), problem.zones.end(),
                     [](const Zone& zone) { return zone.error.has_value(); });
}

Problem believed(const Problem& problem) {
  Problem belief = problem;
  for (auto& zone : belief.zones)
    if (zone.error) believe(zone, problem.slot);
  return belief;
}

bool expected_to_save(const Problem& belief, const Grid& belief_grid, const Task& task,
                      const Segments& segments) {
  const double at_once = bill_of(belief, belief_grid, *task.job, task.baseline).carbon_g;
  return at_once - bill_of(belief, belief_grid, *task.job, segments).carbon_g > 0;
}

}  // namespace tidewatt::planning
