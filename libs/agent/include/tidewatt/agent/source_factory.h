#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tidewatt/agent/agent_settings.h"
#include "tidewatt/base/clock.h"
#include "tidewatt/base/file_system.h"
#include "tidewatt/base/process.h"
#include "tidewatt/sensors/source.h"

namespace tidewatt::agent {

/// What sources read from. Shared, for a source that hangs may be left behind with it.
struct SourceParts {
  std::shared_ptr<FileSystem> files;
  std::shared_ptr<const Clock> clock;
  std::shared_ptr<ProcessRunner> processes;
  std::string node_id;            ///< seeds what a simulated node does
  double speed = 1;               ///< of a replay
  Milliseconds beat{20'000};      ///< slow meters are polled at least once in it
  std::string state_folder = {};  ///< for what a source must keep in a file; private to the agent
  /// Starts a process that reads one of sensors::library_names().
  std::function<Result<std::unique_ptr<Companion>>(const std::string& library)> start_sensor{};
};

/// The sources that the settings name; "auto" stands for the node's accelerators (a vendor's library, else
/// its tool; only vendors whose cards, driver or tool are there, and none that is named beside it), RAPL,
/// hwmon and IPMI. What two sources number alike is numbered apart: cards, and all that is simulated or
/// recorded.
/// @error invalid_input  a log that can't be replayed
Result<std::vector<std::unique_ptr<sensors::Source>>> build_sources(const std::vector<SourceSpec>& specs,
                                                                    const SourceParts& parts);

/// Reads `first` while it is there, else `second`: a library, and the tool that stands in for it.
/// Whether `first` came (back) is tried once a minute.
std::unique_ptr<sensors::Source> make_fallback(std::string name, std::unique_ptr<sensors::Source> first,
                                               std::unique_ptr<sensors::Source> second,
                                               std::shared_ptr<const Clock> clock);

}  // namespace tidewatt::agent
