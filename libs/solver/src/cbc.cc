#include "tidewatt/solver/cbc.h"

#include <coin/Cbc_C_Interface.h>

#include <cmath>
#include <string>

namespace tidewatt::solver {
namespace {

using planning::MipAnswer;
using planning::MipModel;

/// CBC's model, freed at the end of its scope.
class Model {
 public:
  Model() : model_(Cbc_newModel()) {}
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model() { Cbc_deleteModel(model_); }
  [[nodiscard]] Cbc_Model* get() const { return model_; }

 private:
  Cbc_Model* model_;
};

void load(Cbc_Model* cbc, const MipModel& model) {
  const auto columns = model.columns.size();
  std::vector<CoinBigIndex> starts(columns + 1, 0);
  for (const auto& row : model.rows)
    for (const auto& [column, factor] : row.entries) ++starts[static_cast<std::size_t>(column) + 1];
  for (std::size_t c = 0; c < columns; ++c) starts[c + 1] += starts[c];
  std::vector<int> rows(static_cast<std::size_t>(starts[columns]));
  std::vector<double> factors(rows.size());
  auto next = starts;
  for (std::size_t r = 0; r < model.rows.size(); ++r)
    for (const auto& [column, factor] : model.rows[r].entries) {
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(column)]++);
      rows[at] = static_cast<int>(r);
      factors[at] = factor;
    }
  std::vector<double> lower, upper, cost, row_lower, row_upper;
  for (const auto& column : model.columns) {
    lower.push_back(column.lower);
    upper.push_back(column.upper);
    cost.push_back(column.cost);
  }
  for (const auto& row : model.rows) {
    row_lower.push_back(row.lower);
    row_upper.push_back(row.upper);
  }
  Cbc_loadProblem(cbc, static_cast<int>(columns), static_cast<int>(model.rows.size()), starts.data(),
                  rows.data(), factors.data(), lower.data(), upper.data(), cost.data(), row_lower.data(),
                  row_upper.data());
  for (std::size_t c = 0; c < columns; ++c)
    if (model.columns[c].whole) Cbc_setInteger(cbc, static_cast<int>(c));
}

class CbcSolver final : public planning::MipSolver {
 public:
  Result<MipAnswer> solve(const MipModel& model, int most_nodes,
                          const std::vector<double>& start) const override {
    const Model cbc;
    load(cbc.get(), model);
    Cbc_setLogLevel(cbc.get(), 0);
    Cbc_setParameter(cbc.get(), "threads", "0");
    Cbc_setParameter(cbc.get(), "randomCbcSeed", "1");
    Cbc_setAllowableGap(cbc.get(), 1e-7);
    Cbc_setAllowableFractionGap(cbc.get(), 0);
    Cbc_setMaximumNodes(cbc.get(), most_nodes);
    if (!start.empty()) {
      std::vector<int> columns(start.size());
      for (std::size_t c = 0; c < columns.size(); ++c) columns[c] = static_cast<int>(c);
      Cbc_setMIPStartI(cbc.get(), static_cast<int>(start.size()), columns.data(), start.data());
    }
    Cbc_solve(cbc.get());
    MipAnswer answer;
    answer.bound = Cbc_getBestPossibleObjValue(cbc.get());
    const double* values = Cbc_bestSolution(cbc.get());
    if (values == nullptr) return answer;
    answer.found = true;
    answer.proved = Cbc_isProvenOptimal(cbc.get()) != 0;
    answer.cost = Cbc_getObjValue(cbc.get());
    answer.values.assign(values, values + model.columns.size());
    return answer;
  }
};

}  // namespace

std::unique_ptr<planning::MipSolver> make_cbc_solver() { return std::make_unique<CbcSolver>(); }

}  // namespace tidewatt::solver
