// A recorded log played as if it were happening now.
#pragma once

#include <memory>
#include <string>

#include "tidewatt/base/clock.h"
#include "tidewatt/metering/replay_log.h"
#include "tidewatt/sensors/source.h"

namespace tidewatt::sensors {

/// Plays one node's samples of a log, from now on. Each look gives every sample that has become due since the
/// last one, so that no energy is lost however rarely one looks; their times lie on the caller's monotonic
/// clock.
/// @param node   a node of the log; empty = all of them as one (logs of a single node)
/// @param speed  > 0; at 10 an hour of log takes six minutes. Power stays as recorded, so energy is a tenth.
/// read() @error not_found  when the log has been played to its end
std::unique_ptr<Source> make_replay(metering::ReplayLog log, std::string node, double speed,
                                    const Clock& clock);

}  // namespace tidewatt::sensors
