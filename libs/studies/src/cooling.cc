#include "tidewatt/studies/cooling.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tidewatt/planning/planner.h"
#include "tidewatt/planning/thermal_model.h"

namespace tidewatt::studies {
namespace {

using planning::Minute;

constexpr Minute kDayMinutes = 24 * 60;
constexpr Minute kStep = static_cast<Minute>(kCoolingSlotMinutes);
constexpr std::size_t kDaySlots = static_cast<std::size_t>(kDayMinutes / kStep);
/// Jobs of a day end so early that the loop's off-time reaches into the next one.
constexpr Minute kLastEnd = kDayMinutes - 60;
constexpr std::size_t kJobsADay = 6;
constexpr double kWetBulb = 12;
/// What the loop is built for: every job of a day at once.
constexpr double kRatedKw = 600.0 * static_cast<double>(kJobsADay);
constexpr double kSlackKw = 1e-6;

planning::Thermal limits() {
  planning::Thermal loop;
  loop.min_on = 30;
  loop.min_off = 30;
  loop.ramp_kw_per_minute = 120;
  loop.max_starts_per_hour = 2;
  return loop;
}

planning::Problem day_of(std::span<const double> ci, std::size_t day, std::mt19937_64& random) {
  planning::Problem problem;
  problem.slot = kStep;
  planning::Zone zone;
  zone.name = "here";
  const auto first = day * kDaySlots % ci.size();
  for (std::size_t k = 0; k < kDaySlots; ++k) zone.ci.push_back(ci[(first + k) % ci.size()]);
  zone.known.assign(kDaySlots, planning::Known::known);
  problem.zones = {zone};
  problem.slots = kDaySlots;
  planning::Site site;
  site.id = "here";
  site.pue = {1.0};
  problem.sites = {site};
  for (std::size_t i = 0; i < kJobsADay; ++i) {
    planning::Job job;
    job.id = std::to_string(i);
    job.duration = 30 + kStep * static_cast<Minute>(random() % 31);  // to three hours
    job.power_kw = 200 + 50 * static_cast<double>(random() % 9);     // to 600
    job.release = kStep * static_cast<Minute>(random() % 96);        // to eight o'clock
    const Minute slack = 240 + kStep * static_cast<Minute>(random() % 145);
    job.deadline = std::min(kLastEnd, job.release + job.duration + slack);
    job.sites = {0};
    problem.jobs.push_back(std::move(job));
  }
  return problem;
}

/// kW of each slot, jobs being of whole slots.
std::vector<double> load_of(const planning::Answer& answer) {
  std::vector<double> load(kDaySlots, 0);
  for (const auto& job : answer.jobs)
    for (const auto& piece : job.segments)
      for (Minute at = piece.begin; at < piece.end; at += kStep)
        load[static_cast<std::size_t>(at / kStep)] += piece.kw;
  return load;
}

/// The loop's limits, looked at slot by slot.
void count_broken(const std::vector<double>& load, const planning::Thermal& loop, CoolingStudy& study) {
  std::vector<std::pair<Minute, Minute>> on;
  double before = 0;
  for (std::size_t k = 0; k <= load.size(); ++k) {
    const double now = k < load.size() ? load[k] : 0;
    const Minute at = static_cast<Minute>(k) * kStep;
    if (std::abs(now - before) > *loop.ramp_kw_per_minute * static_cast<double>(kStep) + kSlackKw)
      ++study.steep;
    if (now > 0 && before <= 0) on.emplace_back(at, at);
    if (now <= 0 && before > 0) on.back().second = at;
    before = now;
  }
  for (std::size_t i = 0; i < on.size(); ++i) {
    if (on[i].second - on[i].first < loop.min_on) ++study.short_on;
    if (i > 0 && on[i].first - on[i - 1].second < loop.min_off) ++study.short_off;
    const auto within = std::count_if(on.begin(), on.end(), [&](const auto& other) {
      return other.first >= on[i].first && other.first < on[i].first + 60;
    });
    if (within > *loop.max_starts_per_hour) ++study.many_starts;
  }
}

void warm(const std::vector<double>& load, planning::ThermalState& state, CoolingStudy& study) {
  const auto model = planning::typical_loop(kRatedKw);
  for (const double kw : load)
    for (Minute minute = 0; minute < kStep; ++minute) {
      const auto next = planning::advance(model, state, kw, kWetBulb, 60);
      study.steepest_c_per_minute =
          std::max(study.steepest_c_per_minute, std::abs(next.chip_c - state.chip_c));
      state = next;
      study.chip_most_c = std::max(study.chip_most_c, state.chip_c);
    }
}

}  // namespace

CoolingStudy cooling_study(std::span<const double> ci, std::size_t days, std::uint64_t seed) {
  CoolingStudy study;
  if (ci.size() < kDaySlots) return study;
  std::mt19937_64 random{seed};
  const auto loop = limits();
  auto state = planning::settled(planning::typical_loop(kRatedKw), 0, kWetBulb);
  for (std::size_t day = 0; day < days; ++day) {
    auto problem = day_of(ci, day, random);
    const auto alone = planning::plan(problem, nullptr);
    problem.sites[0].thermal = loop;
    const auto answer = planning::plan(problem, nullptr);
    const auto load = load_of(answer);
    count_broken(load, loop, study);
    warm(load, state, study);
    for (const auto& job : answer.jobs) {
      study.late += job.late_minutes > 0 ? 1U : 0U;
      study.not_run += job.segments.empty() ? 1U : 0U;
    }
    study.jobs += answer.jobs.size();
    study.carbon_g += answer.carbon_g;
    study.unconstrained_g += alone.carbon_g;
    study.run_now_g += alone.baseline_carbon_g;
    ++study.days;
    study.slots += kDaySlots;
  }
  return study;
}

}  // namespace tidewatt::studies
