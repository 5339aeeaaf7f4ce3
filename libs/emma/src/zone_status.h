// How a zone stands: what decisions use now, since when, and how its providers do.
#pragma once

#include "tidewatt/base/clock.h"
#include "zone.h"

namespace tidewatt::emma {

carbon::ChainDecision decision_of(const Zone& zone, UtcTime now, Milliseconds ttl);
/// Tells the log when the zone's step changed, and keeps since when.
void note_step(Zone& zone, UtcTime now, Milliseconds ttl);
carbon::ZoneStatus status_of(const Zone& zone, const Clock& clock, Milliseconds ttl);

}  // namespace tidewatt::emma
