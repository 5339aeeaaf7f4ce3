// Who of a device's holders gets an interval, and how much of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tidewatt/ledger/integrate.h"
#include "tidewatt/metering/beat.h"

namespace tidewatt::ledger {

/// Holders that really hold, one entry a task (several processes of one task are one holder), by task id.
std::vector<Holder> merge_holders(const std::vector<Holder>& holders);
std::vector<std::string> names_of(const std::vector<Holder>& merged);

/// A stretch of an interval with a fixed set of receivers.
struct Segment {
  UtcRange range;
  std::vector<std::string> receivers;  ///< sorted; empty: nobody takes it
  bool shared = false;                 ///< more than one task held the device at either end
};

/// @param before  tasks that held the device at the interval's begin, sorted
/// @param now     tasks that hold it at its end, sorted
/// Without events a task that held at both ends has all of it, any other none; a start or finish that the
/// registry knows inside the interval cuts it there.
std::vector<Segment> segments_of(UtcRange interval, const std::vector<std::string>& before,
                                 const std::vector<std::string>& now, const TaskWindows& windows);

/// Integer weights in the receivers' order: by the highest dimension that all receivers declare (compute,
/// memory, else equal); a sleeping receiver weighs nothing while another is awake.
/// @param unheld  what is nobody's: one more party, whose weight is then the last of the result
std::vector<std::int64_t> weights_of(std::span<const std::string> receivers,
                                     const std::vector<Holder>& declared,
                                     const std::optional<Unheld>& unheld = std::nullopt);

}  // namespace tidewatt::ledger
