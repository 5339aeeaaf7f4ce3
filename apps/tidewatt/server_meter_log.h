// A recorded power meter log: CSV with a header, times and watts, of one or several nodes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/units/exact.h"
#include "tidewatt/units/time.h"

namespace tidewatt::cli {

struct MeterSample {
  UtcTime at{};
  std::string node;
  std::optional<Watts> power;  ///< nullopt = the meter gave a sentinel (negative or no number)
};

struct MeterLog {
  std::vector<MeterSample> samples;  ///< by time; per node strictly ascending
  std::size_t dropped = 0;           ///< lines whose time didn't advance on their node
  std::size_t unknown = 0;           ///< samples without a usable power
};

/// Columns by name, in any order: the time (t_ms, t, time, timestamp, at), watts (watts, power_watts), and
/// where there: node (node, node_id), meter (only "ac" is taken: a dc meter sits behind it). Times are
/// milliseconds since 1970 or RFC 3339; without a zone they read as UTC.
/// @error invalid_input with the line: no such columns, a broken time, no sample at all
Result<MeterLog> parse_meter_log(std::string_view text);

/// What a ledger must hold of it: per node the sum over adjacent known samples of milliwatts x milliseconds,
/// each interval at most `max_gap` long. Worked out apart from the ledger.
WideMicrojoules exact_energy(const MeterLog& log, Milliseconds max_gap);

}  // namespace tidewatt::cli
