#include <time.h>

#include "tidewatt/os/posix.h"

namespace tidewatt::os {

UtcTime SystemClock::utc_now() const {
  return std::chrono::floor<Milliseconds>(std::chrono::system_clock::now());
}

SteadyTime SystemClock::mono_now() const {
  timespec now{};
  // Unlike CLOCK_MONOTONIC it runs on while the machine sleeps, so a sleep is seen as a gap.
  if (::clock_gettime(CLOCK_BOOTTIME, &now) != 0) ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto since_boot = std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
  return SteadyTime{std::chrono::floor<Milliseconds>(since_boot)};
}

}  // namespace tidewatt::os
