// How many replicas a carbon intensity allows. Fewer as it rises; by the clock where it isn't known.
// Rules in words: docs/operate/keda.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/units/quantity.h"
#include "tidewatt/units/time.h"

namespace tidewatt::k8s {

/// Up to this intensity, so many replicas.
struct ReplicaStep {
  GramsPerKwh up_to{0};
  int replicas = 0;
};

/// From one hour of the day (UTC) to before another, so many replicas.
struct ReplicaHours {
  int from = 0;
  int to = 24;
  int replicas = 1;
};

struct ReplicaPolicy {
  std::string zone;                ///< of carbon intensity
  int min = 1;                     ///< also what holds above the last step
  std::vector<ReplicaStep> steps;  ///< intensities rise, replicas fall; the first are the most
  std::vector<ReplicaHours> schedule;
  [[nodiscard]] int max() const { return steps.front().replicas; }
};

/// "zone=DE min=1 steps=150:20,250:10,350:4 schedule=0-6:20,6-22:4": words parted by blanks.
/// @error invalid_input  an unknown or missing word, steps that don't fall, a step that the autoscaler's
///                       tolerance would swallow, hours that overlap, a schedule of none
Result<ReplicaPolicy> parse_replica_policy(std::string_view text);

enum class WantedBy : std::uint8_t { signal, schedule, nothing };
std::string_view to_string(WantedBy by);

struct WantedReplicas {
  int replicas = 0;
  WantedBy by = WantedBy::nothing;
};

/// @param intensity nullopt = degraded or off: the schedule holds, and in hours without one the most, as if
///                  nobody looked at carbon. Never 0 then.
WantedReplicas wanted_replicas(const ReplicaPolicy& policy, std::optional<GramsPerKwh> intensity,
                               UtcTime now);

}  // namespace tidewatt::k8s
