#include "tidewatt/runner/plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "tidewatt/planning/planner.h"

namespace tidewatt::runner {
namespace {

using std::chrono::minutes;

/// Signals come in steps of 5 to 60 minutes; what is longer is cut into hours.
constexpr minutes kLongestSlot{60};
constexpr minutes kShortestSlot{5};

minutes slot_length(const std::vector<SignalSlot>& signal) {
  auto least = kLongestSlot;
  for (const auto& slot : signal)
    least = std::clamp(std::chrono::floor<minutes>(slot.end - slot.begin), kShortestSlot, least);
  while (kLongestSlot % least != minutes{0}) --least;
  return least;
}

/// The later in the list wins where slots begin at the same time.
std::vector<SignalSlot> merged(const std::vector<SignalSlot>& known, const std::vector<SignalSlot>& signal,
                               UtcTime from) {
  std::map<UtcTime, SignalSlot> by_begin;
  for (const auto* slots : {&known, &signal})
    for (const auto& slot : *slots)
      if (slot.end > from && slot.end > slot.begin) by_begin.insert_or_assign(slot.begin, slot);
  std::vector<SignalSlot> all;
  for (const auto& [begin, slot] : by_begin) all.push_back(slot);
  return all;
}

/// Time-weighted means; a slot that isn't wholly covered is unknown.
planning::Zone zone_of(const std::vector<SignalSlot>& signal, UtcTime start, minutes step, UtcTime end) {
  planning::Zone zone;
  zone.name = "here";
  auto first = signal.begin();
  for (UtcTime at = start; at < end; at += step) {
    const UtcTime until = at + step;
    double sum = 0;
    Milliseconds covered{0};
    while (first != signal.end() && first->end <= at) ++first;
    for (auto slot = first; slot != signal.end() && slot->begin < until; ++slot) {
      const auto begin = std::max(slot->begin, at + covered);
      const auto length = std::min(slot->end, until) - begin;
      if (length <= Milliseconds{0} || begin != at + covered) continue;
      sum += slot->g_per_kwh * static_cast<double>(length.count());
      covered += length;
    }
    const bool whole = covered == Milliseconds{step};
    zone.ci.push_back(whole ? sum / static_cast<double>(covered.count()) : 0);
    zone.known.push_back(whole ? planning::Known::known : planning::Known::unknown);
  }
  return zone;
}

planning::Problem problem_of(const Order& order, const std::vector<SignalSlot>& signal, Milliseconds left,
                             UtcTime now) {
  const auto step = slot_length(signal);
  planning::Problem problem;
  problem.start = std::chrono::floor<std::chrono::hours>(now);
  problem.slot = step.count();
  problem.by_minute = true;
  problem.zones = {zone_of(signal, problem.start, step, *order.deadline)};
  problem.slots = problem.zones.front().ci.size();
  planning::Site site;
  site.id = "here";
  site.pue = {1.0};
  problem.sites = {site};
  planning::Job job;
  job.id = order.id;
  // Down: a run that goes on is not to be paused for the rest of a minute.
  job.release = std::chrono::floor<minutes>(now - problem.start).count();
  job.deadline = std::chrono::floor<minutes>(*order.deadline - problem.start).count();
  job.duration = std::chrono::ceil<minutes>(left).count();
  job.power_kw = 1;  // of even power: where the least carbon is doesn't depend on how much
  job.interruptible = order.pause != Pause::none;
  job.min_run = std::chrono::ceil<minutes>(order.min_run).count();
  job.sites = {0};
  problem.jobs = {job};
  return problem;
}

}  // namespace

Plan make_plan(const Order& order, const Record& record, const std::vector<SignalSlot>& signal,
               const std::vector<SignalSlot>& known, UtcTime now,
               std::optional<planning::ForecastPast> past) {
  Plan plan;
  plan.made_at = now;
  plan.signal = merged(known, signal, order.submitted);
  if (!order.duration) {
    plan.why = "how long it runs isn't known";
    return plan;
  }
  if (!order.deadline) {
    plan.why = "it has no deadline";
    return plan;
  }
  const Milliseconds left = *order.duration - ran(record, now);
  if (left <= Milliseconds{0} || now + left >= *order.deadline) {
    plan.why = "there is no time to wait";
    return plan;
  }
  auto problem = problem_of(order, plan.signal, left, now);
  const auto& zone = problem.zones.front();
  if (std::ranges::find(zone.known, planning::Known::known) == zone.known.end()) {
    plan.why = "no carbon intensity is known for the time until its deadline";
    return plan;
  }
  // The past is of hours; a signal of finer steps is planned as it stands.
  problem.do_no_harm = past.has_value() && problem.slot == kLongestSlot.count();
  if (problem.do_no_harm) {
    problem.zones.front().past = std::move(past);
    problem.policy = planning::Policy::robust;
  }
  const auto answer = planning::plan(problem, nullptr);
  for (const auto& piece : answer.jobs.front().segments)
    plan.windows.push_back({problem.start + minutes{piece.begin}, problem.start + minutes{piece.end}});
  plan.why = plan.windows.empty() ? "nothing could be planned" : "planned";
  if (!answer.jobs.front().notes.empty()) plan.why = answer.jobs.front().notes.front();
  return plan;
}

}  // namespace tidewatt::runner
