// The arithmetic of Kubernetes' HorizontalPodAutoscaler for metrics of type AverageValue, as KEDA makes them:
// what becomes of the replicas that a policy asks for.
#pragma once

#include <span>
#include <vector>

#include "tidewatt/units/time.h"

namespace tidewatt::k8s {

/// The autoscaler's default: a metric this close to what the present replicas satisfy changes nothing.
inline constexpr double kHpaTolerance = 0.1;

/// One trigger: the sum over all pods, and what one pod shall have of it.
struct HpaMetric {
  double value = 0;
  double target = 1;  ///< > 0
};

/// What one look at the metrics asks for: the most that any of them wants. 0 replicas stay 0 (KEDA itself,
/// not the autoscaler, wakes a workload up).
int hpa_desired(int current, std::span<const HpaMetric> metrics, double tolerance = kHpaTolerance);

/// Whether the autoscaler may take no step from `current` to `wanted` replicas, since they are too close.
bool hpa_ignores(int current, int wanted, double tolerance = kHpaTolerance);

/// spec.behavior's windows: replicas fall only to the highest, and rise only to the lowest, that was asked
/// for within them.
struct HpaWindows {
  Milliseconds down{300'000};
  Milliseconds up{0};
};

class HpaStabilisation {
 public:
  explicit HpaStabilisation(HpaWindows windows) : windows_(windows) {}
  /// @param desired as hpa_desired says at `now`; times don't fall
  /// @return the replicas that the workload gets
  int settle(UtcTime now, int current, int desired);

 private:
  struct Asked {
    UtcTime at;
    int replicas;
  };
  HpaWindows windows_;
  std::vector<Asked> asked_;
};

}  // namespace tidewatt::k8s
