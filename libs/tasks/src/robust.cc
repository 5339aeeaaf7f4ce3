#include "robust.h"

#include <algorithm>
#include <cmath>

namespace tidewatt::tasks {
namespace {

/// Median distance to standard deviation for normal values: 1 / quantile(0.75).
constexpr double kNormalScale = 1.4826;

}  // namespace

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double median(std::span<const double> values) {
  return median(std::vector<double>(values.begin(), values.end()));
}

double robust_deviation(std::span<const double> values, double centre) {
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - centre));
  return kNormalScale * median(std::move(distances));
}

double mean_distance(std::span<const double> values, double centre) {
  double sum = 0;
  for (const double value : values) sum += std::abs(value - centre);
  return sum / static_cast<double>(values.size());
}

}  // namespace tidewatt::tasks
