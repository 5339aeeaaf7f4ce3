// What a provider's answer is worth, and what it says of the provider.
#pragma once

#include <cstdint>

#include "fetch.h"
#include "tidewatt/base/clock.h"
#include "zone.h"

namespace tidewatt::emma {

/// From worst to best.
enum class Took : std::uint8_t {
  nothing,
  past,  ///< points, none of which holds now: kept, and the next provider is asked
  wanted,
};

/// Takes an answer into the zone's book and keeps the provider's record; changes are told in the log.
Took take(Zone& zone, Provider& provider, carbon::Want want, Fetched fetched, const Clock& clock);

}  // namespace tidewatt::emma
