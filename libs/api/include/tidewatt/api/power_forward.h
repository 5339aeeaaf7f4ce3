// Where the power of booked beats also goes, such as a store for long-term curves. The ledger stays the
// record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tidewatt/metering/beat.h"

namespace tidewatt::api {

/// A beat's known powers, measured or simulated. An estimate is nobody's record.
struct PowerRound {
  struct Device {
    std::string domain;
    int index = 0;
    std::string uuid;
    Quality quality = Quality::measured;
    Watts power{};  ///< mean of the interval that ends at `at`
  };
  std::string cluster;
  std::string node_id;
  UtcTime at{};
  std::vector<Device> devices;
};

/// @return without devices where the beat has no time or no known power
PowerRound power_of(const Beat& beat);

/// What became of the samples.
struct ForwardCounts {
  std::uint64_t sent = 0;
  std::uint64_t refused = 0;  ///< by the receiver, for good: out of its order, too old, not allowed
  std::uint64_t dropped = 0;  ///< the receiver was away for longer than there is room
  std::size_t waiting = 0;
};

class PowerForward {
 public:
  virtual ~PowerForward() = default;
  /// Thread-safe; never waits.
  virtual void add(PowerRound round) = 0;
  [[nodiscard]] virtual ForwardCounts counts() const = 0;
};

}  // namespace tidewatt::api
