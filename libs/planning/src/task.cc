#include "task.h"

#include <algorithm>
#include <cmath>

namespace tidewatt::planning {
namespace {

Minute slack_of(Tolerance tolerance) {
  switch (tolerance) {
    case Tolerance::immediate:
      return 0;
    case Tolerance::daily:
      return kMinutesPerDay;
    case Tolerance::weekly:
      return 7 * kMinutesPerDay;
    case Tolerance::monthly:
      return 30 * kMinutesPerDay;
  }
  return 0;
}

Minute up_to_slot(Minute at, Minute slot) { return (at + slot - 1) / slot * slot; }

/// The least power that the job takes while it runs.
double least_power(const Job& job) {
  if (!job.elastic) return job.power_kw;
  const auto from = job.elastic->power_kw.begin() + (job.elastic->min - 1);
  return *std::min_element(from, job.elastic->power_kw.begin() + job.elastic->max);
}

/// At once, at home, in one piece, caps ignored.
Segments baseline_of(const Task& task, Minute slot) {
  const Job& job = *task.job;
  const int home = job.sites.front();
  if (!job.elastic) return {{home, task.earliest, task.earliest + job.duration, job.power_kw, 1}};
  const auto& elastic = *job.elastic;
  const Minute begin = up_to_slot(task.earliest, slot);
  for (int count = elastic.min; count <= elastic.max; ++count) {
    const auto slots = slots_needed(elastic, count, slot);
    if (!slots) continue;
    const Minute end = begin + *slots * slot;
    if (end <= task.deadline || count == elastic.max)
      return {{home, begin, end, elastic.power_kw[static_cast<std::size_t>(count - 1)], count}};
  }
  return {};
}

Task prepare_one(const Problem& problem, const Grid& grid, std::size_t index) {
  const Job& job = problem.jobs[index];
  Task task;
  task.job = &job;
  task.index = index;
  task.earliest = first_minute(problem, job.sites.front(), job.release);
  // Work in whole slots begins at the first one after the release.
  Minute begin = task.earliest;
  Minute duration = job.duration;
  if (job.elastic) {
    begin = up_to_slot(begin, problem.slot);
    duration = slots_needed(*job.elastic, job.elastic->max, problem.slot).value_or(0) * problem.slot;
  }
  const Tolerance tolerance = job.tolerance.value_or(Tolerance::immediate);
  const bool immediate = job.tolerance ? tolerance == Tolerance::immediate : !job.deadline;
  if (job.deadline)
    task.deadline = *job.deadline;
  else
    task.deadline =
        immediate && job.elastic ? begin + duration : job.release + duration + slack_of(tolerance);
  task.one_piece = !job.elastic && (!job.interruptible || immediate);
  task.at_once = immediate;
  if (duration == 0) {
    task.fate = Fate::nothing;
    return task;
  }
  for (const int site : job.sites) {
    const auto& place = problem.sites[static_cast<std::size_t>(site)];
    if (least_power(job) <= grid.highest_cap(site) && (!place.devices || job.devices <= *place.devices))
      task.sites.push_back(site);
  }
  if (task.sites.empty()) {
    task.fate = Fate::over_every_cap;
    return task;
  }
  if (begin + duration > task.deadline) {
    task.fate = Fate::too_short;
    task.at_once = true;
    task.one_piece = !job.elastic;
  }
  task.baseline = baseline_of(task, problem.slot);
  task.baseline_bill = bill_of(problem, grid, job, task.baseline);
  return task;
}

}  // namespace

Minute first_minute(const Problem& problem, int site, Minute release) {
  const auto& thermal = problem.sites[static_cast<std::size_t>(site)].thermal;
  return thermal ? std::max(release, thermal->pump_pre) : release;
}

std::optional<Minute> slots_needed(const Elastic& elastic, int replicas, Minute slot) {
  const double per_slot = elastic.throughput[static_cast<std::size_t>(replicas - 1)] *
                          static_cast<double>(slot) / kMinutesPerHour;
  if (elastic.work <= kWorkTolerance) return 0;
  if (per_slot <= 0) return std::nullopt;
  const double slots = std::ceil(elastic.work / per_slot - kWorkTolerance);
  if (slots > static_cast<double>(1'000'000'000'000)) return std::nullopt;
  return static_cast<Minute>(slots);
}

std::vector<Task> prepare(const Problem& problem, const Grid& grid) {
  std::vector<Task> tasks;
  tasks.reserve(problem.jobs.size());
  for (std::size_t i = 0; i < problem.jobs.size(); ++i) tasks.push_back(prepare_one(problem, grid, i));
  return tasks;
}

}  // namespace tidewatt::planning
