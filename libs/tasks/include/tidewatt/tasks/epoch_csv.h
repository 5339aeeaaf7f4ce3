// The file of epochs: `epoch,energy_j[,seconds]`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/tasks/epoch.h"

namespace tidewatt::tasks {

inline constexpr double kMostEpochJoules = 1e18;  ///< beyond it no machine: the world uses 1e20 J in a year
inline constexpr double kMostEpochSeconds = 1e10;
inline constexpr std::size_t kMostEpochRows = 1'000'000;

struct EpochTable {
  std::vector<Epoch> epochs;       ///< in the file's order
  std::vector<std::string> notes;  ///< what a reader should know of the file, one line each
};

/// Reads the epochs. Columns are found by name, in any order; others are left alone. An empty cell, "nan",
/// "null" or "-" is an unknown value and stays one; epochs that count back (a restart from a checkpoint) or
/// skip are kept as they come, and noted.
/// @error invalid_input  no such column, a cell that is no number, a negative or absurd amount, no row, more
///                       than kMostEpochRows; with the line
Result<EpochTable> read_epoch_csv(std::string_view text);

}  // namespace tidewatt::tasks
