// Replicas per slot: labels of (work done, cost) from the first slot to the last, of which those that another
// beats are dropped.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "job_search.h"

namespace tidewatt::planning {
namespace {

/// More labels than this in a slot are thinned: per step of work the cheapest stays.
constexpr std::size_t kMostLabels = 20'000;

enum class Mode : std::uint8_t { fresh, running, paused };

struct Label {
  double work = 0;
  Value value;
  int before = -1;  ///< index of the label it came from
  std::int16_t site = 0, count = 0;
  Mode mode = Mode::fresh;
  std::int32_t run = 0;  ///< slots of the piece that runs, up to the least
  std::int32_t slot = 0;
};

/// Slots' steps of work, cheapest per work first: what the rest costs at least.
class RestBound {
 public:
  explicit RestBound(const std::vector<std::vector<std::pair<double, double>>>& options)
      : slots_(options.size()) {
    stride_ = options.size() / kMostBounds + 1;
    bounds_.resize(options.size() / stride_ + 2);
    std::vector<std::pair<double, double>> steps;  // (work, cost) along each slot's convex hull
    for (std::size_t k = options.size(); k-- > 0;) {
      add_hull(options[k], steps);
      if (k % stride_ != 0) continue;
      std::sort(steps.begin(), steps.end(),
                [](const auto& a, const auto& b) { return a.second * b.first < b.second * a.first; });
      auto& bound = bounds_[k / stride_];
      double work = 0, cost = 0;
      for (const auto& step : steps) {
        work += step.first;
        cost += step.second;
        bound.emplace_back(work, cost);
      }
    }
  }
  /// The least that `work` costs from slot k on; infinite when it can't be done.
  [[nodiscard]] double rest(std::size_t k, double work) const {
    if (work <= kWorkTolerance) return 0;
    const auto& bound = bounds_[k / stride_];
    const auto found = std::lower_bound(bound.begin(), bound.end(), work - kWorkTolerance,
                                        [](const auto& step, double wanted) { return step.first < wanted; });
    if (found == bound.end()) return std::numeric_limits<double>::infinity();
    const auto [before_work, before_cost] = found == bound.begin() ? std::pair{0.0, 0.0} : *(found - 1);
    return before_cost +
           (found->second - before_cost) * std::min(1.0, (work - before_work) / (found->first - before_work));
  }

 private:
  static void add_hull(std::vector<std::pair<double, double>> points,
                       std::vector<std::pair<double, double>>& steps) {
    points.emplace_back(0, 0);
    std::sort(points.begin(), points.end());
    std::vector<std::pair<double, double>> hull;
    for (const auto& point : points) {
      while (!hull.empty() && hull.back().first == point.first && hull.back().second >= point.second)
        hull.pop_back();
      if (!hull.empty() && hull.back().first == point.first) continue;
      while (hull.size() >= 2) {
        const auto& a = hull[hull.size() - 2];
        const auto& b = hull.back();
        if ((b.second - a.second) * (point.first - a.first) < (point.second - a.second) * (b.first - a.first))
          break;
        hull.pop_back();
      }
      hull.push_back(point);
    }
    for (std::size_t i = 1; i < hull.size(); ++i)
      steps.emplace_back(hull[i].first - hull[i - 1].first, hull[i].second - hull[i - 1].second);
  }

  static constexpr std::size_t kMostBounds = 64;
  std::size_t stride_ = 1, slots_ = 0;
  std::vector<std::vector<std::pair<double, double>>> bounds_;
};

class ElasticSearch {
 public:
  ElasticSearch(const Market& market, const Task& task, const SearchLimits& limits)
      : market_(market),
        task_(task),
        job_(*task.job),
        elastic_(*job_.elastic),
        limits_(limits),
        slot_(market.problem().slot) {}

  std::optional<Found> run() {
    if (task_.at_once) return at_once();
    const Minute last = std::min(limits_.latest, market_.atoms().last());
    first_slot_ = (job_.release + slot_ - 1) / slot_;
    slots_ = last / slot_ - first_slot_;
    if (slots_ <= 0) return std::nullopt;
    const auto most = slots_needed(elastic_, elastic_.max, slot_).value_or(1);
    least_run_ = static_cast<std::int32_t>(std::min((job_.min_run + slot_ - 1) / slot_, most));
    best_ = constant();
    const RestBound rest{options()};
    std::vector<int> frontier{add({})};
    for (std::int32_t k = 0; k < slots_; ++k) {
      std::vector<int> next;
      for (const int from : frontier) extend(from, k, rest, next);
      keep_best(next);
      frontier = std::move(next);
    }
    return best_;
  }

 private:
  int add(const Label& label) {
    labels_.push_back(label);
    return static_cast<int>(labels_.size()) - 1;
  }
  [[nodiscard]] Minute begin_of(std::int32_t k) const { return (first_slot_ + k) * slot_; }
  [[nodiscard]] double kw(int count) const { return elastic_.power_kw[static_cast<std::size_t>(count - 1)]; }
  [[nodiscard]] double work_of(int count) const {
    return elastic_.throughput[static_cast<std::size_t>(count - 1)] * static_cast<double>(slot_) /
           kMinutesPerHour;
  }
  [[nodiscard]] bool may_run(int site, std::int32_t k, int count) const {
    const Minute begin = begin_of(k);
    if (begin < first_minute(market_.problem(), site, job_.release)) return false;
    return !limits_.room || market_.free_minutes(site, market_.atoms().at(begin), begin + slot_, kw(count),
                                                 static_cast<double>(job_.devices)) == slot_;
  }
  [[nodiscard]] double run_cost(int site, std::int32_t k, int count) const {
    return market_.cost(site, begin_of(k), begin_of(k) + slot_, kw(count), static_cast<double>(job_.devices));
  }

  /// (work, cost) of each count and site per slot, for the bound.
  std::vector<std::vector<std::pair<double, double>>> options() {
    std::vector<std::vector<std::pair<double, double>>> all(static_cast<std::size_t>(slots_));
    for (std::int32_t k = 0; k < slots_; ++k)
      for (const int site : task_.sites)
        for (int count = elastic_.min; count <= elastic_.max; ++count)
          if (may_run(site, k, count))
            all[static_cast<std::size_t>(k)].emplace_back(work_of(count), run_cost(site, k, count));
    return all;
  }

  /// The baseline's shape, at whichever site is best.
  std::optional<Found> at_once() {
    std::optional<Found> best;
    if (task_.baseline.empty()) return best;
    for (const int site : task_.sites) {
      Segments segments = task_.baseline;
      segments.front().site = site;
      if (segments.front().begin < first_minute(market_.problem(), site, job_.release)) continue;
      consider(segments, best);
    }
    if (best || !limits_.room) return best;
    // No room at once: the earliest that there is.
    for (const int site : task_.sites) {
      Segments segments = task_.baseline;
      auto& piece = segments.front();
      piece.site = site;
      for (const Minute length = piece.end - piece.begin; piece.begin + length <= limits_.latest;
           piece.begin += slot_) {
        piece.end = piece.begin + length;
        const auto before = best;
        consider(segments, best);
        if (best.has_value() != before.has_value()) break;
      }
    }
    return best;
  }

  void consider(const Segments& segments, std::optional<Found>& best) const {
    if (segments.back().end > std::min(limits_.latest, market_.atoms().last())) return;
    if (limits_.room && !market_.fits(segments, static_cast<double>(job_.devices))) return;
    const auto value = value_of(market_, task_, segments);
    if (!best || better(value, best->value)) best = Found{segments, value};
  }

  /// The best plan of one count in one piece: a first bound.
  std::optional<Found> constant() {
    std::optional<Found> best;
    for (int count = elastic_.min; count <= elastic_.max; ++count) {
      const auto slots = slots_needed(elastic_, count, slot_);
      if (!slots || *slots > slots_ || *slots < least_run_) continue;
      for (const int site : task_.sites)
        for (std::int32_t k = 0; k + *slots <= slots_; ++k) {
          if (begin_of(k) < first_minute(market_.problem(), site, job_.release)) continue;
          consider({{site, begin_of(k), begin_of(k) + *slots * slot_, kw(count), count}}, best);
        }
    }
    return best;
  }

  void extend(int from, std::int32_t k, const RestBound& rest, std::vector<int>& next) {
    const Label label = labels_[static_cast<std::size_t>(from)];
    // Nothing runs in this slot.
    Label idle = label;
    idle.before = from;
    idle.slot = k;
    idle.count = 0;
    if (label.mode == Mode::running) {
      if (label.run >= least_run_) {
        idle.mode = Mode::paused;
        idle.run = 0;
        idle.value.cost += one_off_cost(market_, label.site, begin_of(k) - 1, job_.suspend_kwh);
        ++idle.value.breaks;
        keep_if_hopeful(idle, k, rest, next);
      }
    } else {
      keep_if_hopeful(idle, k, rest, next);
    }
    for (const int site : task_.sites) {
      const bool stays = label.mode == Mode::running && site == label.site;
      if (label.mode == Mode::running && !stays && label.run < least_run_) continue;
      for (int count = elastic_.min; count <= elastic_.max; ++count) {
        if (!may_run(site, k, count)) continue;
        Label run = label;
        run.before = from;
        run.slot = k;
        run.site = static_cast<std::int16_t>(site);
        run.count = static_cast<std::int16_t>(count);
        if (!stays) begin_piece(run, label, k);
        run.mode = Mode::running;
        run.run = std::min(least_run_, (stays ? label.run : 0) + 1);
        run.work += work_of(count);
        run.value.cost += run_cost(site, k, count);
        run.value.unknown += market_.unknown_minutes(site, begin_of(k), begin_of(k) + slot_);
        run.value.end = begin_of(k) + slot_;
        if (run.work >= elastic_.work - kWorkTolerance && run.run >= least_run_)
          finish(run);
        else
          keep_if_hopeful(run, k, rest, next);
      }
    }
  }

  void begin_piece(Label& run, const Label& label, std::int32_t k) const {
    const Minute begin = begin_of(k);
    int data_at = label.site;
    if (label.mode == Mode::fresh) {
      run.value.start = begin;
      data_at = job_.sites.front();
    } else {
      if (label.mode == Mode::running) {
        run.value.cost += one_off_cost(market_, label.site, begin - 1, job_.suspend_kwh);
        ++run.value.breaks;
      }
      run.value.cost += one_off_cost(market_, run.site, begin, job_.resume_kwh);
    }
    if (run.site != data_at) {
      run.value.cost += move_cost(market_, job_, data_at, run.site, begin);
      ++run.value.breaks;
    }
  }

  void keep_if_hopeful(const Label& label, std::int32_t k, const RestBound& rest, std::vector<int>& next) {
    const double least = rest.rest(static_cast<std::size_t>(k + 1), elastic_.work - label.work);
    if (!std::isfinite(least)) return;
    if (best_ && best_->value.late == 0) {
      if (label.value.unknown > best_->value.unknown) return;
      if (label.value.unknown == best_->value.unknown && label.value.cost + least > best_->value.cost + kTie)
        return;
    }
    next.push_back(add(label));
  }

  void finish(Label label) {
    label.value.late = std::max<Minute>(0, label.value.end - task_.deadline);
    label.value.cost += market_.problem().weights.value_or(Weights{}).delay *
                        static_cast<double>(label.value.end - job_.release) / kMinutesPerHour;
    if (best_ && !better(label.value, best_->value)) return;
    Segments segments;
    for (const Label* at = &label;; at = &labels_[static_cast<std::size_t>(at->before)]) {
      if (at->count > 0)
        segments.push_back(
            {at->site, begin_of(at->slot), begin_of(at->slot) + slot_, kw(at->count), at->count});
      if (at->before < 0) break;
    }
    std::reverse(segments.begin(), segments.end());
    best_ = Found{merged(segments), label.value};
  }

  /// Of labels in one state, drops those that have no more work done than a better one.
  void keep_best(std::vector<int>& next) {
    std::map<std::tuple<Mode, std::int16_t, std::int32_t>, std::vector<int>> states;
    for (const int i : next) {
      const auto& label = labels_[static_cast<std::size_t>(i)];
      states[{label.mode, label.mode == Mode::fresh ? std::int16_t{0} : label.site, label.run}].push_back(i);
    }
    next.clear();
    for (auto& [state, group] : states) {
      std::stable_sort(group.begin(), group.end(), [&](int a, int b) {
        const auto& first = labels_[static_cast<std::size_t>(a)];
        const auto& second = labels_[static_cast<std::size_t>(b)];
        if (first.work != second.work) return first.work > second.work;
        return better(first.value, second.value);
      });
      std::vector<int> kept;
      for (const int i : group) {
        const auto& value = labels_[static_cast<std::size_t>(i)].value;
        if (kept.empty() || better(value, labels_[static_cast<std::size_t>(kept.back())].value))
          kept.push_back(i);
      }
      if (kept.size() > kMostLabels) thin(kept);
      next.insert(next.end(), kept.begin(), kept.end());
    }
  }

  void thin(std::vector<int>& kept) const {
    std::vector<int> thinned;
    const double step = elastic_.work / static_cast<double>(kMostLabels / 2);
    double last = std::numeric_limits<double>::infinity();
    for (auto i = kept.rbegin(); i != kept.rend(); ++i) {  // the cheapest first
      const double bucket = std::floor(labels_[static_cast<std::size_t>(*i)].work / step);
      if (bucket == last) thinned.pop_back();
      thinned.push_back(*i);
      last = bucket;
    }
    std::reverse(thinned.begin(), thinned.end());
    kept = std::move(thinned);
  }

  const Market& market_;
  const Task& task_;
  const Job& job_;
  const Elastic& elastic_;
  const SearchLimits& limits_;
  Minute slot_;
  Minute first_slot_ = 0, slots_ = 0;
  std::int32_t least_run_ = 0;
  std::vector<Label> labels_;
  std::optional<Found> best_;
};

}  // namespace

std::optional<Found> best_elastic(const Market& market, const Task& task, const SearchLimits& limits) {
  return ElasticSearch{market, task, limits}.run();
}

}  // namespace tidewatt::planning
