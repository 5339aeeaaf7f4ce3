#include "tidewatt/carbon/onsite.h"

#include <array>
#include <cmath>
#include <utility>

namespace tidewatt::carbon {

std::optional<CarbonIntensity> site_intensity(const SiteFlows& flows, const SiteFactors& factors) {
  const std::array<std::pair<Watts, std::optional<CarbonIntensity>>, 4> parts{
      {{flows.solar, factors.solar},
       {flows.wind, factors.wind},
       {flows.battery, factors.battery},
       {flows.grid, factors.grid}}};
  double power = 0;
  double weighted = 0;
  for (const auto& [flow, intensity] : parts) {
    if (!std::isfinite(flow.value()) || flow.value() < 0) return std::nullopt;
    if (flow.value() == 0) continue;
    if (!intensity) return std::nullopt;
    power += flow.value();
    weighted += flow.value() * intensity->value();
  }
  if (power <= 0) return std::nullopt;
  return CarbonIntensity{weighted / power};
}

}  // namespace tidewatt::carbon
