// Where a run's carbon intensity comes from.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "../server_access.h"
#include "tidewatt/base/result.h"
#include "tidewatt/planning/do_no_harm.h"
#include "tidewatt/runner/plan.h"

namespace tidewatt::cli {

struct RunSignal {
  std::vector<runner::SignalSlot> slots;
  std::optional<planning::ForecastPast> past;  ///< hours up to the one of `now`, where the source tells them
};

/// What is known now of the hours from `now` to `until`.
using ReadSignal = std::function<Result<RunSignal>(UtcTime now, UtcTime until)>;

/// A CSV file, read anew each time. A column forecast_gco2_per_kwh beside `column` says what was foreseen of
/// the hours that are past, so that the forecast is judged by it.
ReadSignal signal_of_file(std::string path, std::string column);
/// A server's own forecast of a zone.
ReadSignal signal_of_server(ServerAccess access, std::string zone);
/// What a server knows of a zone's past.
ReadSignal history_of_server(ServerAccess access, std::string zone);

}  // namespace tidewatt::cli
