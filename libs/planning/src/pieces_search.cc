// Suspension, least run, moves: a dynamic programme over the cells of time, from the last to the first. A
// state is the work done and whether the job has not begun, is paused (and where its data lie) or is running.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "job_search.h"

namespace tidewatt::planning {
namespace {

constexpr double kMostStates = 4e7;
constexpr double kMostSteps = 6e7;
constexpr std::int32_t kNothing = -1;

struct Worth {
  Minute late = 0, unknown = 0;
  double cost = std::numeric_limits<double>::infinity();
  int breaks = 0;
  Minute start = 0, end = 0;
  [[nodiscard]] bool possible() const { return std::isfinite(cost); }
};

Value as_value(const Worth& worth) {
  return {worth.late, worth.unknown, worth.cost, worth.breaks, worth.start, worth.end};
}

bool improves(const Worth& candidate, const Worth& best) {
  if (!candidate.possible()) return false;
  return !best.possible() || better(as_value(candidate), as_value(best));
}

class PiecesSearch {
 public:
  PiecesSearch(const Market& market, const Task& task, const SearchLimits& limits)
      : market_(market),
        task_(task),
        job_(*task.job),
        limits_(limits),
        cells_(cells_of(market, task, limits.latest)) {}

  std::optional<Found> run() {
    if (cells_.empty() || !choose_unit()) return best_window(market_, task_, limits_);
    tabulate();
    for (std::size_t c = cells_.size(); c-- > 0;) fill_layer(c);
    if (!layer(0).fresh.possible()) return std::nullopt;
    Found found{merged(walk()), {}};
    found.value = value_of(market_, task_, found.segments);
    return found;
  }

 private:
  struct Layer {
    Worth fresh;
    std::vector<Worth> paused, running;  ///< by site and work
  };
  struct Step {
    Worth worth;
    std::int32_t units =
        kNothing;  ///< run in the cell before it stops; the cell's length: it runs on, or is done
  };
  struct CellAtSite {
    std::int32_t length = 0, room = 0;  ///< units
    double per_unit = 0, touch = 0;
    bool unknown = false;
    double whole = 0;
  };

  /// The unit of work; false where even the coarsest has too many states.
  bool choose_unit() {
    Minute common = std::gcd(job_.duration, std::min(job_.min_run, job_.duration));
    Minute longest = 0;
    for (const auto& cell : cells_) {
      common = std::gcd(common, cell.end - cell.begin);
      longest = std::max(longest, cell.end - cell.begin);
    }
    const bool matters =
        job_.suspend_kwh > 0 || job_.resume_kwh > 0 || (job_.migration_kwh > 0 && task_.sites.size() > 1);
    const auto states = [&](Minute unit) {
      return static_cast<double>(cells_.size()) * static_cast<double>(job_.duration / unit + 1) *
             static_cast<double>(3 * task_.sites.size() + 1);
    };
    unit_ = limits_.single_minutes && matters && states(1) <= kMostStates / 4 ? 1 : common;
    if (states(unit_) > kMostStates) return false;
    work_ = static_cast<std::int32_t>(job_.duration / unit_);
    least_ =
        std::max<std::int32_t>(1, static_cast<std::int32_t>(std::min(job_.min_run, job_.duration) / unit_));
    every_length_ = states(unit_) * static_cast<double>(longest / unit_) <= kMostSteps;
    usual_ = static_cast<std::int32_t>(std::max<Minute>(1, longest / unit_));
    return true;
  }

  void tabulate() {
    const double devices = static_cast<double>(job_.devices);
    at_.resize(cells_.size() * sites());
    std::int32_t shortest = std::numeric_limits<std::int32_t>::max();
    for (std::size_t c = 0; c < cells_.size(); ++c)
      for (std::size_t s = 0; s < sites(); ++s) {
        auto& entry = at_[c * sites() + s];
        const auto& cell = cells_[c];
        const int site = task_.sites[s];
        entry.length = static_cast<std::int32_t>((cell.end - cell.begin) / unit_);
        shortest = std::min(shortest, std::max<std::int32_t>(1, entry.length));
        entry.room = entry.length;
        if (limits_.room)
          entry.room = static_cast<std::int32_t>(
              market_.free_minutes(site, cell.atom, cell.end, job_.power_kw, devices) / unit_);
        if (cell.begin < first_minute(market_.problem(), site, job_.release)) entry.room = 0;
        const auto slot = market_.grid().slot_of(cell.begin);
        entry.per_unit = job_.power_kw * market_.grid().site(site).rate[slot] * static_cast<double>(unit_) /
                         kMinutesPerHour;
        entry.unknown = market_.grid().site(site).unknown[slot] != 0;
        entry.whole = market_.cost(site, cell.begin, cell.end, job_.power_kw, devices);
        // What a part of the cell costs beyond its minutes: the shadow price of the first atom at least.
        const Minute first_end = std::min(cell.end, market_.atoms().end(cell.atom));
        entry.touch =
            market_.cost(site, cell.begin, first_end, job_.power_kw, devices) -
            entry.per_unit / static_cast<double>(unit_) * static_cast<double>(first_end - cell.begin);
      }
    layers_.resize(std::min<std::size_t>(cells_.size() + 1, static_cast<std::size_t>(least_ / shortest) + 3));
    for (auto& layer : layers_) reset(layer);
    const auto width = sites() * stride();
    pause_choice_.assign(cells_.size() * width, kNothing);
    run_choice_.assign(cells_.size() * width, kNothing);
    begin_choice_.assign(cells_.size() * width, kNothing);
    fresh_choice_.assign(cells_.size(), kNothing);
  }

  [[nodiscard]] std::size_t sites() const { return task_.sites.size(); }
  [[nodiscard]] std::size_t stride() const { return static_cast<std::size_t>(work_) + 1; }
  [[nodiscard]] std::size_t index(std::size_t s, std::int32_t work) const {
    return s * stride() + static_cast<std::size_t>(work);
  }
  [[nodiscard]] std::size_t index(std::size_t c, std::size_t s, std::int32_t work) const {
    return c * sites() * stride() + index(s, work);
  }
  Layer& layer(std::size_t c) { return layers_[c % layers_.size()]; }
  void reset(Layer& layer) const {
    layer.fresh = {};
    layer.paused.assign(sites() * stride(), {});
    layer.running.assign(sites() * stride(), {});
  }

  /// What stops after `units` in cell c with work still to do adds, and what follows.
  [[nodiscard]] Worth stopped(std::size_t c, std::size_t s, std::int32_t units, const Worth& then) const {
    Worth worth = then;
    worth.cost +=
        one_off_cost(market_, task_.sites[s], cells_[c].begin + units * unit_ - 1, job_.suspend_kwh);
    ++worth.breaks;
    return worth;
  }

  [[nodiscard]] Worth finished(std::size_t c, std::int32_t units) const {
    Worth worth;
    worth.end = cells_[c].begin + units * unit_;
    worth.late = std::max<Minute>(0, worth.end - task_.deadline);
    const double delay = market_.problem().weights.value_or(Weights{}).delay;
    worth.cost = delay * static_cast<double>(worth.end - job_.release) / kMinutesPerHour;
    return worth;
  }

  void with_run(Worth& worth, const CellAtSite& cell, std::int32_t units) const {
    worth.cost += units == cell.length ? cell.whole : cell.per_unit * units + cell.touch;
    if (cell.unknown) worth.unknown += units * unit_;
  }

  /// Running in cell c at site s with `done` behind it, at least `least` units more; 0: it may stop at the
  /// cell's begin.
  Step run_in(std::size_t c, std::size_t s, std::int32_t done, std::int32_t least) {
    Step best;
    const auto& cell = at_[c * sites() + s];
    const auto try_step = [&](std::int32_t units, Worth worth) {
      with_run(worth, cell, units);
      if (improves(worth, best.worth)) best = {worth, units};
    };
    if (least == 0 && done > 0) {
      Worth worth = layer(c).paused[index(s, done)];
      if (worth.possible()) {
        worth = stopped(c, s, 0, worth);
        if (improves(worth, best.worth)) best = {worth, 0};
      }
    }
    const std::int32_t from = std::max<std::int32_t>(1, least);
    const std::int32_t left = work_ - done;
    const auto& next = layer(c + 1);
    const auto try_stop = [&](std::int32_t units) {
      if (units < from || units >= cell.length || units >= left || units > cell.room) return;
      const Worth& then = next.paused[index(s, done + units)];
      if (then.possible()) try_step(units, stopped(c, s, units, then));
    };
    if (every_length_) {
      const auto most = std::min({cell.length - 1, left - 1, cell.room});
      for (auto units = from; units <= most; ++units) try_stop(units);
    } else {
      try_stop(from);
      for (const auto extra :
           {std::int32_t{0}, at_.front().length, at_.back().length, at_.front().length + at_.back().length}) {
        const auto units = ((left - extra) % usual_ + usual_) % usual_;
        if (units != from) try_stop(units);
      }
    }
    if (left >= from && left <= cell.length && left <= cell.room) try_step(left, finished(c, left));
    if (cell.length >= from && cell.length < left && cell.room >= cell.length) {
      const Worth& then = next.running[index(s, done + cell.length)];
      if (then.possible()) try_step(cell.length, then);
    }
    return best;
  }

  /// A piece that begins in cell c: it runs at least `least_` units.
  Step begin_in(std::size_t c, std::size_t s, std::int32_t done) {
    if (work_ - done < least_) return {};
    std::int32_t run = 0;
    double cost = 0;
    Minute unknown = 0;
    auto at = c;
    for (;; ++at) {
      if (at >= cells_.size()) return {};
      const auto& cell = at_[at * sites() + s];
      if (run + cell.length >= least_) break;
      if (cell.room < cell.length) return {};
      run += cell.length;
      cost += cell.whole;
      unknown += cell.unknown ? cell.length * unit_ : 0;
    }
    Step step = run_in(at, s, done + run, least_ - run);
    step.worth.cost += cost;
    step.worth.unknown += unknown;
    return step;
  }

  void fill_layer(std::size_t c) {
    auto& here = layer(c);
    reset(here);
    const auto& next = layer(c + 1);
    const Minute begin = cells_[c].begin;
    std::vector<Step> starts(sites());
    for (std::int32_t done = 0; done < work_; ++done) {
      for (std::size_t s = 0; s < sites(); ++s) {
        starts[s] = begin_in(c, s, done);
        begin_choice_[index(c, s, done)] = starts[s].units;
      }
      if (done == 0) {
        fill_fresh(c, here, next, starts);
        continue;
      }
      for (std::size_t from = 0; from < sites(); ++from) {
        Worth best;
        std::int32_t choice = kNothing;
        for (std::size_t s = 0; s < sites(); ++s) {
          Worth worth = starts[s].worth;
          if (!worth.possible()) continue;
          worth.cost += one_off_cost(market_, task_.sites[s], begin, job_.resume_kwh);
          if (s != from) {
            worth.cost += move_cost(market_, job_, task_.sites[from], task_.sites[s], begin);
            ++worth.breaks;
          }
          if (improves(worth, best)) {
            best = worth;
            choice = static_cast<std::int32_t>(s) + 1;
          }
        }
        const Worth& wait = next.paused[index(from, done)];
        if (improves(wait, best)) {
          best = wait;
          choice = 0;
        }
        here.paused[index(from, done)] = best;
        pause_choice_[index(c, from, done)] = choice;
      }
    }
    for (std::int32_t done = 1; done < work_; ++done)
      for (std::size_t s = 0; s < sites(); ++s) {
        const auto step = c == 0 ? Step{} : run_in(c, s, done, 0);
        here.running[index(s, done)] = step.worth;
        run_choice_[index(c, s, done)] = step.units;
      }
  }

  void fill_fresh(std::size_t c, Layer& here, const Layer& next, const std::vector<Step>& starts) {
    for (std::size_t s = 0; s < sites(); ++s) {
      Worth worth = starts[s].worth;
      if (!worth.possible()) continue;
      worth.start = cells_[c].begin;
      if (task_.sites[s] != job_.sites.front()) {
        worth.cost += move_cost(market_, job_, job_.sites.front(), task_.sites[s], cells_[c].begin);
        ++worth.breaks;
      }
      if (improves(worth, here.fresh)) {
        here.fresh = worth;
        fresh_choice_[c] = static_cast<std::int32_t>(s) + 1;
      }
    }
    if (improves(next.fresh, here.fresh)) {
      here.fresh = next.fresh;
      fresh_choice_[c] = 0;
    }
  }

  /// Follows the choices from the first cell on.
  Segments walk() const {
    Segments segments;
    std::size_t c = 0;
    while (fresh_choice_[c] == 0) ++c;
    auto s = static_cast<std::size_t>(fresh_choice_[c] - 1);
    std::int32_t done = 0;
    bool beginning = true;
    while (done < work_) {
      std::int32_t units = 0;
      const Minute from = cells_[c].begin;
      if (beginning) {
        units = begin_choice_[index(c, s, done)];
        std::int32_t run = 0;
        while (run + at_[c * sites() + s].length < least_) run += at_[c++ * sites() + s].length;
        done += run;
        beginning = false;
      } else {
        units = run_choice_[index(c, s, done)];
      }
      done += units;
      const Minute end = cells_[c].begin + units * unit_;
      if (end > from) segments.push_back({task_.sites[s], from, end, job_.power_kw, 1});
      if (done >= work_) break;
      const bool runs_on = units == at_[c * sites() + s].length;
      if (units > 0) ++c;
      if (runs_on) continue;
      while (pause_choice_[index(c, s, done)] == 0) ++c;
      s = static_cast<std::size_t>(pause_choice_[index(c, s, done)] - 1);
      beginning = true;
    }
    return segments;
  }

  const Market& market_;
  const Task& task_;
  const Job& job_;
  const SearchLimits& limits_;
  std::vector<Cell> cells_;
  Minute unit_ = 1;
  std::int32_t work_ = 0, least_ = 1, usual_ = 1;
  bool every_length_ = true;
  std::vector<CellAtSite> at_;
  std::vector<Layer> layers_;
  std::vector<std::int32_t> pause_choice_, run_choice_, begin_choice_, fresh_choice_;
};

}  // namespace

std::optional<Found> best_pieces(const Market& market, const Task& task, const SearchLimits& limits) {
  return PiecesSearch{market, task, limits}.run();
}

}  // namespace tidewatt::planning
