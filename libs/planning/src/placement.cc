#include "placement.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "exact.h"
#include "joint.h"
#include "loops.h"
#include "single_policies.h"

namespace tidewatt::planning {
namespace {

bool plans_jointly(Policy policy) {
  return policy == Policy::joint || policy == Policy::optimal || policy == Policy::robust;
}

double devices(const Task& task) { return static_cast<double>(task.job->devices); }

bool shared(const Problem& problem, const Grid& grid, int site) {
  return grid.site(site).limited || problem.sites[static_cast<std::size_t>(site)].thermal.has_value();
}

class Placer {
 public:
  Placer(const Problem& problem, const Grid& grid, const Atoms& atoms, const std::vector<Task>& tasks,
         const MipSolver* solver)
      : problem_(problem), grid_(grid), tasks_(tasks), solver_(solver), market_(problem, grid, atoms) {
    result_.segments.resize(tasks.size());
    result_.displaced.resize(tasks.size(), false);
  }

  Placement run() {
    // What can't be on time runs at once; the others are planned around it.
    for (const auto i : by_priority(tasks_))
      if (tasks_[i].fate == Fate::too_short) put(i, place_at_once(market_, tasks_[i]));
    if (plans_jointly(problem_.policy))
      jointly();
    else
      one_by_one();
    return std::move(result_);
  }

 private:
  void put(std::size_t i, Segments segments) {
    market_.take(segments, devices(tasks_[i]));
    result_.segments[i] = std::move(segments);
  }

  void one_by_one() {
    for (const auto i : by_priority(tasks_))
      if (tasks_[i].fate == Fate::normal) put(i, place_by_policy(market_, tasks_[i], problem_.policy));
    double bound = 0;
    Minute unknown = 0, least_unknown = 0;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const auto& task = tasks_[i];
      const auto value = value_of(market_, task, result_.segments[i]);
      if (task.fate != Fate::normal) {
        bound += value.cost;
        continue;
      }
      const auto alone = best_alone(task, false);
      if (!alone) return;
      bound += alone->value.cost;
      least_unknown += alone->value.unknown;
      unknown += value.unknown;
    }
    if (unknown == least_unknown) result_.bound = bound;
  }

  std::optional<Found> best_alone(const Task& task, bool exact_ties) const {
    SearchLimits limits;
    limits.latest = task.at_once ? std::max(task.deadline, task.baseline.back().end) : task.deadline;
    if (task.at_once) limits.latest = task.baseline.back().end;
    limits.room = false;
    limits.exact_ties = exact_ties;
    limits.single_minutes = tasks_.size() <= kSingleMinuteTasks;
    return best_run(market_, task, limits);
  }

  void jointly() {
    double bound = 0;
    bool bounded = true;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const auto& task = tasks_[i];
      if (task.fate == Fate::too_short) bound += value_of(market_, task, result_.segments[i]).cost;
    }
    for (const auto& group : groups()) {
      if (group.size() == 1 && !is_shared(tasks_[group.front()])) {
        auto found = best_alone(tasks_[group.front()], true);
        if (!found) continue;
        bound += found->value.cost;
        put(group.front(), std::move(found->segments));
        continue;
      }
      const auto group_bound = place_group(group);
      bounded = bounded && group_bound;
      bound += group_bound.value_or(0);
    }
    if (bounded) result_.bound = bound;
  }

  [[nodiscard]] bool is_shared(const Task& task) const {
    return std::any_of(task.sites.begin(), task.sites.end(),
                       [&](int site) { return shared(problem_, grid_, site); });
  }

  /// @return the bound of the group's objective, when one is known
  std::optional<double> place_group(const std::vector<std::size_t>& group) {
    std::vector<const Task*> tasks;
    bool loop = false;
    for (const auto i : group) {
      tasks.push_back(&tasks_[i]);
      for (const int site : tasks_[i].sites)
        loop = loop || problem_.sites[static_cast<std::size_t>(site)].thermal;
    }
    auto plan = loop ? JointPlan{} : plan_jointly(market_, tasks);
    const bool proved = !loop && plan.bound && objective(tasks, plan.segments) <= *plan.bound + kProved;
    if (loop || (problem_.policy == Policy::optimal && !proved)) {
      for (std::size_t k = 0; k < plan.segments.size(); ++k)
        market_.give(plan.segments[k], devices(*tasks[k]));
      improve_exactly(tasks, plan);
      for (std::size_t k = 0; k < group.size(); ++k) market_.take(plan.segments[k], devices(*tasks[k]));
    }
    for (std::size_t k = 0; k < group.size(); ++k) {
      const auto alone = tasks_.size() <= kExplainedTasks ? best_alone(*tasks[k], false) : std::nullopt;
      const auto value = value_of(market_, *tasks[k], plan.segments[k]);
      if (alone && value.cost > alone->value.cost + 1e-6) {
        result_.displaced[group[k]] = true;
        result_.caps_bind = true;
      }
      result_.segments[group[k]] = std::move(plan.segments[k]);
    }
    return plan.bound;
  }

  /// What jobs and the pumps of their loops cost.
  [[nodiscard]] double objective(const std::vector<const Task*>& tasks,
                                 const std::vector<Segments>& segments) const {
    double cost = 0;
    for (std::size_t k = 0; k < tasks.size(); ++k) cost += value_of(market_, *tasks[k], segments[k]).cost;
    return cost;
  }

  /// Replaces a plan by the solver's where that is better, or where loops leave no other.
  void improve_exactly(const std::vector<const Task*>& tasks, JointPlan& plan) const {
    auto exact = plan_exactly(market_, tasks, fixed_segments(), solver_);
    if (!exact.found) {
      if (plan.segments.empty()) plan = plan_around_loops(market_, tasks, fixed_segments());
      return;
    }
    if (!plan.segments.empty() && !exact.proved &&
        objective(tasks, plan.segments) <= objective(tasks, exact.segments))
      return;
    plan.segments = std::move(exact.segments);
    if (exact.proved)
      plan.bound = objective(tasks, plan.segments) +
                   pump_objective(problem_, grid_, tasks, plan.segments, fixed_segments());
  }

  /// Everything that runs already, for loops that are shared with it.
  std::vector<Segment> fixed_segments() const {
    std::vector<Segment> all;
    for (const auto& segments : result_.segments) all.insert(all.end(), segments.begin(), segments.end());
    return all;
  }

  /// Tasks that share a limited site, directly or through others, in order of their first.
  std::vector<std::vector<std::size_t>> groups() const {
    std::vector<std::size_t> parent(problem_.sites.size());
    std::iota(parent.begin(), parent.end(), std::size_t{0});
    const auto root = [&](std::size_t s) {
      while (parent[s] != s) s = parent[s] = parent[parent[s]];
      return s;
    };
    const auto shared_sites = [&](const Task& task) {
      std::vector<std::size_t> sites;
      for (const int site : task.sites)
        if (shared(problem_, grid_, site)) sites.push_back(static_cast<std::size_t>(site));
      return sites;
    };
    for (const auto& task : tasks_) {
      if (task.fate != Fate::normal) continue;
      const auto sites = shared_sites(task);
      for (std::size_t k = 1; k < sites.size(); ++k) parent[root(sites[k])] = root(sites[0]);
    }
    std::vector<std::vector<std::size_t>> groups;
    std::map<std::size_t, std::size_t> group_of_site;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (tasks_[i].fate != Fate::normal) continue;
      const auto sites = shared_sites(tasks_[i]);
      if (sites.empty()) {
        groups.push_back({i});
        continue;
      }
      const auto [at, fresh] = group_of_site.emplace(root(sites[0]), groups.size());
      if (fresh) groups.emplace_back();
      groups[at->second].push_back(i);
    }
    return groups;
  }

  static constexpr double kProved = 1e-6;
  static constexpr std::size_t kSingleMinuteTasks = 50;
  static constexpr std::size_t kExplainedTasks = 2'000;

  const Problem& problem_;
  const Grid& grid_;
  const std::vector<Task>& tasks_;
  const MipSolver* solver_;
  Market market_;
  Placement result_;
};

}  // namespace

Placement place_all(const Problem& problem, const Grid& grid, const Atoms& atoms,
                    const std::vector<Task>& tasks, const MipSolver* solver) {
  return Placer{problem, grid, atoms, tasks, solver}.run();
}

std::vector<Segments> place_first_come(const Problem& problem, const Grid& grid, const Atoms& atoms,
                                       const std::vector<Task>& tasks) {
  Market market{problem, grid, atoms};
  std::vector<Segments> all(tasks.size());
  for (const auto i : by_release(tasks)) {
    all[i] = place_at_once(market, tasks[i]);
    market.take(all[i], devices(tasks[i]));
  }
  return all;
}

}  // namespace tidewatt::planning
