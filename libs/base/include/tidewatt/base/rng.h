#pragma once

#include <cstdint>
#include <string>

namespace tidewatt {

/// Randomness, injected. Not for secrets unless the implementation says so (libs/os SecureRng does).
class Rng {
 public:
  virtual ~Rng() = default;
  /// Uniform over all 64-bit values.
  virtual std::uint64_t next() = 0;
  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }
};

}  // namespace tidewatt
