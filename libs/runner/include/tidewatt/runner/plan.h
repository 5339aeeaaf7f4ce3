// From a signal to windows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tidewatt/planning/do_no_harm.h"
#include "tidewatt/runner/order.h"
#include "tidewatt/units/time.h"

namespace tidewatt::runner {

/// Mean intensity of [begin, end).
struct SignalSlot {
  UtcTime begin, end;
  double g_per_kwh = 0;
  friend bool operator==(const SignalSlot&, const SignalSlot&) = default;
};

/// When to run, as last planned: the front end's to write.
struct Plan {
  UtcTime made_at;
  std::vector<UtcRange> windows;   ///< by time, apart; empty: run at once
  std::string why;                 ///< in words
  std::vector<SignalSlot> signal;  ///< what was known of each slot last, since the run was submitted; by time
};

/// Windows for what is left of the run. The signal may be empty, have holes and overlap: of slots that
/// overlap the later in the list counts.
/// @param known  slots of earlier plans are kept for the account at the end
/// @param past   what the signal's forecaster said of the hours up to that of `now`: waits that its errors
/// would
///               have made useless aren't planned
Plan make_plan(const Order& order, const Record& record, const std::vector<SignalSlot>& signal,
               const std::vector<SignalSlot>& known, UtcTime now,
               std::optional<planning::ForecastPast> past = std::nullopt);

}  // namespace tidewatt::runner
