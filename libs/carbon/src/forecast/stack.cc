#include "stack.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace tidewatt::carbon::forecast {
namespace {

constexpr double kHalfLifeDays = 365;
// Relative to the members' mean squared error: how strongly the weights are drawn to equal ones.
constexpr double kPullToEqual = 0.03;
constexpr double kFewDays = 5;
constexpr int kSteps = 80;

}  // namespace

std::vector<double> nearest_on_simplex(std::vector<double> values) {
  auto sorted = values;
  std::sort(sorted.begin(), sorted.end(), std::greater<>{});
  double sum = 0;
  double shift = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i];
    const double candidate = (sum - 1) / static_cast<double>(i + 1);
    if (sorted[i] - candidate > 0) shift = candidate;
  }
  for (double& value : values) value = std::max(value - shift, 0.0);
  return values;
}

Stack::Stack(std::size_t members)
    : members_{members},
      products_(members * members, 0.0),
      weights_(members, 1.0 / static_cast<double>(members)) {}

void Stack::learn(const std::vector<std::vector<double>>& errors) {
  const double keep = std::exp2(-1 / kHalfLifeDays);
  double size = 0;
  std::size_t count = 0;
  for (const auto& member : errors)
    for (const double error : member) {
      size += std::abs(error);
      ++count;
    }
  // Dividing by the day's own size makes the squares count nearly as absolute errors do.
  const double unit = size / static_cast<double>(std::max<std::size_t>(count, 1)) + 1e-9;
  for (std::size_t a = 0; a < members_; ++a)
    for (std::size_t b = 0; b < members_; ++b) {
      double product = 0;
      for (std::size_t h = 0; h < errors[a].size(); ++h) product += errors[a][h] * errors[b][h];
      products_[a * members_ + b] = products_[a * members_ + b] * keep + product / unit;
    }
  days_ = days_ * keep + 1;
}

void Stack::solve() {
  if (days_ < kFewDays || members_ < 2) return;
  double trace = 0;
  for (std::size_t a = 0; a < members_; ++a) trace += products_[a * members_ + a];
  const auto count = static_cast<double>(members_);
  const double pull = kPullToEqual * trace / count + 1e-12;
  double steepest = 0;
  for (std::size_t a = 0; a < members_; ++a) {
    double row = pull;
    for (std::size_t b = 0; b < members_; ++b) row += std::abs(products_[a * members_ + b]);
    steepest = std::max(steepest, row);
  }
  // Projected gradient with momentum, from the weights of the last time.
  auto ahead = weights_;
  for (int step = 0; step < kSteps; ++step) {
    std::vector<double> next(members_);
    for (std::size_t a = 0; a < members_; ++a) {
      double slope = pull * (ahead[a] - 1 / count);
      for (std::size_t b = 0; b < members_; ++b) slope += products_[a * members_ + b] * ahead[b];
      next[a] = ahead[a] - slope / steepest;
    }
    next = nearest_on_simplex(std::move(next));
    for (std::size_t a = 0; a < members_; ++a) ahead[a] = next[a] + 0.8 * (next[a] - weights_[a]);
    weights_ = std::move(next);
  }
}

}  // namespace tidewatt::carbon::forecast
