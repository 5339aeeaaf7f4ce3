// Who of a device's holders gets an interval, and how much of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/ledger/integrate.h"
#include "tidewatt/metering/beat.h"

namespace tidewatt::ledger {

/// Holders that really hold, one entry a task (several processes of one task are one holder), by task id.
std::vector<Holder> merge_holders(const std::vector<Holder>& holders);
/// The tasks among them that really hold. `before` itself where they are the same, as they nearly always are.
TaskSet tasks_of(const std::vector<Holder>& holders, const TaskSet& before);

/// A stretch of an interval with a fixed set of receivers.
struct Segment {
  UtcRange range;
  TaskSet receivers;    ///< empty: nobody takes it
  bool shared = false;  ///< more than one task held the device at either end
};

/// @param before  tasks that held the device at the interval's begin
/// @param now     tasks that hold it at its end
/// Without events a task that held at both ends has all of it, any other none; a start or finish that the
/// registry knows inside the interval cuts it there.
std::vector<Segment> segments_of(UtcRange interval, const TaskSet& before, const TaskSet& now,
                                 const TaskWindows& windows);

/// Integer weights in the receivers' order: by the highest dimension that all receivers declare (compute,
/// memory, else equal); a sleeping receiver weighs nothing while another is awake.
/// @param unheld  what is nobody's: one more party, whose weight is then the last of the result
std::vector<std::int64_t> weights_of(const TaskSet& receivers, const std::vector<Holder>& declared,
                                     const std::optional<Unheld>& unheld = std::nullopt);

}  // namespace tidewatt::ledger
