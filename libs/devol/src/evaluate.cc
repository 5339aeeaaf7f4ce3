#include "tidewatt/devol/evaluate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace tidewatt::devol {
namespace {

constexpr double kClose = 0.1;  ///< of the threshold

double nearest_rank(std::vector<double>& values, double percentile) {
  const auto count = static_cast<double>(values.size());
  const auto rank = static_cast<std::size_t>(std::ceil(percentile / 100 * count));
  const auto place =
      values.begin() + static_cast<std::ptrdiff_t>(std::clamp<std::size_t>(rank, 1, values.size()) - 1);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

double rate(const Objective& objective, const std::vector<double>& values, Milliseconds window) {
  if (objective.unit == ThresholdUnit::percent)
    return 100.0 * static_cast<double>(std::ranges::count_if(values, [](double v) { return v != 0; })) /
           static_cast<double>(values.size());
  return std::accumulate(values.begin(), values.end(), 0.0) * 1000 / static_cast<double>(window.count());
}

double statistic(const Objective& objective, std::vector<double>& values, Milliseconds window) {
  switch (objective.statistic) {
    case Statistic::mean:
      return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    case Statistic::least:
      return *std::ranges::min_element(values);
    case Statistic::greatest:
      return *std::ranges::max_element(values);
    case Statistic::percentile:
      return nearest_rank(values, objective.percentile);
    case Statistic::rate:
      return rate(objective, values, window);
  }
  return values.front();
}

State state_of(const Objective& objective, double value) {
  const double limit = objective.threshold;
  const double margin = kClose * std::abs(limit);
  switch (objective.relation) {
    case Relation::at_most:
      return value > limit ? State::violated : value > limit - margin ? State::close : State::kept;
    case Relation::below:
      return value >= limit ? State::violated : value >= limit - margin ? State::close : State::kept;
    case Relation::at_least:
      return value < limit ? State::violated : value < limit + margin ? State::close : State::kept;
    case Relation::above:
      return value <= limit ? State::violated : value <= limit + margin ? State::close : State::kept;
  }
  return State::unknown;
}

}  // namespace

std::string_view to_string(State state) {
  switch (state) {
    case State::unknown:
      return "unknown";
    case State::kept:
      return "kept";
    case State::close:
      return "close";
    case State::violated:
      return "violated";
  }
  return "unknown";
}

Verdict evaluate(const Objective& objective, std::span<const Sample> samples, UtcTime now,
                 Milliseconds window) {
  std::vector<double> values;
  for (const auto& sample : samples)
    if (std::isfinite(sample.value) && sample.at > now - window && sample.at <= now)
      values.push_back(sample.value);
  if (values.empty()) return {};
  const auto count = values.size();
  const double value = statistic(objective, values, window);
  if (!std::isfinite(value)) return {};
  return {state_of(objective, value), value, count};
}

Verdict evaluate(const Objective& objective, std::span<const Sample> samples, UtcTime now) {
  return evaluate(objective, samples, now, objective.window);
}

}  // namespace tidewatt::devol
