// Unknown power must be asked about before it is used.
// expect: cannot convert|no viable conversion|could not convert|no known conversion
#include <optional>

#include "tidewatt/units/exact.h"

using namespace tidewatt;

std::optional<Microjoules> energy(std::optional<Milliwatts> power) {
#ifdef MISTAKE
  return energy_of(power, std::chrono::milliseconds{1000});
#else
  if (!power) return std::nullopt;
  return energy_of(*power, std::chrono::milliseconds{1000});
#endif
}
