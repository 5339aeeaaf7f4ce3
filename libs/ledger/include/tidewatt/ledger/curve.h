// Curves: what each device drew at each beat, kept for days. Energy is never computed from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/metering/beat.h"
#include "tidewatt/units/exact.h"
#include "tidewatt/units/time.h"

namespace tidewatt::ledger {

struct CurveSample {
  std::string domain;
  int index = 0;
  std::optional<Milliwatts> power;  ///< mean of the beat's interval; nullopt = unknown (stored as such)
  std::optional<Milliwatts> power_min;
  std::optional<Milliwatts> power_max;
  std::optional<Milliwatts> power_limit;
  Quality quality = Quality::measured;
  std::vector<std::string> holders;  ///< tasks that held the device at this beat; sorted
  std::optional<Health> health;
};

/// One beat of one node.
struct CurvePoint {
  UtcTime at{};
  std::optional<double> cpu_util;
  std::vector<CurveSample> devices;
};

}  // namespace tidewatt::ledger
