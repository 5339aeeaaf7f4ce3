// Recorded power logs as samples: what the replay source plays and what a replayed ledger must come to.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/units/exact.h"
#include "tidewatt/units/quantity.h"
#include "tidewatt/units/time.h"

namespace tidewatt::metering {

struct ReplaySample {
  UtcTime at{};
  std::string node;
  std::string domain;  ///< "platform" for meter ac; "dc" and other meters by their name; "gpu" for card logs
  int index = 0;
  std::string uuid;
  Watts watts{};
};

struct ReplayLog {
  std::vector<ReplaySample> samples;                        ///< by time, then node, domain, index
  std::map<std::string, std::size_t, std::less<>> skipped;  ///< reason -> rows
};

/// Parses a log by its own header or first line:
/// - CSV with a time (t_ms, t, time, timestamp or at: milliseconds since 1970, or RFC 3339, UTC where it
/// names no zone) and watts (or power_watts); where there, node (or node_id) and meter ("ac" where it isn't);
/// - CSV of nvidia-smi with `timestamp` and `power.draw` or `power.draw.instant` (the first of the latter and
/// the former that reads); its times have no zone and are taken as UTC; 0 W of a card is no reading;
/// - JSON lines: one beat a line (gpu_stats, rails, platform).
/// A unit in a column's name ("power.draw [mW]") holds for its numbers. Devices are told apart by `index`,
/// else by uuid, pci.bus_id or serial, in the order they come. Rows that can't be used (negative, a sentinel,
/// not a number, no time) are skipped and counted.
/// @param file_name  gives the node where the log names none: "gpu-a01.csv" -> "gpu-a01"
/// @error invalid_input when no form is recognised, no row can be used, or rows of one time can't be told
/// apart
Result<ReplayLog> parse_replay_log(std::string_view text, std::string_view file_name);

struct ReplayEnergy {
  std::string node;
  std::string domain;
  WideMicrojoules energy{};  ///< exact
  Milliseconds counted{0};   ///< summed over the domain's devices
  Milliseconds gap{0};       ///< what lay beyond max_gap
  std::size_t samples = 0;
};

/// What a ledger must book for the log, per node and domain: for each device, each sample's power in whole
/// milliwatts holds since the device's previous sample, at most `max_gap`; a sample not newer than the
/// previous one is ignored.
std::vector<ReplayEnergy> expected_energy(const ReplayLog& log, Milliseconds max_gap = Milliseconds{60'000});

}  // namespace tidewatt::metering
