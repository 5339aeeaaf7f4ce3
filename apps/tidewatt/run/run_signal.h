// Where a run's carbon intensity comes from.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../server_access.h"
#include "tidewatt/base/result.h"
#include "tidewatt/runner/plan.h"

namespace tidewatt::cli {

/// What is known now of the hours from `now` to `until`.
using ReadSignal = std::function<Result<std::vector<runner::SignalSlot>>(UtcTime now, UtcTime until)>;

/// A CSV file, read anew each time.
ReadSignal signal_of_file(std::string path, std::string column);
/// A server's own forecast of a zone.
ReadSignal signal_of_server(ServerAccess access, std::string zone);
/// What a server knows of a zone's past.
ReadSignal history_of_server(ServerAccess access, std::string zone);

}  // namespace tidewatt::cli
