// Time is cut into equal units that all starts, lengths and limits are whole numbers of. A job of one piece
// has a column per place and start; one that may pause has a column per place and unit; an elastic one per
// place, slot and count. Loops add their on, start and pump columns per unit.
#include "exact.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "job_search.h"

namespace tidewatt::planning {
namespace {

constexpr std::size_t kMostColumns = 20'000;
constexpr std::size_t kMostEntries = 400'000;
constexpr int kMostNodes = 20'000;
/// What a unit later costs, so that of equal plans the earlier is found; far below what a plan is compared
/// at.
constexpr double kLater = 1e-6;

/// One column's share in what runs at a site in a unit.
struct Running {
  int column;
  double kw;
};

class GroupModel {
 public:
  GroupModel(const Market& market, const std::vector<const Task*>& tasks, const std::vector<Segment>& fixed)
      : market_(market), problem_(market.problem()), grid_(market.grid()), tasks_(tasks), fixed_(fixed) {}

  /// false: too large, or of a kind that has no model here.
  bool build() {
    if (!choose_unit()) return false;
    runs_.assign(grid_.sites() * units_, {});
    occupancy_.resize(tasks_.size());
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      occupancy_[i].assign(grid_.sites() * units_, {});
      if (!add_task(i) || model_.columns.size() > kMostColumns) return false;
    }
    for (std::size_t s = 0; s < grid_.sites(); ++s) {
      add_caps(static_cast<int>(s));
      if (problem_.sites[s].thermal) add_loop(static_cast<int>(s), *problem_.sites[s].thermal);
    }
    std::size_t entries = 0;
    for (const auto& row : model_.rows) entries += row.entries.size();
    return model_.columns.size() <= kMostColumns && entries <= kMostEntries;
  }

  [[nodiscard]] const MipModel& model() const { return model_; }

  [[nodiscard]] std::vector<Segments> segments(const std::vector<double>& values) const {
    std::vector<Segments> all;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      Segments segments;
      for (const auto& choice : choices_)
        if (choice.task == i && values[static_cast<std::size_t>(choice.column)] > 0.5)
          segments.push_back(choice.segment);
      std::sort(segments.begin(), segments.end(),
                [](const Segment& a, const Segment& b) { return a.begin < b.begin; });
      all.push_back(merged(segments));
    }
    return all;
  }

 private:
  struct Choice {
    std::size_t task;
    int column;
    Segment segment;
  };

  bool choose_unit() {
    Minute unit = problem_.slot;
    Minute end = 0;
    const auto fit = [&](Minute at) { unit = std::gcd(unit, std::max<Minute>(0, at)); };
    for (const auto* task : tasks_) {
      const auto& job = *task->job;
      for (const Minute at : {job.release, task->earliest, job.duration, std::min(job.min_run, job.duration)})
        fit(at);
      if (!task->elastic()) fit(task->deadline);
      end = std::max(end, latest(*task));
    }
    for (const auto& piece : fixed_) {
      fit(piece.begin);
      fit(piece.end);
      end = std::max(end, piece.end);
    }
    for (const auto& site : problem_.sites) {
      for (const auto& event : site.events) {
        fit(event.from);
        fit(event.to);
      }
      if (!site.thermal) continue;
      for (const Minute at :
           {site.thermal->min_on, site.thermal->min_off, site.thermal->pump_pre, site.thermal->pump_post})
        fit(at);
      if (site.thermal->max_starts_per_hour) fit(static_cast<Minute>(kMinutesPerHour));
    }
    end = std::min(end, market_.atoms().last());
    unit_ = unit;
    units_ = static_cast<std::size_t>((end + unit - 1) / unit);
    return units_ > 0 && units_ * tasks_.size() <= kMostColumns;
  }

  [[nodiscard]] static Minute latest(const Task& task) {
    return task.at_once && !task.baseline.empty() ? task.baseline.back().end : task.deadline;
  }
  [[nodiscard]] Minute begin(std::size_t t) const { return static_cast<Minute>(t) * unit_; }
  [[nodiscard]] std::size_t cell(int site, std::size_t t) const {
    return static_cast<std::size_t>(site) * units_ + t;
  }

  int column(double cost, bool whole = true, double upper = 1) {
    model_.columns.push_back({0, upper, cost, whole});
    return static_cast<int>(model_.columns.size()) - 1;
  }
  void row(double lower, double upper, std::vector<std::pair<int, double>> entries) {
    model_.rows.push_back({lower, upper, std::move(entries)});
  }
  void at_least(std::vector<std::pair<int, double>> entries, double lower) {
    row(lower, kMany, std::move(entries));
  }
  void at_most(std::vector<std::pair<int, double>> entries, double upper) {
    row(-kMany, upper, std::move(entries));
  }

  /// Run minutes without intensity come before all carbon.
  [[nodiscard]] double unknown_cost(int site, Minute from, Minute to) const {
    return static_cast<double>(market_.unknown_minutes(site, from, to)) * kUnknown;
  }

  void occupy(std::size_t i, int site, Minute from, Minute to, int column, double kw) {
    for (auto t = static_cast<std::size_t>(from / unit_); t < units_ && begin(t) < to; ++t) {
      occupancy_[i][cell(site, t)].push_back(column);
      runs_[cell(site, t)].push_back({column, kw});
    }
  }

  bool add_task(std::size_t i) {
    const auto& task = *tasks_[i];
    for (const int site : task.sites)
      for (const double rate : grid_.site(site).rate)
        if (rate < 0) return false;  // the overheads' columns would be paid for running
    if (task.elastic() ? task.at_once : task.one_piece) return add_windows(i);
    return task.elastic() ? add_counts(i) : add_units(i);
  }

  /// A column per place and start.
  bool add_windows(std::size_t i) {
    const auto& task = *tasks_[i];
    const Minute length =
        task.elastic() ? task.baseline.back().end - task.baseline.back().begin : task.duration();
    const double kw = task.elastic() ? task.baseline.back().kw : task.job->power_kw;
    const int count = task.elastic() ? task.baseline.back().replicas : 1;
    std::vector<std::pair<int, double>> one;
    for (const int site : task.sites) {
      const Minute from = first_minute(problem_, site, task.job->release);
      for (std::size_t t = static_cast<std::size_t>(from / unit_);
           begin(t) + length <= latest(task) && t < units_; ++t) {
        const Minute at = begin(t);
        if (at < from || !may_start(task, site, at)) continue;
        const Segments segments{{site, at, at + length, kw, count}};
        const int chosen = column(value_of(market_, task, segments).cost +
                                  unknown_cost(site, at, at + length) + kLater * static_cast<double>(t));
        one.emplace_back(chosen, 1);
        choices_.push_back({i, chosen, segments.front()});
        occupy(i, site, at, at + length, chosen, kw);
      }
    }
    if (one.empty()) return false;
    row(1, 1, std::move(one));
    return true;
  }

  [[nodiscard]] bool may_start(const Task& task, int site, Minute at) const {
    if (task.elastic()) return at % problem_.slot == 0;
    return problem_.by_minute || at % problem_.slot == 0 || at == task.job->release ||
           at == first_minute(problem_, site, task.job->release);
  }

  /// A column per place and unit.
  bool add_units(std::size_t i) {
    const auto& task = *tasks_[i];
    const auto first = static_cast<std::size_t>(task.job->release / unit_);
    const auto last = std::min(units_, static_cast<std::size_t>(std::max<Minute>(0, latest(task)) / unit_));
    std::vector<std::vector<int>> runs(grid_.sites());
    std::vector<std::pair<int, double>> all;
    for (const int site : task.sites) {
      auto& at_site = runs[static_cast<std::size_t>(site)];
      at_site.assign(units_ + 1, -1);
      for (auto t = first; t < last; ++t) {
        if (begin(t) < first_minute(problem_, site, task.job->release)) continue;
        const double cost = market_.cost(site, begin(t), begin(t) + unit_, task.job->power_kw, 0);
        const int run =
            column(cost + unknown_cost(site, begin(t), begin(t) + unit_) + kLater * static_cast<double>(t));
        at_site[t] = run;
        all.emplace_back(run, 1);
        choices_.push_back({i, run, {site, begin(t), begin(t) + unit_, task.job->power_kw, 1}});
        occupy(i, site, begin(t), begin(t) + unit_, run, task.job->power_kw);
        if (!may_start(task, site, begin(t))) {
          if (t == first || at_site[t - 1] < 0)
            model_.columns.back().upper = 0;
          else
            at_most({{run, 1}, {at_site[t - 1], -1}}, 0);
        }
      }
    }
    const double wanted = static_cast<double>(task.duration() / unit_);
    row(wanted, wanted, all);
    const auto least = static_cast<std::size_t>(std::min(task.job->min_run, task.duration()) / unit_);
    add_pieces(i, runs, first, last, least, unit_);
    return true;
  }

  /// A column per place, slot and count.
  bool add_counts(std::size_t i) {
    const auto& task = *tasks_[i];
    const auto& elastic = *task.job->elastic;
    const auto per_slot = static_cast<std::size_t>(problem_.slot / unit_);
    const auto first = static_cast<std::size_t>((task.job->release + problem_.slot - 1) / problem_.slot);
    const auto last = std::min(units_ / per_slot,
                               static_cast<std::size_t>(std::max<Minute>(0, latest(task)) / problem_.slot));
    std::vector<std::vector<int>> runs(grid_.sites());
    std::vector<std::pair<int, double>> work;
    for (const int site : task.sites) {
      runs[static_cast<std::size_t>(site)].assign(last + 1, -1);
      for (auto k = first; k < last; ++k) {
        const Minute from = static_cast<Minute>(k) * problem_.slot;
        if (from < first_minute(problem_, site, task.job->release)) continue;
        const int any = column(0);
        runs[static_cast<std::size_t>(site)][k] = any;
        std::vector<std::pair<int, double>> sum{{any, -1}};
        for (int count = elastic.min; count <= elastic.max; ++count) {
          const double kw = elastic.power_kw[static_cast<std::size_t>(count - 1)];
          const int chosen =
              column(market_.cost(site, from, from + problem_.slot, kw, 0) +
                     unknown_cost(site, from, from + problem_.slot) + kLater * static_cast<double>(k));
          sum.emplace_back(chosen, 1);
          work.emplace_back(chosen, elastic.throughput[static_cast<std::size_t>(count - 1)] *
                                        static_cast<double>(problem_.slot) / kMinutesPerHour);
          choices_.push_back({i, chosen, {site, from, from + problem_.slot, kw, count}});
          occupy(i, site, from, from + problem_.slot, chosen, kw);
        }
        row(0, 0, std::move(sum));
      }
    }
    at_least(std::move(work), elastic.work - kWorkTolerance);
    const auto most = slots_needed(elastic, elastic.max, problem_.slot).value_or(1);
    const auto least =
        static_cast<std::size_t>(std::min((task.job->min_run + problem_.slot - 1) / problem_.slot, most));
    add_pieces(i, runs, first, last, least, problem_.slot);
    return true;
  }

  /// One place at a time, least run, and what suspensions and moves cost. `runs`: per site and step the
  /// column that runs there.
  void add_pieces(std::size_t i, const std::vector<std::vector<int>>& runs, std::size_t first,
                  std::size_t last, std::size_t least, Minute step) {
    const auto& task = *tasks_[i];
    const auto& job = *task.job;
    const auto run = [&](int site, std::size_t t) {
      const auto& at_site = runs[static_cast<std::size_t>(site)];
      return t >= first && t < last && !at_site.empty() ? at_site[t] : -1;
    };
    const auto anywhere = [&](std::size_t t, double factor) {
      std::vector<std::pair<int, double>> entries;
      for (const int site : task.sites)
        if (run(site, t) >= 0) entries.emplace_back(run(site, t), factor);
      return entries;
    };
    if (task.sites.size() > 1)
      for (auto t = first; t < last; ++t) at_most(anywhere(t, 1), 1);
    const bool pays = job.suspend_kwh > 0 || job.resume_kwh > 0;
    std::vector<int> before(last + 1, -1), after(last + 1, -1);
    if (pays) {
      for (auto t = first; t <= last; ++t) {
        before[t] = column(0, false);
        after[t] = column(0, false);
      }
      for (auto t = first; t < last; ++t) {
        auto entries = anywhere(t, -1);
        entries.emplace_back(before[t + 1], 1);
        at_least(entries, 0);
        at_least({{before[t + 1], 1}, {before[t], -1}}, 0);
        entries.back() = {after[t], 1};
        at_least(entries, 0);
        at_least({{after[t], 1}, {after[t + 1], -1}}, 0);
      }
    }
    for (const int site : task.sites)
      for (auto t = first; t < last; ++t) {
        if (run(site, t) < 0) continue;
        const Minute at = static_cast<Minute>(t) * step;
        if (pays || least > 1) {
          const int start = column(0, false);
          std::vector<std::pair<int, double>> entries{{start, 1}, {run(site, t), -1}};
          if (t > first && run(site, t - 1) >= 0) entries.emplace_back(run(site, t - 1), 1);
          at_least(entries, 0);
          for (std::size_t k = 1; k < least; ++k) {
            if (run(site, t + k) >= 0)
              at_least({{run(site, t + k), 1}, {start, -1}}, 0);
            else
              at_most({{start, 1}}, 0);
          }
          if (job.resume_kwh > 0) {
            const int resume = column(one_off_cost(market_, site, at, job.resume_kwh), false);
            at_least({{resume, 1}, {start, -1}, {before[t], -1}}, -1);
          }
        }
        if (job.suspend_kwh > 0) {
          const int suspend = column(one_off_cost(market_, site, at + step - 1, job.suspend_kwh), false);
          std::vector<std::pair<int, double>> entries{{suspend, 1}, {run(site, t), -1}, {after[t + 1], -1}};
          if (run(site, t + 1) >= 0) entries.emplace_back(run(site, t + 1), 1);
          at_least(entries, -1);
        }
      }
    const bool moves =
        job.migration_kwh > 0 || (job.move_gb > 0 && problem_.weights && problem_.weights->bytes > 0);
    if (moves && (task.sites.size() > 1 || task.sites.front() != job.sites.front()))
      add_moves(task, run, first, last, step);
  }

  template <class Run>
  void add_moves(const Task& task, const Run& run, std::size_t first, std::size_t last, Minute step) {
    const auto& job = *task.job;
    std::vector<int> places = task.sites;
    const int home = job.sites.front();
    if (std::find(places.begin(), places.end(), home) == places.end()) places.push_back(home);
    std::vector<int> here(places.size(), -1);
    for (auto t = first; t < last; ++t) {
      const Minute at = static_cast<Minute>(t) * step;
      std::vector<std::pair<int, double>> one;
      std::vector<int> now;
      for (std::size_t p = 0; p < places.size(); ++p) {
        const int site = places[p];
        const int data = column(0);
        now.push_back(data);
        one.emplace_back(data, 1);
        const int running = run(site, t);
        if (running >= 0) at_most({{running, 1}, {data, -1}}, 0);
        const double bytes = problem_.weights ? problem_.weights->bytes * job.move_gb : 0;
        const double was = here[p] < 0 && site == home ? 1 : 0;
        const int comes = column(one_off_cost(market_, site, at, job.migration_kwh) + bytes, false);
        const int leaves = column(one_off_cost(market_, site, at, job.migration_kwh), false);
        std::vector<std::pair<int, double>> come{{comes, 1}, {data, -1}}, leave{{leaves, 1}, {data, 1}};
        if (here[p] >= 0) {
          come.emplace_back(here[p], 1);
          leave.emplace_back(here[p], -1);
        }
        at_least(come, -was);
        at_least(leave, was);
        // Data move when the job next runs there.
        if (running >= 0)
          at_most({{comes, 1}, {running, -1}}, 0);
        else
          at_most({{comes, 1}}, 0);
      }
      row(1, 1, std::move(one));
      here = std::move(now);
    }
  }

  void add_caps(int site) {
    if (!market_.limited(site)) return;
    const auto& kw = market_.free_kw(site);
    const auto& devices = market_.free_devices(site);
    for (std::size_t t = 0; t < units_; ++t) {
      const auto atom = market_.atoms().at(begin(t));
      const auto& runs = runs_[cell(site, t)];
      if (runs.empty()) continue;
      if (std::isfinite(kw[atom])) {
        std::vector<std::pair<int, double>> entries;
        for (const auto& running : runs) entries.emplace_back(running.column, running.kw);
        at_most(std::move(entries), kw[atom] + kRoom);
      }
      if (devices.empty()) continue;
      std::vector<std::pair<int, double>> entries;
      for (std::size_t i = 0; i < tasks_.size(); ++i)
        for (const int running : occupancy_[i][cell(site, t)])
          if (tasks_[i]->job->devices > 0)
            entries.emplace_back(running, static_cast<double>(tasks_[i]->job->devices));
      if (!entries.empty()) at_most(std::move(entries), devices[atom]);
    }
  }

  [[nodiscard]] bool runs_anyway(int site, std::size_t t) const {
    return std::any_of(fixed_.begin(), fixed_.end(), [&](const Segment& piece) {
      return piece.site == site && piece.begin < begin(t) + unit_ && begin(t) < piece.end;
    });
  }

  void add_loop(int site, const Thermal& thermal) {
    const auto per = [&](Minute minutes) { return static_cast<std::size_t>(minutes / unit_); };
    const auto horizon =
        static_cast<std::size_t>(static_cast<Minute>(problem_.slots) * problem_.slot / unit_);
    const auto size = std::max(units_, horizon) + 1;
    std::vector<int> on;
    for (std::size_t t = 0; t < size; ++t) {
      const int here = column(0);
      on.push_back(here);
      const bool anyway = t < units_ && runs_anyway(site, t);
      if (anyway) model_.columns.back().lower = 1;
      std::vector<std::pair<int, double>> any{{here, -1}};
      for (std::size_t i = 0; i < tasks_.size() && t < units_; ++i) {
        std::vector<std::pair<int, double>> job{{here, 1}};
        for (const int running : occupancy_[i][cell(site, t)]) {
          job.emplace_back(running, -1);
          any.emplace_back(running, 1);
        }
        if (job.size() > 1) at_least(std::move(job), 0);
      }
      if (!anyway) at_least(std::move(any), 0);
    }
    std::vector<int> starts;
    for (std::size_t t = 0; t < size; ++t) {
      const int start = column(0, false);
      starts.push_back(start);
      std::vector<std::pair<int, double>> entries{{start, 1}, {on[t], -1}};
      if (t > 0) entries.emplace_back(on[t - 1], 1);
      at_least(entries, 0);
      at_most({{start, 1}, {on[t], -1}}, 0);
      if (t > 0) at_most({{start, 1}, {on[t - 1], 1}}, 1);
      for (std::size_t k = 1; k < per(thermal.min_on) && t + k < size; ++k)
        at_least({{on[t + k], 1}, {start, -1}}, 0);
      if (t + per(thermal.min_on) > size) at_most({{start, 1}}, 0);
      // Off for at least so long before a start, unless it is the first.
      for (std::size_t k = 2; k <= per(thermal.min_off) && t >= k; ++k)
        at_most({{start, 1}, {on[t - k], 1}}, 1);
      if (!thermal.max_starts_per_hour) continue;
      std::vector<std::pair<int, double>> hour;
      const auto window = per(static_cast<Minute>(kMinutesPerHour));
      for (std::size_t k = 0; k < window && k <= t; ++k) hour.emplace_back(starts[t - k], 1);
      at_most(std::move(hour), static_cast<double>(*thermal.max_starts_per_hour));
    }
    add_pump(site, thermal, on, horizon);
    if (thermal.ramp_kw_per_minute) add_ramp(site, *thermal.ramp_kw_per_minute);
  }

  void add_pump(int site, const Thermal& thermal, const std::vector<int>& on, std::size_t horizon) {
    if (thermal.pump_kw <= 0) return;
    const auto pre = static_cast<std::size_t>(thermal.pump_pre / unit_);
    const auto post = static_cast<std::size_t>(thermal.pump_post / unit_);
    for (std::size_t t = 0; t < horizon && t < on.size(); ++t) {
      const auto slot = grid_.slot_of(begin(t));
      const double kwh = thermal.pump_kw * static_cast<double>(unit_) / kMinutesPerHour;
      const int pump = column(kwh * grid_.site(site).raw_rate[slot], false);
      for (std::size_t k = 1; k <= pre && t + k < on.size(); ++k)
        at_least({{pump, 1}, {on[t + k], -1}, {on[t], 1}}, 0);
      for (std::size_t k = 1; k <= post && k <= t; ++k) at_least({{pump, 1}, {on[t - k], -1}, {on[t], 1}}, 0);
    }
  }

  /// The site's mean power per slot changes by no more than this.
  void add_ramp(int site, double kw_per_minute) {
    const auto slots = std::max(
        problem_.slots, static_cast<std::size_t>((begin(units_) + problem_.slot - 1) / problem_.slot));
    const auto per_slot = static_cast<std::size_t>(problem_.slot / unit_);
    const double most = kw_per_minute * static_cast<double>(problem_.slot);
    const double share = static_cast<double>(unit_) / static_cast<double>(problem_.slot);
    const auto mean = [&](std::size_t k, double factor, std::vector<std::pair<int, double>>& entries) {
      for (std::size_t t = k * per_slot; t < (k + 1) * per_slot && t < units_; ++t)
        for (const auto& running : runs_[cell(site, t)])
          entries.emplace_back(running.column, factor * share * running.kw);
    };
    const auto fixed_mean = [&](std::size_t k) {
      double kw = 0;
      const Minute from = static_cast<Minute>(k) * problem_.slot;
      for (const auto& piece : fixed_)
        if (piece.site == site)
          kw += piece.kw * static_cast<double>(std::max<Minute>(
                               0, std::min(piece.end, from + problem_.slot) - std::max(piece.begin, from)));
      return kw / static_cast<double>(problem_.slot);
    };
    for (std::size_t k = 0; k <= slots; ++k) {
      std::vector<std::pair<int, double>> entries;
      mean(k, 1, entries);
      if (k > 0) mean(k - 1, -1, entries);
      join(entries);
      const double already = fixed_mean(k) - (k > 0 ? fixed_mean(k - 1) : 0);
      if (!entries.empty()) row(-most - already - kRoom, most - already + kRoom, std::move(entries));
    }
  }

  /// One entry per column.
  static void join(std::vector<std::pair<int, double>>& entries) {
    std::sort(entries.begin(), entries.end());
    std::vector<std::pair<int, double>> joined;
    for (const auto& entry : entries) {
      if (!joined.empty() && joined.back().first == entry.first)
        joined.back().second += entry.second;
      else
        joined.push_back(entry);
    }
    std::erase_if(joined, [](const auto& entry) { return std::abs(entry.second) < 1e-12; });
    entries = std::move(joined);
  }

  static constexpr double kMany = 1e30;
  static constexpr double kUnknown = 1e4;

  const Market& market_;
  const Problem& problem_;
  const Grid& grid_;
  const std::vector<const Task*>& tasks_;
  const std::vector<Segment>& fixed_;
  Minute unit_ = 1;
  std::size_t units_ = 0;
  MipModel model_;
  std::vector<Choice> choices_;
  std::vector<std::vector<Running>> runs_;                ///< per site and unit
  std::vector<std::vector<std::vector<int>>> occupancy_;  ///< per task, site and unit
};

}  // namespace

GroupPlan plan_exactly(const Market& market, const std::vector<const Task*>& tasks,
                       const std::vector<Segment>& fixed, const MipSolver* solver) {
  GroupPlan plan;
  if (solver == nullptr) return plan;
  GroupModel model{market, tasks, fixed};
  if (!model.build()) return plan;
  const auto answer = solver->solve(model.model(), kMostNodes, {});
  if (!answer || !answer->found) return plan;
  plan.found = true;
  plan.proved = answer->proved;
  plan.segments = model.segments(answer->values);
  return plan;
}

}  // namespace tidewatt::planning
