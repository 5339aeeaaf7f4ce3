#pragma once

#include "tidewatt/units/time.h"

namespace tidewatt {

/// Time, injected. The wall clock may jump; the monotonic one doesn't.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual UtcTime utc_now() const = 0;
  /// CLOCK_BOOTTIME where the system has it: runs on during suspend, same zero for all processes of a boot.
  [[nodiscard]] virtual SteadyTime mono_now() const = 0;
};

}  // namespace tidewatt
