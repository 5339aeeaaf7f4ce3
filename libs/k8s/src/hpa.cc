#include "tidewatt/k8s/hpa.h"

#include <algorithm>
#include <cmath>

namespace tidewatt::k8s {

int hpa_desired(int current, std::span<const HpaMetric> metrics, double tolerance) {
  if (current <= 0 || metrics.empty()) return std::max(current, 0);
  int most = 0;
  for (const auto& metric : metrics) {
    const double ratio = metric.value / (metric.target * current);
    const int wanted = std::abs(1 - ratio) <= tolerance
                           ? current
                           : static_cast<int>(std::ceil(metric.value / metric.target));
    most = std::max(most, wanted);
  }
  return most;
}

bool hpa_ignores(int current, int wanted, double tolerance) {
  // At the very edge rounding decides in the autoscaler: nobody should build on it.
  constexpr double kEdge = 1e-9;
  return current > 0 && std::abs(1 - static_cast<double>(wanted) / current) <= tolerance + kEdge;
}

int HpaStabilisation::settle(UtcTime now, int current, int desired) {
  int highest = desired;
  int lowest = desired;
  std::erase_if(asked_,
                [&](const Asked& old) { return now - old.at > std::max(windows_.up, windows_.down); });
  for (const auto& old : asked_) {
    if (now - old.at < windows_.up) lowest = std::min(lowest, old.replicas);
    if (now - old.at < windows_.down) highest = std::max(highest, old.replicas);
  }
  asked_.push_back({now, desired});
  return std::min(std::max(current, lowest), highest);
}

}  // namespace tidewatt::k8s
