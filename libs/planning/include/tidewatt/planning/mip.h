// A linear programme with whole-number columns, and who solves it.
#pragma once

#include <utility>
#include <vector>

#include "tidewatt/base/result.h"

namespace tidewatt::planning {

struct MipColumn {
  double lower = 0, upper = 1, cost = 0;
  bool whole = true;
};
struct MipRow {
  double lower = 0, upper = 0;
  std::vector<std::pair<int, double>> entries;  ///< column, factor
};
/// Minimise cost such that every row lies within its limits.
struct MipModel {
  std::vector<MipColumn> columns;
  std::vector<MipRow> rows;
};
struct MipAnswer {
  bool found = false;   ///< `values` is a solution
  bool proved = false;  ///< and none is cheaper
  double cost = 0, bound = 0;
  std::vector<double> values;
};

class MipSolver {
 public:
  virtual ~MipSolver() = default;
  /// Gives up after so many nodes: the same model gives the same answer on any machine.
  /// @param start  values of a known solution, or empty
  [[nodiscard]] virtual Result<MipAnswer> solve(const MipModel& model, int most_nodes,
                                                const std::vector<double>& start) const = 0;
};

}  // namespace tidewatt::planning
