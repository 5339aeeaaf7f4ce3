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

std::size_t slots_per_day(Minute slot) {
  return static_cast<std::size_t>(std::max<Minute>(1, kMinutesPerDay / slot));
}

/// With the forecaster's recent error taken out; unknown slots stay so.
void correct(Zone& zone, Minute slot) {
  const RecentError error{zone.past->foreseen, zone.past->actual, slots_per_day(slot)};
  const auto corrected = error.corrected(zone.ci);
  for (std::size_t k = 0; k < zone.ci.size(); ++k)
    if (zone.known[k] != Known::unknown) zone.ci[k] = corrected[k];
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
                     [](const Zone& zone) { return zone.error.has_value() || zone.past.has_value(); });
}

Problem believed(const Problem& problem) {
  Problem belief = problem;
  for (auto& zone : belief.zones) {
    if (zone.past)
      correct(zone, problem.slot);
    else if (zone.error)
      believe(zone, problem.slot);
  }
  return belief;
}

bool HarmGate::allows(const Task& task, const Segments& segments) {
  const Job& job = *task.job;
  const double at_once = bill_of(belief_, belief_grid_, job, task.baseline).carbon_g;
  const double saving = at_once - bill_of(belief_, belief_grid_, job, segments).carbon_g;
  if (saving <= 0) return false;
  const int home = job.sites.front();
  const auto& zone = belief_.sites[static_cast<std::size_t>(home)].zone;
  const bool stays = std::all_of(segments.begin(), segments.end(), [&](const Segment& piece) {
    return belief_.sites[static_cast<std::size_t>(piece.site)].zone == zone;
  });
  if (!stays || task.elastic() || !belief_.zones[zone].past) return true;
  const Minute window = task.deadline - job.release;
  const auto slots = [&](Minute minutes) {
    return static_cast<std::size_t>(std::max<Minute>(0, minutes + belief_.slot - 1) / belief_.slot);
  };
  const WaitKind kind{std::max<std::size_t>(1, slots(job.duration)), slots(window - job.duration),
                      !task.one_piece};
  const double kwh = bill_of(belief_, belief_grid_, job, task.baseline).energy_kwh;
  return kwh > 0 && record(zone, kind).allows(saving / kwh);
}

const HarmRecord& HarmGate::record(std::size_t zone, const WaitKind& kind) {
  const auto found = records_.find({zone, kind});
  if (found != records_.end()) return found->second;
  auto replay = replays_.find(zone);
  if (replay == replays_.end())
    replay = replays_.emplace(zone, Replay{*belief_.zones[zone].past, slots_per_day(belief_.slot)}).first;
  return records_.emplace(std::pair{zone, kind}, replay->second.record(kind)).first->second;
}

}  // namespace tidewatt::planning
