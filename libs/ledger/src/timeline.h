// When a beat was sampled, and whether it was seen before.
#pragma once

#include <optional>
#include <string>

#include "tidewatt/ledger/cursor.h"
#include "tidewatt/ledger/integrate.h"
#include "tidewatt/metering/beat.h"

namespace tidewatt::ledger {

struct SampleTime {
  UtcTime at{};
  bool clock_jump = false;
  bool clock_corrected = false;  ///< the boot had begun with an unset clock, its time line was moved
  std::optional<Milliseconds> clock_offset;
  std::string refused;  ///< not empty: why the beat has no usable time
};

/// The sample time by the boot's monotonic clock where it is known, else the agent's wall clock, else the
/// receipt. Moves or makes the boot's anchor in `cursor`; a boot that began days behind is moved with all
/// that stands on its time.
SampleTime resolve_time(NodeCursor& cursor, const Beat& beat, const std::optional<Receipt>& receipt);

/// True when the beat's seq was seen from its agent in its boot. Beats without seq or without any id never
/// were.
bool seen_before(const NodeCursor& cursor, const Beat& beat);
void note_seen(NodeCursor& cursor, const Beat& beat, UtcTime at);

}  // namespace tidewatt::ledger
