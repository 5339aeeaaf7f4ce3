// Power outside what was predicted, and what may be behind it.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "tidewatt/units/quantity.h"
#include "tidewatt/units/time.h"

namespace tidewatt::tasks {

enum class Cause { clock, power_cap, temperature, utilisation, co_tenant, cooling, input };
inline constexpr std::size_t kCauses = 7;
std::string_view to_string(Cause cause);

/// A task at one update of its prediction. nullopt: not known.
struct PowerUpdate {
  UtcTime at;
  Watts power;
  Watts low;  ///< of the prediction's 90 % band
  Watts high;
  std::optional<double> clock_mhz;
  std::optional<Watts> power_limit;
  std::optional<Celsius> temperature;
  std::optional<double> utilisation;  ///< 0 to 1
  std::optional<double> co_tenants;   ///< other tasks on the same devices
  std::optional<double> pue;          ///< facility power over IT power
  std::optional<double> input_size;   ///< whatever the task says: samples or tokens per step
};

struct EvidencePoint {
  UtcTime at;
  double value = 0;
};

struct RankedCause {
  Cause cause = Cause::clock;
  double score = 0;                     ///< change over its usual scatter; larger is likelier
  double before = 0;                    ///< median while power was in the band
  double now = 0;                       ///< median since it left
  std::vector<EvidencePoint> evidence;  ///< the series, in time order
};

struct Anomaly {
  UtcTime since;      ///< the first update outside
  bool above = true;  ///< or below the band
  std::size_t updates = 0;
  double excess = 0;  ///< mean distance from the band's middle over it: 0.2 = 20 % above; negative below
  std::vector<RankedCause> causes;  ///< likeliest first; may be empty: nothing known has changed
};

/// Power outside the band on the same side for kUpdatesOutside updates in a row is an anomaly, until one is
/// inside.
class AnomalyDetector {
 public:
  static constexpr std::size_t kUpdatesOutside = 3;
  static constexpr std::size_t kRemembered = 64;  ///< updates inside the band, and as many outside

  /// @return the anomaly as it stands, or nullopt
  std::optional<Anomaly> observe(const PowerUpdate& update);

 private:
  std::deque<PowerUpdate> inside_;
  std::deque<PowerUpdate> outside_;
  std::size_t outside_count_ = 0;
  UtcTime since_{};
};

}  // namespace tidewatt::tasks
