// The rows of a CSV of time and numbers, as they stand.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/units/time.h"

namespace tidewatt::carbon::forecast {

struct TimedRow {
  UtcTime at;
  std::size_t line = 0;
  std::vector<std::optional<double>> values;  ///< one per column asked for
};

struct CsvRows {
  std::vector<std::string> names;  ///< of the columns asked for
  std::vector<TimedRow> rows;      ///< in file order
  std::size_t unreadable_cells = 0;
  std::size_t without_zone = 0;
};

/// @param column  its name; empty = every column beside the first, at most 8
/// @error invalid_input  as read_series_csv
Result<CsvRows> read_csv_rows(std::string_view text, std::string_view column);

}  // namespace tidewatt::carbon::forecast
