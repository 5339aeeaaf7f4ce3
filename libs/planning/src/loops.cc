#include "loops.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "single_policies.h"

namespace tidewatt::planning {
namespace {

constexpr int kPasses = 6;
constexpr std::size_t kMostStarts = 400;

std::set<int> loop_sites(const Problem& problem, const std::vector<const Task*>& tasks) {
  std::set<int> sites;
  for (const auto* task : tasks)
    for (const int site : task->sites)
      if (problem.sites[static_cast<std::size_t>(site)].thermal) sites.insert(site);
  return sites;
}

std::vector<const Segment*> sorted_at(int site, const std::vector<Segments>& segments,
                                      const std::vector<Segment>& fixed) {
  std::vector<const Segment*> all;
  for (const auto& job : segments)
    for (const auto& piece : job)
      if (piece.site == site) all.push_back(&piece);
  for (const auto& piece : fixed)
    if (piece.site == site) all.push_back(&piece);
  std::stable_sort(all.begin(), all.end(),
                   [](const Segment* a, const Segment* b) { return a->begin < b->begin; });
  return all;
}

double ramp_violation(const Problem& problem, double kw_per_minute,
                      const std::vector<const Segment*>& pieces) {
  if (pieces.empty()) return 0;
  Minute last = 0;
  for (const auto* piece : pieces) last = std::max(last, piece->end);
  const auto slots = static_cast<std::size_t>(last / problem.slot) + 2;
  std::vector<double> mean(slots, 0);
  for (const auto* piece : pieces)
    for (Minute at = piece->begin; at < piece->end;) {
      const Minute until = std::min(piece->end, (at / problem.slot + 1) * problem.slot);
      mean[static_cast<std::size_t>(at / problem.slot)] +=
          piece->kw * static_cast<double>(until - at) / static_cast<double>(problem.slot);
      at = until;
    }
  double broken = 0, before = 0;
  for (const double kw : mean) {
    broken +=
        std::max(0.0, std::abs(kw - before) - kw_per_minute * static_cast<double>(problem.slot) - kRoom);
    before = kw;
  }
  return broken;
}

/// What decides between two whole plans: lateness, broken limits, jobs not run, unknown minutes, cost.
using Rank = std::tuple<double, std::size_t, double, double, double>;

class LoopPlanner {
 public:
  LoopPlanner(const Market& market, const std::vector<const Task*>& tasks, const std::vector<Segment>& fixed)
      : market_(market),
        tasks_(tasks),
        fixed_(fixed),
        sites_(loop_sites(market.problem(), tasks)),
        segments_(tasks.size()) {}

  JointPlan run() {
    std::vector<std::size_t> order(tasks_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple{tasks_[a]->job->priority, tasks_[a]->deadline} <
             std::tuple{tasks_[b]->job->priority, tasks_[b]->deadline};
    });
    for (int pass = 0; pass < kPasses; ++pass) {
      bool gained = false;
      for (const auto i : order) gained = move(i) || gained;
      if (!gained) break;
    }
    // Whoever still breaks a limit doesn't run, the least important first.
    for (auto i = order.rbegin(); i != order.rend(); ++i)
      if (violation() > 0) put(*i, {});
    JointPlan plan;
    plan.segments = std::move(segments_);
    return plan;
  }

 private:
  void put(std::size_t i, Segments segments) {
    market_.give(segments_[i], devices(i));
    segments_[i] = std::move(segments);
    market_.take(segments_[i], devices(i));
  }
  [[nodiscard]] double devices(std::size_t i) const { return static_cast<double>(tasks_[i]->job->devices); }

  [[nodiscard]] double violation() const {
    double sum = 0;
    for (const int site : sites_)
      sum += loop_violation(market_.problem(), site, sorted_at(site, segments_, fixed_));
    return sum;
  }

  [[nodiscard]] Rank rank(std::size_t i) const {
    const auto value = value_of(market_, *tasks_[i], segments_[i]);
    double cost = value.cost;
    for (const int site : sites_)
      cost += pump_bill(market_.problem(), market_.grid(), site, on_times(sorted_at(site, segments_, fixed_)))
                  .objective;
    return {violation(), segments_[i].empty() ? 1U : 0U, static_cast<double>(value.late),
            static_cast<double>(value.unknown), std::round(cost * 1e7) / 1e7};
  }

  /// Tries every start of a job in one piece and keeps the best.
  bool move(std::size_t i) {
    const auto& task = *tasks_[i];
    if (task.baseline.empty()) return false;
    const Segments before = segments_[i];
    auto best = rank(i);
    Segments best_segments = before;
    const auto& shape = task.baseline.front();
    const Minute length = shape.end - shape.begin;
    for (const int site : task.sites) {
      const Minute from = first_minute(market_.problem(), site, task.job->release);
      std::size_t tried = 0;
      for (auto a = market_.atoms().at(from); a < market_.atoms().size() && tried < kMostStarts; ++a) {
        const Minute at = market_.atoms().begin(a);
        if (at < from || (!market_.atoms().starts(a) && at != task.job->release && at != from)) continue;
        if (task.elastic() && at % market_.problem().slot != 0) continue;
        ++tried;
        const bool in_time =
            at + length <= (task.at_once ? std::max(task.deadline, shape.end) : task.deadline);
        if (!in_time && std::get<2>(best) == 0 && std::get<1>(best) == 0 && std::get<0>(best) == 0) break;
        put(i, {});
        Segments segments{{site, at, at + length, shape.kw, shape.replicas}};
        if (!market_.fits(segments, devices(i))) {
          put(i, best_segments);
          continue;
        }
        put(i, segments);
        const auto now = rank(i);
        if (now < best) {
          best = now;
          best_segments = std::move(segments);
        }
      }
    }
    put(i, best_segments);
    return best_segments != before;
  }

  Market market_;
  const std::vector<const Task*>& tasks_;
  const std::vector<Segment>& fixed_;
  std::set<int> sites_;
  std::vector<Segments> segments_;
};

}  // namespace

double pump_objective(const Problem& problem, const Grid& grid, const std::vector<const Task*>& tasks,
                      const std::vector<Segments>& segments, const std::vector<Segment>& fixed) {
  double cost = 0;
  for (const int site : loop_sites(problem, tasks))
    cost += pump_bill(problem, grid, site, on_times(sorted_at(site, segments, fixed))).objective;
  return cost;
}

double loop_violation(const Problem& problem, int site, const std::vector<const Segment*>& sorted_by_begin) {
  const auto& thermal = *problem.sites[static_cast<std::size_t>(site)].thermal;
  const auto on = on_times(sorted_by_begin);
  double broken = 0;
  for (std::size_t i = 0; i < on.size(); ++i) {
    broken += static_cast<double>(std::max<Minute>(0, thermal.min_on - (on[i].end - on[i].begin)));
    if (i > 0)
      broken += static_cast<double>(std::max<Minute>(0, thermal.min_off - (on[i].begin - on[i - 1].end)));
    if (!thermal.max_starts_per_hour) continue;
    std::int64_t starts = 0;
    for (auto k = i; k < on.size() && on[k].begin < on[i].begin + static_cast<Minute>(kMinutesPerHour); ++k)
      ++starts;
    broken += static_cast<double>(std::max<std::int64_t>(0, starts - *thermal.max_starts_per_hour));
  }
  if (thermal.ramp_kw_per_minute)
    broken += ramp_violation(problem, *thermal.ramp_kw_per_minute, sorted_by_begin);
  return broken;
}

JointPlan plan_around_loops(const Market& market, const std::vector<const Task*>& tasks,
                            const std::vector<Segment>& fixed) {
  return LoopPlanner{market, tasks, fixed}.run();
}

}  // namespace tidewatt::planning
