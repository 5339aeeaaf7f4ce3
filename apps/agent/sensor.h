// The agent's own executable as the process that a vendor's library lives in.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/base/process.h"
#include "tidewatt/base/result.h"
#include "tidewatt/units/time.h"

namespace tidewatt::app {

struct SensorOptions {
  std::string host_root;                       ///< where the host's /proc and /sys are; empty = /
  std::optional<Milliseconds> process_period;  ///< how often devices' processes are listed
};

/// Starts this executable again, as "sensor LIBRARY".
Result<std::unique_ptr<Companion>> start_sensor(const std::string& library, const SensorOptions& options);

/// The child's main: answers on stdin and stdout until the parent closes.
/// @param arguments  LIBRARY [--host-root FOLDER] [--process-period MS]
[[noreturn]] void run_sensor(const std::vector<std::string>& arguments);

}  // namespace tidewatt::app
