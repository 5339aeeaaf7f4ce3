// A recorded log as the demo plays it: the samples, and what became of every row.
#pragma once

#include <string>
#include <string_view>

#include "tidewatt/base/result.h"
#include "tidewatt/metering/replay_log.h"

namespace tidewatt::cli {

struct MeterLog {
  metering::ReplayLog log;       ///< per node, domain and device strictly ascending in time
  std::size_t unknown = 0;       ///< rows without a usable power
  std::size_t out_of_order = 0;  ///< rows at a time their device had already
  std::size_t unusable = 0;      ///< rows without a time, a node or all their cells
};

/// @error invalid_input: no form is recognised, or no row can be used
Result<MeterLog> parse_meter_log(std::string_view text, std::string_view file_name);

/// "600 rows read: 597 played, 2 unknown watts, 1 out of order"
std::string rows_in_words(const MeterLog& meter);

}  // namespace tidewatt::cli
