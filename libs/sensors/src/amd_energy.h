// How both of AMD's libraries tell a card's energy: a count and the microjoules of one.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "tidewatt/metering/plausibility.h"

namespace tidewatt::sensors {

/// nullopt for blanks, for what doesn't fit, and for 0: that counter belongs to a die whose sibling counts.
/// @param resolution  microjoules of one count
inline std::optional<std::uint64_t> amd_microjoules(std::uint64_t counter, float resolution) {
  const double microjoules = static_cast<double>(counter) * static_cast<double>(resolution);
  if (metering::is_blank(counter) || counter == 0 || !std::isfinite(microjoules) || resolution <= 0 ||
      microjoules > 9e18)
    return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(microjoules));
}

}  // namespace tidewatt::sensors
