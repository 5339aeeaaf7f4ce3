#include "tidewatt/studies/gaia.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace tidewatt::studies {
namespace {

constexpr std::int64_t kHour = kGaiaUnitsAnHour;
constexpr std::int64_t kShortQueue = 2 * kHour;  ///< jobs below wait 6 h at most, the others 24 h
constexpr std::int64_t kShortWait = 6 * kHour;
constexpr std::int64_t kLongWait = 24 * kHour;
constexpr double kEcovisorQuantile = 0.3;

class Trace {
 public:
  explicit Trace(std::span<const double> hours) : hours_(hours), sums_{0} {
    for (const double value : hours) sums_.push_back(sums_.back() + value * static_cast<double>(kHour));
  }
  [[nodiscard]] std::int64_t end() const { return static_cast<std::int64_t>(hours_.size()) * kHour; }
  [[nodiscard]] double at(std::int64_t unit) const { return hours_[static_cast<std::size_t>(unit / kHour)]; }
  /// Sum of the units in [from, from + length), cut at the end.
  [[nodiscard]] double cost(std::int64_t from, std::int64_t length) const {
    return until(std::min(end(), from + length)) - until(std::min(end(), from));
  }

 private:
  [[nodiscard]] double until(std::int64_t unit) const {
    const auto hour = static_cast<std::size_t>(unit / kHour);
    const auto rest = unit % kHour;
    return sums_[hour] + (rest == 0 ? 0 : hours_[hour] * static_cast<double>(rest));
  }

  std::span<const double> hours_;
  std::vector<double> sums_;
};

struct Work {
  std::int64_t arrival, length, wait, expected;
};

/// The first unit of the cleanest hour.
std::int64_t lowest_slot(const Trace& trace, const Work& job) {
  std::int64_t best = job.arrival;
  for (auto at = (job.arrival / kHour + 1) * kHour; at <= job.arrival + job.wait && at < trace.end();
       at += kHour)
    if (trace.at(at) < trace.at(best)) best = at;
  return best;
}

/// Candidates an hour apart, counted from the arrival; those whose length doesn't fit are skipped.
template <class Score>
std::int64_t best_candidate(const Trace& trace, const Work& job, std::int64_t length, const Score& score) {
  std::int64_t best = job.arrival;
  std::optional<double> least;
  for (std::int64_t wait = 0; wait <= job.wait; wait += kHour) {
    if (job.arrival + wait + length > trace.end()) break;
    const double value = score(wait);
    if (least && value >= *least) continue;
    least = value;
    best = job.arrival + wait;
  }
  return best;
}

std::int64_t lowest_window(const Trace& trace, const Work& job, std::int64_t length) {
  return best_candidate(trace, job, length,
                        [&](std::int64_t wait) { return trace.cost(job.arrival + wait, length); });
}

/// The most carbon saved per unit of time until it is done.
std::int64_t carbon_time(const Trace& trace, const Work& job) {
  const double now = trace.cost(job.arrival, job.expected);
  return best_candidate(trace, job, job.expected, [&](std::int64_t wait) {
    const double saved = now - trace.cost(job.arrival + wait, job.expected);
    return -saved / static_cast<double>(wait + job.expected);
  });
}

/// Linear between order statistics, over the units of the next 24 hours.
double threshold(const Trace& trace, std::int64_t arrival) {
  struct Part {
    double value;
    std::int64_t units;
  };
  std::vector<Part> parts;
  const auto end = std::min(trace.end(), arrival + 24 * kHour);
  for (auto at = arrival; at < end;) {
    const auto next = std::min((at / kHour + 1) * kHour, end);
    parts.push_back({trace.at(at), next - at});
    at = next;
  }
  std::ranges::sort(parts, {}, &Part::value);
  const double place = static_cast<double>(end - arrival - 1) * kEcovisorQuantile;
  const auto below = static_cast<std::int64_t>(place);
  const auto value_at = [&](std::int64_t index) {
    for (const auto& part : parts) {
      if (index < part.units) return part.value;
      index -= part.units;
    }
    return parts.back().value;
  };
  const double low = value_at(below);
  return low + (value_at(below + 1) - low) * (place - static_cast<double>(below));
}

/// Runs while it is clean; once its wait is used up it runs on.
double ecovisor(const Trace& trace, const Work& job) {
  const double clean = threshold(trace, job.arrival);
  double cost = 0;
  auto left = job.length;
  auto wait = job.wait;
  for (auto at = job.arrival; left > 0 && at < trace.end();) {
    const auto rest = (at / kHour + 1) * kHour - at;
    const bool runs = trace.at(at) < clean || wait == 0;
    const auto units = std::min(rest, runs ? left : wait);
    if (runs) cost += trace.cost(at, units);
    (runs ? left : wait) -= units;
    at += units;
  }
  return cost;
}

/// As many units as it is long, the cleanest of its window; of equal ones the earliest.
double wait_awhile(const Trace& trace, const Work& job) {
  struct Part {
    double value;
    std::int64_t begin, units;
  };
  std::vector<Part> parts;
  const auto end = std::min(trace.end(), job.arrival + job.length + job.wait);
  for (auto at = job.arrival; at < end;) {
    const auto next = std::min((at / kHour + 1) * kHour, end);
    parts.push_back({trace.at(at), at, next - at});
    at = next;
  }
  std::ranges::stable_sort(parts, {}, &Part::value);
  double cost = 0;
  auto left = job.length;
  for (const auto& part : parts) {
    const auto units = std::min(left, part.units);
    cost += part.value * static_cast<double>(units);
    left -= units;
  }
  return cost;
}

std::int64_t units(double seconds) {
  return static_cast<std::int64_t>(seconds / static_cast<double>(kGaiaUnitSeconds));
}

/// The mean length of a queue's jobs, which is all that a policy knows. One of two hours counts in both.
std::int64_t mean_length(const std::vector<GaiaJob>& jobs, bool of_short) {
  constexpr auto kLimit = static_cast<double>(kShortQueue * kGaiaUnitSeconds);
  double sum = 0;
  double count = 0;
  for (const auto& job : jobs) {
    if (of_short ? job.length_seconds > kLimit : job.length_seconds < kLimit) continue;
    sum += job.length_seconds;
    ++count;
  }
  return count == 0 ? 0 : units(sum / count);
}

}  // namespace

GaiaRow gaia(std::span<const double> hours, const std::vector<GaiaJob>& jobs) {
  const Trace trace{hours};
  const auto short_length = mean_length(jobs, true);
  const auto long_length = mean_length(jobs, false);
  GaiaRow sum;
  double at_once = 0;
  for (const auto& given : jobs) {
    const auto length = units(given.length_seconds);
    const bool is_short = length < kShortQueue;
    const Work job{units(given.arrival_seconds), length, is_short ? kShortWait : kLongWait,
                   is_short ? short_length : long_length};
    const auto from = [&](std::int64_t begin) { return given.cpus * trace.cost(begin, job.length); };
    at_once += from(job.arrival);
    sum.lowest_slot += from(lowest_slot(trace, job));
    sum.lowest_window += from(lowest_window(trace, job, job.expected));
    sum.carbon_time += from(carbon_time(trace, job));
    sum.ecovisor += given.cpus * ecovisor(trace, job);
    sum.wait_awhile += given.cpus * wait_awhile(trace, job);
    sum.oracle_window += from(lowest_window(trace, job, job.length));
  }
  for (auto* value : {&sum.lowest_slot, &sum.lowest_window, &sum.carbon_time, &sum.ecovisor, &sum.wait_awhile,
                      &sum.oracle_window})
    *value /= at_once;
  sum.at_once_cost = at_once / 1000 / static_cast<double>(kHour);
  return sum;
}

}  // namespace tidewatt::studies
