#include "joint.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

namespace tidewatt::planning {
namespace {

/// Searches are counted in cells looked at, not in seconds: the same file gives the same plan on any machine.
constexpr double kPriceWork = 5e7;
constexpr double kImproveWork = 2.5e8;
constexpr int kMostPriceRounds = 300;
constexpr int kMostRuins = 20'000;
constexpr int kRuinsWithoutGain = 4'000;
constexpr int kTurnsPerMood = 12;
constexpr std::size_t kFewTasks = 400;
constexpr double kCloseEnough = 1e-9;

class JointPlanner {
 public:
  JointPlanner(Market& market, const std::vector<const Task*>& tasks)
      : market_(market), priced_(market), tasks_(tasks), plan_(tasks.size()), random_(20260203) {
    double work = 0;
    for (const auto* task : tasks_) {
      aligned_.push_back(is_aligned(market_, *task));
      const auto cells =
          static_cast<double>(std::min(task->deadline, market_.atoms().last()) - task->job->release) /
          static_cast<double>(std::max<Minute>(
              1, market_.atoms().step() != 0 ? market_.atoms().step() : market_.problem().slot));
      work += std::max(1.0, cells) * (aligned_.back() ? 1.0 : 30.0) * static_cast<double>(task->sites.size());
    }
    work_per_round_ = work;
    single_minutes_ = tasks_.size() <= 20;
  }

  JointPlan run() {
    if (each_for_itself()) return finish(total_.cost);
    price_caps();
    build_up(true);
    improve_each();
    if (tasks_.size() <= kFewTasks) ruin_and_recreate();
    return finish(bound_);
  }

 private:
  std::optional<Found> search(const Market& market, std::size_t i, Minute latest, bool exact) const {
    SearchLimits limits;
    limits.latest = latest;
    limits.exact_ties = exact;
    limits.single_minutes = exact && single_minutes_;
    if (aligned_[i] && !exact) return best_aligned(market, *tasks_[i], limits);
    return best_run(market, *tasks_[i], limits);
  }

  /// The best in what is free; late, as little as possible, where there is no room in time.
  std::optional<Found> place(const Market& market, std::size_t i, bool exact) const {
    const Minute deadline = latest_[i];
    if (auto found = search(market, i, deadline, exact)) return found;
    SearchLimits limits;
    limits.latest = market.atoms().last();
    limits.exact_ties = exact;
    limits.single_minutes = false;
    return best_run(market, *tasks_[i], limits);
  }

  /// Whether all fit when each takes its own best: then nothing is better.
  bool each_for_itself() {
    bool possible = true;
    double sum = 0;
    Minute unknown = 0;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const auto& task = *tasks_[i];
      latest_.push_back(task.at_once ? std::min(task.deadline, task.baseline.back().end) : task.deadline);
      auto found = search(market_, i, latest_[i], tasks_.size() <= kFewTasks);
      if (!found) {
        possible = false;  // alone it is late already: the caps leave no room in time
        alone_.push_back({});
        continue;
      }
      sum += found->value.cost;
      unknown += found->value.unknown;
      alone_.push_back(std::move(*found));
    }
    if (possible) {
      bound_ = sum;
      least_unknown_ = unknown;
    }
    bool fit = possible;
    for (std::size_t taken = 0; fit && taken < tasks_.size(); ++taken) {
      fit = market_.fits(alone_[taken].segments, devices(taken));
      if (fit) put(taken, alone_[taken]);
    }
    if (!fit) take_back();
    return fit;
  }

  [[nodiscard]] double devices(std::size_t i) const { return static_cast<double>(tasks_[i]->job->devices); }

  /// Shadow prices of the caps by the subgradient of the Lagrangian; every round's value is a proved bound.
  void price_caps() {
    const auto sites = market_.grid().sites();
    const auto size = market_.atoms().size();
    std::vector<std::vector<double>> price(sites), load(sites), best_price(sites);
    for (std::size_t s = 0; s < sites; ++s)
      if (market_.limited(static_cast<int>(s))) price[s].assign(size, 0);
    best_price = price;
    const auto alone = limits_alone();
    const int rounds = static_cast<int>(
        std::clamp(kPriceWork / std::max(1.0, work_per_round_), 8.0, static_cast<double>(kMostPriceRounds)));
    build_up(false);
    const Total upper = total_;
    take_back();
    const bool may_bound = bound_.has_value();
    double best = bound_.value_or(0);
    double pace = 1.0;
    int stale = 0;
    std::vector<std::vector<double>> direction(sites);
    for (int round = 0; round < rounds; ++round) {
      double value = 0;
      for (std::size_t s = 0; s < sites; ++s) load[s].assign(price[s].size(), 0);
      for (std::size_t i = 0; i < tasks_.size(); ++i) {
        auto found =
            aligned_[i] ? best_aligned(priced_, *tasks_[i], alone[i]) : search(priced_, i, latest_[i], false);
        if (!found) continue;
        value += found->value.cost;
        for (const auto& piece : found->segments) {
          auto& at_site = load[static_cast<std::size_t>(piece.site)];
          if (at_site.empty()) continue;
          for (auto a = market_.atoms().at(piece.begin); a < size && market_.atoms().begin(a) < piece.end;
               ++a)
            at_site[a] += piece.kw;
        }
      }
      double norm = 0;
      for (std::size_t s = 0; s < sites; ++s) {
        if (price[s].empty()) continue;
        const auto& room = market_.free_kw(static_cast<int>(s));
        if (direction[s].empty()) direction[s].assign(size, 0);
        for (std::size_t a = 0; a < size; ++a) {
          if (!std::isfinite(room[a])) continue;
          value -= price[s][a] * room[a];
          double over = load[s][a] - room[a];
          if (price[s][a] <= 0 && over < 0) over = 0;
          direction[s][a] = over + 0.6 * direction[s][a];
          norm += direction[s][a] * direction[s][a];
        }
      }
      if (value > best + kCloseEnough * std::abs(best)) {
        best = value;
        best_price = price;
        stale = 0;
      } else if (++stale >= 6) {
        pace *= 0.6;
        stale = 0;
      }
      const double gap = std::max(upper.cost - value, 1e-4 * std::abs(upper.cost));
      if (norm <= 0 || upper.cost - best <= 1e-6 * std::abs(upper.cost)) break;
      const double step = pace * gap / norm;
      for (std::size_t s = 0; s < sites; ++s) {
        for (std::size_t a = 0; a < price[s].size(); ++a)
          price[s][a] = std::max(0.0, price[s][a] + step * direction[s][a]);
        if (!price[s].empty()) priced_.set_prices(static_cast<int>(s), price[s], {});
      }
    }
    for (std::size_t s = 0; s < sites; ++s)
      if (!best_price[s].empty()) priced_.set_prices(static_cast<int>(s), best_price[s], {});
    if (may_bound) bound_ = std::max(*bound_, proved_at_prices(best_price));
    best_price_ = std::move(best_price);
  }

  /// Each task's limits while nobody else is there: room need not be looked for where there always is.
  [[nodiscard]] std::vector<SearchLimits> limits_alone() const {
    std::vector<double> least(market_.grid().sites(), kNoLimit);
    for (std::size_t s = 0; s < least.size(); ++s)
      for (const double kw : market_.free_kw(static_cast<int>(s))) least[s] = std::min(least[s], kw);
    std::vector<SearchLimits> all(tasks_.size());
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      all[i].latest = latest_[i];
      all[i].exact_ties = false;
      all[i].room = std::any_of(tasks_[i]->sites.begin(), tasks_[i]->sites.end(), [&](int site) {
        return tasks_[i]->job->devices > 0 ||
               tasks_[i]->job->power_kw > least[static_cast<std::size_t>(site)];
      });
    }
    return all;
  }

  /// The Lagrangian's value at these prices with no short cut that could lift it: pauses are searched by the
  /// minute where that is affordable, else they are free.
  double proved_at_prices(const std::vector<std::vector<double>>& price) const {
    double value = 0;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      SearchLimits limits;
      limits.latest = latest_[i];
      limits.exact_ties = false;
      const Job& job = *tasks_[i]->job;
      const bool pays =
          !tasks_[i]->one_piece && (job.suspend_kwh > 0 || job.resume_kwh > 0 || job.migration_kwh > 0);
      Job free_pauses = job;
      Task task = *tasks_[i];
      if (pays && !single_minutes_) {
        free_pauses.suspend_kwh = free_pauses.resume_kwh = free_pauses.migration_kwh = 0;
        free_pauses.min_run = 0;
        task.job = &free_pauses;
      }
      const auto found = aligned_[i] ? best_aligned(priced_, task, limits) : best_run(priced_, task, limits);
      if (found) value += found->value.cost;
    }
    for (std::size_t s = 0; s < price.size(); ++s)
      for (std::size_t a = 0; a < price[s].size(); ++a)
        if (const double room = market_.free_kw(static_cast<int>(s))[a]; std::isfinite(room))
          value -= price[s][a] * room;
    return value;
  }

  /// Tasks with the least freedom first, then those that take most.
  std::vector<std::size_t> order() const {
    std::vector<std::size_t> order(tasks_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto freedom = [&](std::size_t i) {
      return latest_[i] - tasks_[i]->job->release - tasks_[i]->duration();
    };
    const auto energy = [&](std::size_t i) {
      const auto& task = *tasks_[i];
      return task.elastic() ? task.baseline_bill.energy_kwh * kMinutesPerHour
                            : task.job->power_kw * static_cast<double>(task.duration());
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const bool stuck_a = freedom(a) <= 0, stuck_b = freedom(b) <= 0;
      if (stuck_a != stuck_b) return stuck_a;
      return energy(a) > energy(b);
    });
    return order;
  }

  /// One after the other, with the shadow prices deciding who takes the cheap slots.
  void build_up(bool priced) {
    auto indices = order();
    for (int attempt = 0; attempt < 2; ++attempt) {
      total_ = {};
      bool late = false;
      for (const auto i : indices) {
        auto found = place(priced ? priced_ : market_, i, false);
        if (!found) continue;
        put(i, std::move(*found));
        late = late || plan_[i].value.late > 0;
      }
      if (!late || attempt == 1) return;
      // Somebody is late: the important ones choose first, and among them those in a hurry.
      take_back();
      std::stable_sort(indices.begin(), indices.end(), [&](std::size_t a, std::size_t b) {
        const auto rank = [&](std::size_t i) {
          return std::pair{tasks_[i]->job->priority, latest_[i] - tasks_[i]->duration()};
        };
        return rank(a) < rank(b);
      });
    }
  }

  /// Puts a task where it was found; both markets hold the same room.
  void put(std::size_t i, Found found) {
    plan_[i] = std::move(found);
    plan_[i].value = value_of(market_, *tasks_[i], plan_[i].segments);
    market_.take(plan_[i].segments, devices(i));
    priced_.take(plan_[i].segments, devices(i));
    if (!plan_[i].segments.empty()) total_.add(*tasks_[i], plan_[i].value);
  }

  Found take_out(std::size_t i) {
    market_.give(plan_[i].segments, devices(i));
    priced_.give(plan_[i].segments, devices(i));
    if (!plan_[i].segments.empty()) total_.add(*tasks_[i], plan_[i].value, -1);
    return std::exchange(plan_[i], Found{});
  }

  void take_back() {
    for (std::size_t i = 0; i < tasks_.size(); ++i) take_out(i);
    total_ = {};
  }

  /// Each task in turn takes the best place that is free without it, until nobody gains.
  void improve_each() {
    const int passes = static_cast<int>(std::clamp(kImproveWork / std::max(1.0, work_per_round_), 2.0, 20.0));
    for (int pass = 0; pass < passes; ++pass) {
      bool gained = false;
      for (std::size_t i = 0; i < tasks_.size(); ++i) gained = improve(i, false) || gained;
      if (!gained) return;
    }
  }

  bool improve(std::size_t i, bool exact) {
    auto before = take_out(i);
    auto found = place(market_, i, exact);
    if (found) found->value = value_of(market_, *tasks_[i], found->segments);
    const bool gain = found && (before.segments.empty() || better(found->value, before.value));
    put(i, gain ? std::move(*found) : std::move(before));
    return gain;
  }

  /// Takes some tasks out and puts them back in another order; keeps what is better.
  void ruin_and_recreate() {
    const auto n = tasks_.size();
    if (n < 2) return;
    const int most = static_cast<int>(
        std::clamp(4.0 * kImproveWork / std::max(1.0, work_per_round_ / static_cast<double>(n) * 4), 50.0,
                   static_cast<double>(kMostRuins)));
    int idle = 0;
    for (int turn = 0; turn < most && idle < kRuinsWithoutGain; ++turn) {
      if (turn % kTurnsPerMood == kTurnsPerMood - 1) change_mood();
      if (bound_ && no_lateness() && total_.cost - *bound_ <= 1e-7 * std::abs(total_.cost)) return;
      const auto out = pick_neighbours(std::min<std::size_t>(n, 2 + random_() % 5));
      std::vector<Found> before;
      const Total was = total_;
      for (const auto i : out) before.push_back(take_out(i));
      const bool guided = random_() % 3 == 0;
      const bool strict = in_time(was);
      for (const auto i : out) {
        const auto& market = guided ? priced_ : market_;
        auto found = strict ? search(market, i, latest_[i], false) : place(market, i, false);
        if (!found) break;
        put(i, std::move(*found));
      }
      const bool all_placed =
          std::none_of(out.begin(), out.end(), [&](std::size_t i) { return plan_[i].segments.empty(); });
      if (all_placed && better(total_, was)) {
        idle = 0;
        for (const auto i : out) improve(i, false);
        continue;
      }
      ++idle;
      for (const auto i : out) take_out(i);
      for (std::size_t k = 0; k < out.size(); ++k) put(out[k], std::move(before[k]));
      total_ = was;
    }
  }

  /// Other shadow prices for a while: around those of the relaxation, and with some slots made dear at
  /// random.
  void change_mood() {
    for (std::size_t s = 0; s < best_price_.size(); ++s) {
      if (best_price_[s].empty()) continue;
      auto price = best_price_[s];
      double dearest = 0;
      for (std::size_t a = 0; a < price.size(); ++a)
        dearest = std::max(dearest, std::abs(market_.sums(static_cast<int>(s))[a + 1] -
                                             market_.sums(static_cast<int>(s))[a]));
      for (auto& each : price) {
        each *= 2 * uniform();
        if (random_() % 4 == 0) each += dearest * uniform();
      }
      priced_.set_prices(static_cast<int>(s), price, {});
    }
  }

  double uniform() { return static_cast<double>(random_() >> 11U) * 0x1.0p-53; }

  [[nodiscard]] static bool in_time(const Total& total) {
    return std::all_of(total.late.begin(), total.late.end(), [](Minute late) { return late == 0; });
  }
  [[nodiscard]] bool no_lateness() const { return in_time(total_); }

  /// A random task and others whose windows meet its own.
  std::vector<std::size_t> pick_neighbours(std::size_t count) {
    std::vector<std::size_t> picked{random_() % tasks_.size()};
    const auto& seed = *tasks_[picked.front()];
    for (int tries = 0; picked.size() < count && tries < 40; ++tries) {
      const auto i = random_() % tasks_.size();
      const auto& other = *tasks_[i];
      if (other.job->release >= seed.deadline || seed.job->release >= other.deadline) continue;
      if (std::find(picked.begin(), picked.end(), i) == picked.end()) picked.push_back(i);
    }
    for (std::size_t k = picked.size(); k > 1; --k) std::swap(picked[k - 1], picked[random_() % k]);
    return picked;
  }

  JointPlan finish(std::optional<double> bound) {
    // Where nothing is to be gained the tie rules decide.
    if (tasks_.size() <= kFewTasks)
      for (std::size_t i = 0; i < tasks_.size(); ++i) improve(i, true);
    JointPlan result;
    for (auto& found : plan_) result.segments.push_back(std::move(found.segments));
    if (no_lateness() && total_.unknown == least_unknown_) result.bound = bound;
    return result;
  }

  Market& market_;
  Market priced_;
  const std::vector<const Task*>& tasks_;
  std::vector<Found> plan_, alone_;
  std::vector<bool> aligned_;
  std::vector<Minute> latest_;
  std::vector<std::vector<double>> best_price_;  ///< per site and atom
  Total total_;
  std::optional<double> bound_;
  Minute least_unknown_ = 0;
  double work_per_round_ = 0;
  bool single_minutes_ = true;
  std::mt19937_64 random_;
};

}  // namespace

void Total::add(const Task& task, const Value& value, int sign) {
  late[static_cast<std::size_t>(task.job->priority)] += sign * value.late;
  unknown += sign * value.unknown;
  cost += sign * value.cost;
}

bool better(const Total& a, const Total& b) {
  if (a.late != b.late) return a.late < b.late;
  if (a.unknown != b.unknown) return a.unknown < b.unknown;
  return a.cost < b.cost - kTie;
}

JointPlan plan_jointly(Market& market, const std::vector<const Task*>& tasks) {
  return JointPlanner{market, tasks}.run();
}

double bound_alone(const Market& market, const std::vector<const Task*>& tasks) {
  double sum = 0;
  for (const auto* task : tasks) {
    SearchLimits limits;
    limits.latest = task->deadline;
    limits.room = false;
    const auto found = best_run(market, *task, limits);
    sum += found ? found->value.cost : 0;
  }
  return sum;
}

}  // namespace tidewatt::planning
