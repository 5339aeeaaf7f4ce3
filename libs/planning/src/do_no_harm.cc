#include "tidewatt/planning/do_no_harm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace tidewatt::planning {
namespace {

/// Sums that differ by less are the same sum, added up in another order.
constexpr double kSameSum = 1e-9;
constexpr double kMostPersistence = 0.98;
/// Weight of "a fixed share is realised" beside the decisions' own spread, as a share of their mean squared.
constexpr double kPull = 0.05;
constexpr std::size_t kHoursPerDay = 24;

/// Correlation of the errors around their time of day's mean, from slot to slot.
double persistence(std::span<const double> errors, const std::vector<double>& bias) {
  double products = 0;
  double squares = 0;
  const auto day = bias.size();
  // errors.back() is the slot before now, whose time of day is that of bias.back().
  const auto around = [&](std::size_t i) {
    return errors[i] - bias[(day - 1) - (errors.size() - 1 - i) % day];
  };
  for (std::size_t i = 1; i < errors.size(); ++i) {
    products += around(i) * around(i - 1);
    squares += around(i - 1) * around(i - 1);
  }
  return squares > 0 ? std::clamp(products / squares, 0.0, kMostPersistence) : 0;
}

double window_sum(const WaitKind& kind, std::span<const double> seen, std::span<const double> paid,
                  double* expected) {
  double sum = std::accumulate(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(kind.length), 0.0);
  double least = sum;
  std::size_t at = 0;
  for (std::size_t begin = 1; begin + kind.length <= seen.size(); ++begin) {
    sum += seen[begin + kind.length - 1] - seen[begin - 1];
    if (sum >= least - kSameSum) continue;
    least = sum;
    at = begin;
  }
  *expected = least;
  const auto from = paid.begin() + static_cast<std::ptrdiff_t>(at);
  return std::accumulate(from, from + static_cast<std::ptrdiff_t>(kind.length), 0.0);
}

double least_slots(const WaitKind& kind, std::span<const double> seen, std::span<const double> paid,
                   double* expected) {
  std::vector<std::uint32_t> order(seen.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  const auto cut = order.begin() + static_cast<std::ptrdiff_t>(kind.length);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return seen[a] != seen[b] ? seen[a] < seen[b] : a < b;
  };
  if (cut != order.end()) std::nth_element(order.begin(), cut, order.end(), before);
  double sum = 0;
  *expected = 0;
  for (auto at = order.begin(); at != cut; ++at) {
    *expected += seen[*at];
    sum += paid[*at];
  }
  return sum;
}

}  // namespace

RecentError::RecentError(std::span<const double> foreseen, std::span<const double> actual,
                         std::size_t slots_per_day) {
  const auto day = std::max<std::size_t>(1, slots_per_day);
  const auto days = std::min(kErrorDays, std::min(foreseen.size(), actual.size()) / day);
  if (days == 0) return;
  std::vector<double> errors(days * day);
  for (std::size_t i = 0; i < errors.size(); ++i)
    errors[i] = actual[actual.size() - errors.size() + i] - foreseen[foreseen.size() - errors.size() + i];
  bias_.assign(day, 0);
  for (std::size_t i = 0; i < errors.size(); ++i) bias_[i % day] += errors[i] / static_cast<double>(days);
  persistence_ = persistence(errors, bias_);
  last_ = errors.back() - bias_.back();
}

std::vector<double> RecentError::corrected(std::span<const double> forecast) const {
  std::vector<double> slots{forecast.begin(), forecast.end()};
  if (bias_.empty()) return slots;
  double rest = last_;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    rest *= persistence_;
    slots[k] = std::max(0.0, slots[k] + bias_[k % bias_.size()] + rest);
  }
  return slots;
}

void HarmRecord::count(const Judged& decision, double sign) {
  if (decision.expected <= 0) return;  // it didn't wait
  waits_ += sign;
  expected_ += sign * decision.expected;
  realised_ += sign * decision.realised;
  squares_ += sign * decision.expected * decision.expected;
  products_ += sign * decision.expected * decision.realised;
}

void HarmRecord::add(Judged decision) {
  kept_.push_back(decision);
  count(decision, 1);
  if (kept_.size() <= most_) return;
  count(kept_.front(), -1);
  kept_.pop_front();
}

double HarmRecord::realised_at(double expected) const {
  // Fewer waits than a day's hours say little, however many decisions not to wait there were.
  if (kept_.size() < least_ || waits_ < static_cast<double>(kHoursPerDay)) return 0;
  const double mean = expected_ / waits_;
  const double realised = realised_ / waits_;
  const double variance = std::max(0.0, squares_ / waits_ - mean * mean);
  const double pull = kPull * mean * mean;
  const double slope = (products_ / waits_ - mean * realised + pull * (realised / mean)) / (variance + pull);
  return realised + slope * (expected - mean);
}

bool HarmRecord::allows(double expected) const { return expected > 0 && realised_at(expected) > 0; }

Judged judge(const WaitKind& kind, std::span<const double> seen, std::span<const double> paid) {
  const auto length = static_cast<std::ptrdiff_t>(kind.length);
  double expected = 0;
  const double cost =
      kind.pieces ? least_slots(kind, seen, paid, &expected) : window_sum(kind, seen, paid, &expected);
  const double seen_now = std::accumulate(seen.begin(), seen.begin() + length, 0.0);
  const double paid_now = std::accumulate(paid.begin(), paid.begin() + length, 0.0);
  const auto slots = static_cast<double>(kind.length);
  const double gain = (seen_now - expected) / slots;
  return {gain > kSameSum ? gain : 0, gain > kSameSum ? (paid_now - cost) / slots : 0};
}

Replay::Replay(ForecastPast past, std::size_t slots_per_day)
    : past_(std::move(past)), step_(std::max<std::size_t>(1, slots_per_day / kHoursPerDay)) {
  const auto known = std::min(past_.foreseen.size(), past_.actual.size());
  const std::span foreseen{past_.foreseen};
  const std::span actual{past_.actual};
  // Counted back from now, so that decisions lie on the same minutes as the one at hand; after a day of
  // errors at least.
  first_ = known % step_;
  while (first_ < slots_per_day) first_ += step_;
  for (auto at = first_; at < known; at += step_)
    errors_.emplace_back(foreseen.first(at), actual.first(at), slots_per_day);
}

HarmRecord Replay::record(const WaitKind& kind) const {
  HarmRecord record{kJudgedMost, kJudgedLeast};
  const auto window = kind.length + kind.slack;
  const auto known = std::min(past_.foreseen.size(), past_.actual.size());
  if (kind.length == 0) return record;
  auto at = first_;
  for (const auto& error : errors_) {
    if (at + window > known) break;
    const auto seen = error.corrected(std::span{past_.foreseen}.subspan(at, window));
    record.add(judge(kind, seen, std::span{past_.actual}.subspan(at, window)));
    at += step_;
  }
  return record;
}

}  // namespace tidewatt::planning
