// What a run came to, beside running at once.
#pragma once

#include <optional>

#include "tidewatt/runner/order.h"
#include "tidewatt/runner/plan.h"

namespace tidewatt::runner {

struct Outcome {
  Milliseconds ran{0};
  Milliseconds waited{0};  ///< submitted until the end, without what it ran
  std::size_t pauses = 0;
  Milliseconds of_known{0};                  ///< of `ran`, where the intensity is known
  std::optional<double> mean_g_per_kwh;      ///< over the time it ran; nullopt where any of it is unknown
  std::optional<double> baseline_g_per_kwh;  ///< over as long a time from when it was submitted
  /// Percent less carbon than at once, at even power; nullopt where one of the two is unknown or the baseline
  /// 0.
  std::optional<double> saving_percent;
};

Outcome outcome_of(const Order& order, const Record& record, const Plan& plan, UtcTime now);

}  // namespace tidewatt::runner
