// The intensity behind the meter: own generation and battery beside what the grid brings.
#pragma once

#include <optional>

#include "tidewatt/carbon/signal.h"

namespace tidewatt::carbon {

/// Mean powers of an hour. Certificates and contracts are no flows: they never change a location's intensity.
struct SiteFlows {
  Watts solar;
  Watts wind;
  Watts battery;  ///< what it gives; charging is a load like others: 0
  Watts grid;     ///< import; an export is 0
};

struct SiteFactors {
  std::optional<CarbonIntensity> grid;     ///< of the hour
  std::optional<CarbonIntensity> battery;  ///< of what it was charged with, over its round-trip efficiency
  CarbonIntensity solar{0};                ///< 0 = direct emissions
  CarbonIntensity wind{0};
};

/// The mean over what was consumed, weighted by power: (solar + wind + battery + grid, each times its
/// intensity) over their sum.
/// @return nullopt when nothing flowed, a flow is negative or not finite, or the intensity of one that flowed
/// is unknown
std::optional<CarbonIntensity> site_intensity(const SiteFlows& flows, const SiteFactors& factors);

}  // namespace tidewatt::carbon
