#include "single_policies.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace tidewatt::planning {
namespace {

constexpr double kThresholdQuantile = 0.3;

Task at_home(const Task& task) {
  Task home = task;
  home.sites = {task.job->sites.front()};
  return home;
}

/// The best within the deadline, else as little late as possible.
std::optional<Found> best_or_late(const Market& market, const Task& task, bool one_piece) {
  SearchLimits limits;
  limits.latest = task.deadline;
  limits.one_piece = one_piece;
  if (auto found = best_run(market, task, limits)) return found;
  limits.latest = market.atoms().last();
  return best_run(market, task, limits);
}

struct RatedCell {
  Cell cell;
  double value;  ///< intensity x PUE
  bool known;
  Minute room;
};

std::vector<RatedCell> rated_cells(const Market& market, const Task& task, Minute latest) {
  const int site = task.sites.front();
  const auto& values = market.grid().site(site);
  std::vector<RatedCell> rated;
  for (const auto& cell : cells_of(market, task, latest)) {
    const auto k = market.grid().slot_of(cell.begin);
    rated.push_back({cell, values.ci[k] * values.pue[k], values.unknown[k] == 0,
                     market.free_minutes(site, cell.atom, cell.end, task.job->power_kw,
                                         static_cast<double>(task.job->devices))});
  }
  return rated;
}

Segments pieces(const Task& task, const std::vector<std::pair<Minute, Minute>>& runs) {
  Segments segments;
  for (const auto& [begin, end] : runs)
    segments.push_back({task.sites.front(), begin, end, task.job->power_kw, 1});
  return merged(segments);
}

/// Slots in order of intensity x PUE until the duration is filled; overheads are not looked at.
Segments cheapest_slots(const Market& market, const Task& task) {
  auto cells = rated_cells(market, task, task.deadline);
  std::stable_sort(cells.begin(), cells.end(), [](const RatedCell& a, const RatedCell& b) {
    return std::tuple{!a.known, a.value} < std::tuple{!b.known, b.value};
  });
  std::vector<std::pair<Minute, Minute>> runs;
  Minute left = task.duration();
  for (const auto& rated : cells) {
    const Minute minutes = std::min(left, rated.room);
    if (minutes > 0) runs.emplace_back(rated.cell.begin, rated.cell.begin + minutes);
    left -= minutes;
  }
  if (left > 0) return {};
  std::sort(runs.begin(), runs.end());
  return pieces(task, runs);
}

/// The value below which a share of the known slots of the next 24 hours lies, linear between them.
double threshold_of(const Market& market, const Task& task) {
  const int site = task.sites.front();
  const auto& grid = market.grid();
  std::vector<double> values;
  const Minute from = task.earliest;
  for (Minute at = from; at < from + kMinutesPerDay && at < grid.end_of_change();) {
    const auto k = grid.slot_of(at);
    if (grid.site(site).unknown[k] == 0) values.push_back(grid.site(site).ci[k] * grid.site(site).pue[k]);
    at = grid.slot_end(k);
  }
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double rank = kThresholdQuantile * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const auto above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (rank - static_cast<double>(below));
}

/// Runs below the threshold, else waits while the slack covers the slot.
Segments suspend_and_resume(const Market& market, const Task& task) {
  const double threshold = threshold_of(market, task);
  const Minute least = std::min(task.job->min_run, task.duration());
  Minute slack = task.deadline - task.earliest - task.duration();
  Minute left = task.duration();
  Minute piece = 0;
  std::vector<std::pair<Minute, Minute>> runs;
  for (const auto& rated : rated_cells(market, task, market.atoms().last())) {
    if (left == 0) break;
    const Minute length = rated.cell.end - rated.cell.begin;
    const bool may_pause = piece == 0 || (piece >= least && left >= least);
    const bool clean = rated.known && rated.value < threshold;
    if ((!clean && slack >= length && may_pause) || rated.room == 0) {
      slack -= length;
      piece = 0;
      continue;
    }
    const Minute minutes = std::min(left, rated.room);
    runs.emplace_back(rated.cell.begin, rated.cell.begin + minutes);
    left -= minutes;
    piece = minutes == length ? piece + minutes : 0;
  }
  return left == 0 ? pieces(task, runs) : Segments{};
}

Segments or_window(const Market& market, const Task& task, Segments segments) {
  if (!segments.empty()) return segments;
  const auto found = best_or_late(market, task, true);
  return found ? found->segments : Segments{};
}

/// The baseline's count of replicas in the cheapest window at home.
Segments elastic_window(const Market& market, const Task& task) {
  Task steady = task;
  if (task.baseline.empty()) return {};
  Elastic one = *task.job->elastic;
  one.min = one.max = task.baseline.front().replicas;
  Job job = *task.job;
  job.elastic = one;
  job.min_run = task.baseline.front().end - task.baseline.front().begin;
  steady.job = &job;
  const auto found = best_or_late(market, steady, true);
  return found ? found->segments : Segments{};
}

Segments at_once_somewhere(const Market& market, const Task& task) {
  std::optional<Found> best;
  for (const int site : task.sites) {
    Segments segments = task.baseline;
    if (segments.empty()) continue;
    segments.front().site = site;
    if (segments.front().begin < first_minute(market.problem(), site, task.job->release)) continue;
    if (!market.fits(segments, static_cast<double>(task.job->devices))) continue;
    const auto value = value_of(market, task, segments);
    if (!best || better(value, best->value)) best = Found{segments, value};
  }
  return best ? best->segments : place_at_once(market, task);
}

}  // namespace

Segments place_at_once(const Market& market, const Task& task) {
  if (task.baseline.empty()) return {};
  const auto& atoms = market.atoms();
  Segments segments = task.baseline;
  auto& piece = segments.front();
  // Where home has never room for it, it runs at the next best of its sites.
  if (std::find(task.sites.begin(), task.sites.end(), piece.site) == task.sites.end() && !task.sites.empty())
    piece.site = task.sites.front();
  const Minute length = piece.end - piece.begin;
  for (auto a = atoms.at(piece.begin); a < atoms.size(); ++a) {
    const Minute begin = atoms.begin(a);
    const bool may =
        begin == task.baseline.front().begin || (begin > task.baseline.front().begin && atoms.starts(a) &&
                                                 (!task.elastic() || begin % market.problem().slot == 0));
    if (!may) continue;
    piece.begin = begin;
    piece.end = begin + length;
    if (piece.end > atoms.last()) break;
    if (market.fits(segments, static_cast<double>(task.job->devices))) return segments;
  }
  return {};
}

Segments place_by_policy(const Market& market, const Task& task, Policy policy) {
  if (policy == Policy::immediate) return place_at_once(market, task);
  if (policy == Policy::spatial) return at_once_somewhere(market, task);
  const Task home = at_home(task);
  if (task.at_once) return place_at_once(market, task);
  if (task.elastic()) {
    if (policy != Policy::elastic) return elastic_window(market, home);
    const auto found = best_or_late(market, home, false);
    return found ? found->segments : Segments{};
  }
  if (!task.one_piece && policy == Policy::wait_awhile_interrupting) {
    if (task.job->min_run == 0) return or_window(market, home, cheapest_slots(market, home));
    Job free_of_overheads = *task.job;
    free_of_overheads.suspend_kwh = free_of_overheads.resume_kwh = 0;
    Task light = home;
    light.job = &free_of_overheads;
    const auto found = best_or_late(market, light, false);
    return or_window(market, home, found ? found->segments : Segments{});
  }
  if (!task.one_piece && policy == Policy::threshold)
    return or_window(market, home, suspend_and_resume(market, home));
  return or_window(market, home, {});
}

std::vector<std::size_t> by_priority(const std::vector<Task>& tasks) {
  std::vector<std::size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple{tasks[a].job->priority, tasks[a].job->release} <
           std::tuple{tasks[b].job->priority, tasks[b].job->release};
  });
  return order;
}

std::vector<std::size_t> by_release(const std::vector<Task>& tasks) {
  std::vector<std::size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return tasks[a].job->release < tasks[b].job->release;
  });
  return order;
}

}  // namespace tidewatt::planning
