// The agent's own metrics as Prometheus text, and its health. Pure: from a snapshot to a text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/agent/attribution_thread.h"
#include "tidewatt/agent/collector.h"
#include "tidewatt/agent/sender.h"
#include "tidewatt/agent/source_runner.h"
#include "tidewatt/agent/spool.h"
#include "tidewatt/units/time.h"

namespace tidewatt::agent {

struct Snapshot {
  SteadyTime now{};
  std::string version;
  std::string cluster;
  std::string node_id;
  std::vector<DeviceNow> devices;
  std::vector<SourceStatus> sources;
  SpoolStats spool;
  SenderStats sender;
  std::optional<AttributionStatus> attribution;  ///< nullopt = off
  std::optional<std::uint64_t> relayed;          ///< beats of other agents; nullopt = no relay
  std::optional<SteadyTime> last_read;
  std::optional<SteadyTime> last_change;
  std::optional<double> own_cpu_seconds;
  std::optional<std::uint64_t> own_resident_bytes;
};

/// What isn't known has no line.
std::string to_prometheus(const Snapshot& snapshot);

/// A label's value between its quotes: backslash, quote and newline escaped, bytes that are no UTF-8
/// replaced.
std::string escape_label(std::string_view value);

struct HealthAnswer {
  int status = 200;
  std::string body;
};
/// 200 while something was read within `patience` (three beats), with the age of the newest changed value;
/// else 503.
/// @param started  when the process began: the same patience is given to the first read
HealthAnswer health_of(const Snapshot& snapshot, SteadyTime started, Milliseconds patience);

}  // namespace tidewatt::agent
