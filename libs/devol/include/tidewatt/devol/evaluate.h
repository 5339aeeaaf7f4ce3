// Whether samples keep an objective.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "tidewatt/devol/objective.h"
#include "tidewatt/units/time.h"

namespace tidewatt::devol {

struct Sample {
  UtcTime at;
  double value = 0;
};

enum class State {
  unknown,   ///< no sample in the window
  kept,      ///< with room to spare
  close,     ///< kept, within a tenth of the threshold
  violated,  ///< broken
};
std::string_view to_string(State state);

struct Verdict {
  State state = State::unknown;
  std::optional<double> value;  ///< in the threshold's unit; nullopt = unknown
  std::size_t samples = 0;
};

/// @param samples  in any order; those that are not finite or not in (now - window, now] don't count
Verdict evaluate(const Objective& objective, std::span<const Sample> samples, UtcTime now,
                 Milliseconds window);
/// Over the objective's own window.
Verdict evaluate(const Objective& objective, std::span<const Sample> samples, UtcTime now);

}  // namespace tidewatt::devol
