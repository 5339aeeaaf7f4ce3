// What a task says of its progress: one row an epoch (or block of steps).
#pragma once

#include <cstdint>
#include <optional>

#include "tidewatt/units/quantity.h"

namespace tidewatt::tasks {

struct Epoch {
  std::int64_t number = 0;         ///< as the task counts; a restart from a checkpoint counts back
  std::optional<Joules> energy;    ///< of this epoch alone, not since the start; nullopt = not known
  std::optional<Seconds> seconds;  ///< how long it took; nullopt = not known
};

}  // namespace tidewatt::tasks
