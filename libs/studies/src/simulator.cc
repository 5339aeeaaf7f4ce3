#include "tidewatt/studies/simulator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <random>

#include "capacity.h"
#include "outlook.h"
#include "tidewatt/planning/do_no_harm.h"

namespace tidewatt::studies {
namespace {

using planning::HarmRecord;
using planning::Judged;
using planning::WaitKind;

constexpr double kSlotHours = 1.0 / static_cast<double>(kSlotsAnHour);
constexpr double kRounding = 1e-9;
/// A plan is left for another only where that saves this share of it.
constexpr double kChurn = 0.01;
constexpr double kLatePercentile = 0.95;

/// Lengths whose waits are judged, in hours: a job goes by the next one above its own.
constexpr std::array<std::size_t, 7> kJudgedLengths = {1, 2, 4, 8, 16, 32, 72};

std::uint32_t slots_of(double hours) {
  return static_cast<std::uint32_t>(std::ceil(hours * static_cast<double>(kSlotsAnHour) - kRounding));
}

/// Records of waits by their length.
class LengthRecords {
 public:
  LengthRecords(std::span<const double> hours, std::size_t slack, bool pieces) : hours_(hours) {
    for (const auto length : kJudgedLengths)
      kinds_.push_back(
          {{length, slack, pieces}, HarmRecord{planning::kJudgedMost, planning::kJudgedLeast}, {}});
  }

  /// Judges the decisions of this hour once their hours have passed. Hours come in order.
  void pass(std::size_t hour, const std::vector<double>& seen) {
    for (auto& one : kinds_) {
      const auto window = one.kind.length + one.kind.slack;
      while (!one.open.empty() && one.open.front().end <= hour) {
        one.record.add(one.open.front().judged);
        one.open.pop_front();
      }
      if (seen.size() < window || hour + window > hours_.size()) continue;
      const auto paid = hours_.subspan(hour, window);
      one.open.push_back({hour + window, planning::judge(one.kind, std::span{seen}.first(window), paid)});
    }
  }
  [[nodiscard]] bool allows(double length_hours, double expected) const {
    for (const auto& one : kinds_)
      if (length_hours <= static_cast<double>(one.kind.length)) return one.record.allows(expected);
    return kinds_.back().record.allows(expected);
  }

 private:
  struct Open {
    std::size_t end;
    Judged judged;
  };
  struct Kind {
    WaitKind kind;
    HarmRecord record;
    std::deque<Open> open;
  };
  std::span<const double> hours_;
  std::vector<Kind> kinds_;
};

struct State {
  Slots plan;            ///< still to run, in order of time
  std::size_t next = 0;  ///< of `plan`
  std::uint32_t arrival = 0, deadline = 0, end = 0, ran = 0;
  double left_hours = 0;                                                 ///< of work
  std::uint32_t to_failure = std::numeric_limits<std::uint32_t>::max();  ///< slots of work
  std::uint32_t version = 0;
  std::uint32_t pauses = 0;
  std::uint32_t failures_drawn = 0;
  bool failed = false, undecided = false, out = false;
};

class Simulation {
 public:
  Simulation(std::span<const double> hours, const std::vector<SimulatedJob>& jobs,
             const SimulationSettings& settings)
      : hours_(hours),
        jobs_(jobs),
        settings_(settings),
        capacity_(hours.size() * kSlotsAnHour, settings.cap_cpus),
        outlook_(hours, settings.perfect, settings.outages, longest_window()),
        records_(hours, static_cast<std::size_t>(std::ceil(settings.slack_hours)),
                 settings.policy == WaitPolicy::pieces),
        states_(jobs.size()) {}

  SimulationResult run() {
    std::size_t arriving = 0;
    for (std::size_t hour = 0; hour < hours_.size(); ++hour) {
      look(hour);
      if (hour % settings_.replan_hours == 0 && outlook_.known_at(hour) == hour) replan(slot_at(hour));
      for (auto slot = slot_at(hour); slot < slot_at(hour + 1); ++slot) {
        fail_until(slot);
        for (; arriving < jobs_.size() && slots_of(jobs_[arriving].arrival_hours) <= slot; ++arriving)
          arrive(arriving, slot);
      }
    }
    fail_until(capacity_.size());
    return result();
  }

 private:
  struct Failure {
    std::uint32_t slot;  ///< it has happened when this one begins
    std::size_t job;
    std::uint32_t version;
    bool operator>(const Failure& other) const {
      return slot != other.slot ? slot > other.slot : job > other.job;
    }
  };

  static std::uint32_t slot_at(std::size_t hour) { return static_cast<std::uint32_t>(hour * kSlotsAnHour); }

  [[nodiscard]] std::size_t longest_window() const {
    double longest = 0;
    for (const auto& job : jobs_) longest = std::max(longest, job.length_hours);
    for (const auto length : kJudgedLengths)
      if (longest <= static_cast<double>(length)) {
        longest = static_cast<double>(length);
        break;
      }
    return static_cast<std::size_t>(std::ceil(longest + settings_.slack_hours)) + 2;
  }

  void look(std::size_t hour) {
    if (settings_.policy == WaitPolicy::run_now) return;
    seen_hour_ = hour;
    seen_ = outlook_.from(hour);
    if (!settings_.perfect && seen_ && outlook_.known_at(hour) == hour) records_.pass(hour, *seen_);
  }

  /// What is thought now; beyond what is seen, as its last hour.
  [[nodiscard]] double thought(std::uint32_t slot) const {
    const auto hour = slot / kSlotsAnHour - seen_hour_;
    return (*seen_)[std::min<std::size_t>(hour, seen_->size() - 1)];
  }
  [[nodiscard]] double thought(const Slots& slots) const {
    double sum = 0;
    for (const auto slot : slots) sum += thought(slot);
    return sum;
  }

  void arrive(std::size_t i, std::uint32_t now) {
    const auto& job = jobs_[i];
    auto& state = states_[i];
    const auto count = std::max<std::uint32_t>(1, slots_of(job.length_hours));
    state.arrival = now;
    state.left_hours = job.length_hours;
    state.deadline = now + count + slots_of(settings_.slack_hours);
    if (state.deadline > capacity_.size()) {
      state.out = true;
      return;
    }
    draw_failure(i);
    set_plan(i, choose(i, now, count));
    state.undecided = state.plan.empty();
    if (!state.plan.empty()) active_.push_back(i);
  }

  /// Slots for `count` more, from `now` on; at once where waiting isn't known to help.
  [[nodiscard]] Slots choose(std::size_t i, std::uint32_t now, std::uint32_t count) const {
    const auto& job = jobs_[i];
    const auto& state = states_[i];
    auto at_once = capacity_.earliest(now, count, job.cpus);
    if (settings_.policy == WaitPolicy::run_now || !seen_ || at_once.empty()) return at_once;
    const auto cost = [this](std::uint32_t slot) { return thought(slot); };
    auto waits = settings_.policy == WaitPolicy::pieces
                     ? capacity_.cheapest_slots(now, state.deadline, count, job.cpus, cost)
                     : capacity_.cheapest_window(now, state.deadline, count, job.cpus, cost);
    if (waits.empty()) return at_once;
    // One that can't be at once by its deadline waits as the others do.
    if (at_once.back() >= state.deadline) return waits;
    const double gain = (thought(at_once) - thought(waits)) / static_cast<double>(count);
    if (gain <= kRounding) return at_once;
    if (!settings_.perfect && !records_.allows(static_cast<double>(count) * kSlotHours, gain)) return at_once;
    return waits;
  }

  void set_plan(std::size_t i, Slots plan) {
    auto& state = states_[i];
    state.plan = std::move(plan);
    state.next = 0;
    ++state.version;
    capacity_.take(state.plan, jobs_[i].cpus);
    if (state.to_failure <= state.plan.size() && state.to_failure > 0)
      failures_.push({state.plan[state.to_failure - 1] + 1, i, state.version});
  }

  /// Runs what of the plan lies before `now`.
  void advance(std::size_t i, std::uint32_t now) {
    auto& state = states_[i];
    auto& cell = cell_of(i);
    for (; state.next < state.plan.size() && state.plan[state.next] < now; ++state.next) {
      const auto slot = state.plan[state.next];
      const double run = std::min(kSlotHours, state.left_hours) * jobs_[i].cpus;
      state.left_hours = std::max(0.0, state.left_hours - kSlotHours);
      cell.cpu_hours += run;
      cell.carbon += run * hours_[slot / kSlotsAnHour];
      if (state.ran > 0 && slot != state.end) ++state.pauses;
      state.end = slot + 1;
      ++state.ran;
      if (state.to_failure != std::numeric_limits<std::uint32_t>::max()) --state.to_failure;
    }
  }

  /// Takes back what of the plan lies ahead. @return how many slots
  std::uint32_t take_back(std::size_t i) {
    auto& state = states_[i];
    const Slots ahead{state.plan.begin() + static_cast<std::ptrdiff_t>(state.next), state.plan.end()};
    capacity_.give(ahead, jobs_[i].cpus);
    state.plan = ahead;
    state.next = 0;
    return static_cast<std::uint32_t>(ahead.size());
  }

  void replan(std::uint32_t now) {
    if (settings_.policy == WaitPolicy::run_now) return;
    std::vector<std::size_t> still;
    for (const auto i : active_) {
      advance(i, now);
      if (states_[i].next < states_[i].plan.size()) still.push_back(i);
    }
    active_ = std::move(still);
    if (!seen_ || settings_.perfect) return;
    std::stable_sort(active_.begin(), active_.end(),
                     [&](std::size_t a, std::size_t b) { return states_[a].deadline < states_[b].deadline; });
    for (const auto i : active_) {
      auto& state = states_[i];
      const bool rigid_runs = settings_.policy == WaitPolicy::one_window && state.ran > 0;
      if (rigid_runs || state.deadline <= now) continue;
      const auto count = take_back(i);
      auto old = state.plan;
      auto plan = choose(i, now, count);
      const bool better = !plan.empty() && thought(plan) < (1 - kChurn) * thought(old);
      if (better && plan != old) ++moved_;
      set_plan(i, better ? std::move(plan) : std::move(old));
    }
  }

  void draw_failure(std::size_t i) {
    if (settings_.failures_per_hour <= 0) return;
    // Of its own seed, so that it fails after the same work whatever its plan.
    std::mt19937_64 random{settings_.seed * 0x9E3779B97F4A7C15ULL + i * 64 + states_[i].failures_drawn++};
    const double uniform = 1 - static_cast<double>(random() >> 11U) * 0x1.0p-53;
    const double work = -std::log(uniform) / settings_.failures_per_hour;
    const double slots = std::ceil(work * static_cast<double>(kSlotsAnHour));
    states_[i].to_failure = slots < 1e9 ? static_cast<std::uint32_t>(std::max(1.0, slots))
                                        : std::numeric_limits<std::uint32_t>::max();
  }

  void fail_until(std::uint32_t now) {
    while (!failures_.empty() && failures_.top().slot <= now) {
      const auto failure = failures_.top();
      failures_.pop();
      auto& state = states_[failure.job];
      if (failure.version != state.version) continue;
      advance(failure.job, failure.slot);
      auto count = take_back(failure.job);
      const auto lost = std::min<std::uint32_t>(state.ran, static_cast<std::uint32_t>(kSlotsAnHour));
      const auto again = (state.ran - 1) % lost + 1;  // since the last full hour of work
      state.left_hours += static_cast<double>(again) * kSlotHours;
      count += again;
      state.failed = true;
      ++failed_;
      draw_failure(failure.job);
      auto plan = choose(failure.job, failure.slot, count);
      if (plan.empty()) {  // the series ends
        state.out = true;
        ++state.version;
        continue;
      }
      set_plan(failure.job, std::move(plan));
      active_.push_back(failure.job);
    }
  }

  SimulatedCell& cell_of(std::size_t i) {
    const auto cell = jobs_[i].cell;
    if (cells_.size() <= cell) cells_.resize(cell + 1);
    return cells_[cell];
  }

  SimulationResult result() {
    SimulationResult out;
    std::vector<std::vector<double>> waits;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      auto& state = states_[i];
      advance(i, capacity_.size());
      if (state.out) {
        ++out.left_out;
        continue;
      }
      auto& cell = cell_of(i);
      if (waits.size() < cells_.size()) waits.resize(cells_.size());
      ++cell.jobs;
      const auto least = std::max<std::uint32_t>(1, slots_of(jobs_[i].length_hours));
      const auto late = static_cast<double>(state.end) - static_cast<double>(state.arrival + least);
      waits[jobs_[i].cell].push_back(late * kSlotHours);
      cell.wait_hours += late * kSlotHours;
      cell.late += state.end > state.deadline ? 1U : 0U;
      cell.late_unfailed += state.end > state.deadline && !state.failed ? 1U : 0U;
      cell.pauses += state.pauses;
      cell.undecided += state.undecided ? 1U : 0U;
    }
    for (std::size_t c = 0; c < waits.size(); ++c) {
      if (waits[c].empty()) continue;
      const auto place =
          static_cast<std::ptrdiff_t>(static_cast<double>(waits[c].size() - 1) * kLatePercentile);
      std::nth_element(waits[c].begin(), waits[c].begin() + place, waits[c].end());
      cells_[c].wait_p95_hours = waits[c][static_cast<std::size_t>(place)];
    }
    out.cells = std::move(cells_);
    out.failures = failed_;
    out.moved = moved_;
    out.peak_cpus = capacity_.peak();
    return out;
  }

  std::span<const double> hours_;
  const std::vector<SimulatedJob>& jobs_;
  const SimulationSettings& settings_;
  Capacity capacity_;
  Outlook outlook_;
  LengthRecords records_;
  std::vector<State> states_;
  std::vector<std::size_t> active_;
  std::priority_queue<Failure, std::vector<Failure>, std::greater<>> failures_;
  std::vector<SimulatedCell> cells_;
  std::optional<std::vector<double>> seen_;
  std::size_t seen_hour_ = 0, failed_ = 0, moved_ = 0;
};

}  // namespace

SimulationResult simulate(std::span<const double> hours, const std::vector<SimulatedJob>& jobs,
                          const SimulationSettings& settings) {
  return Simulation{hours, jobs, settings}.run();
}

}  // namespace tidewatt::studies
