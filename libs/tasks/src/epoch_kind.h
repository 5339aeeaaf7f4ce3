// Which epochs of a task say what the next ones will cost.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidewatt/tasks/prediction.h"

namespace tidewatt::tasks {

struct KnownEpoch {
  std::int64_t number = 0;
  double energy = 0;  ///< J
};

struct EpochKinds {
  std::vector<EpochKind> kinds;  ///< one per epoch, in order
  std::optional<EvaluationCycle> evaluation;
  std::optional<std::int64_t> changed_at;  ///< the first epoch on the level that holds now
};

/// Sorts epochs into kinds: warm-up at the start, the last lasting change of level, evaluation epochs that
/// come back with a period, single unusual ones; the rest is steady. Always leaves at least one steady epoch.
/// @param from_start  whether `epochs` begins with the task's first one: only then may warm-up be looked for
/// Source: docs/method/prediction.md
EpochKinds classify(std::span<const KnownEpoch> epochs, bool from_start);

}  // namespace tidewatt::tasks
