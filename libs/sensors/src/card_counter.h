// A card's cumulative energy counter as its library gives it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tidewatt/sensors/source.h"

namespace tidewatt::sensors {

/// An epoch is at most as long as our own run: whether a driver was reloaded before we came can't be told.
class CardCounter {
 public:
  /// Puts the counter into the reading, with its epoch. A counter that stands still for kFrozenAfter while
  /// the card draws power is distrusted and left out until it moves, and then begins an epoch: the energy is
  /// then that of the power. `reading` has its power and time.
  /// @param microjoules  nullopt = not told
  /// @param run          begins the epoch's name
  void put(Reading& reading, std::optional<std::uint64_t> microjoules, const std::string& run);

 private:
  struct Seen {
    std::uint64_t value;
    SteadyTime since;
  };
  std::optional<Seen> last_;
  bool frozen_ = false;
  int epoch_ = 0;
};

}  // namespace tidewatt::sensors
