// Cumulative energy counters: one owner unwraps a counter and derives power from it. Rules: docs/method in
// README.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tidewatt/units/exact.h"
#include "tidewatt/units/quantity.h"
#include "tidewatt/units/time.h"

namespace tidewatt::metering {

/// What one read of a counter says.
struct CounterStep {
  std::optional<Microjoules> total;  ///< since the epoch began; monotone inside it; nullopt = value rejected
  std::uint64_t epoch = 0;           ///< +1 whenever the accumulation began anew
  std::optional<Watts> power;        ///< mean since the last read that changed; nullopt = not knowable
  bool unchanged = false;  ///< the counter hasn't moved yet: no new information, keep what was known
  std::string reason;      ///< why there is no power; empty when there is or when `unchanged`
};

/// Unwraps one counter by its own range. Not thread-safe; exactly one per counter.
/// - The first read, and the first after note_failure(), is a baseline: no energy, a new epoch.
/// - A value above the range is rejected; the next one is a baseline.
/// - A decrease is one wrap if the range is known and no whole lap can hide in the time passed (max power x
/// time <
///   range) and the energy is possible in that time; else unknown and a new epoch.
/// - Equal values are no news: the next change counts since the value was first seen. A counter that stands
/// for
///   kFrozenAfter is unknown ("counter_frozen"), never 0 W.
class CounterAccumulator {
 public:
  static constexpr Milliseconds kFrozenAfter{5'000};

  /// @param range      largest value before it wraps to 0, in microjoules; nullopt = not known
  /// @param max_power  more than this the device can't draw (k x limit)
  CounterAccumulator(std::optional<std::uint64_t> range, Watts max_power)
      : range_(range), max_power_(max_power) {}

  /// @param raw  the counter in microjoules   @param at  monotonic time of the read
  CounterStep update(std::uint64_t raw, SteadyTime at);
  /// A read failed: how long it lasts and what the counter does meanwhile isn't known.
  void note_failure() { last_.reset(); }

 private:
  struct Seen {
    std::uint64_t raw;
    SteadyTime changed_at;  ///< when this value was first seen
    SteadyTime read_at;
  };
  CounterStep begin_epoch(std::uint64_t raw, SteadyTime at, std::string reason);
  [[nodiscard]] std::optional<std::uint64_t> energy_since(const Seen& last, std::uint64_t raw, SteadyTime at,
                                                          std::string& why_not) const;

  std::optional<std::uint64_t> range_;
  Watts max_power_;
  std::optional<Seen> last_;
  Microjoules total_{};
  std::uint64_t epoch_ = 0;
};

}  // namespace tidewatt::metering
