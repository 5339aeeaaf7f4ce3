// Modalities whose outcomes are weighed together, as one table over the states they see.
#pragma once

#include <cstddef>
#include <vector>

#include "tidewatt/inference/model.h"

namespace tidewatt::inference {

/// e^-16: the compat reference leaves combinations of states of at most this probability out of information
/// gain.
inline constexpr double kSupport = 1.1253517471925912e-07;
/// The compat reference's guard of logarithms.
inline constexpr double kGuard = 1e-16;
/// Exact mode's: too small to change x ln x, but its logarithm is a number.
inline constexpr double kTiny = 1e-300;

/// A group's table has one slab of rows per combination of states: the probabilities of its outcomes, then
/// derived rows that are linear in the probability of the states, so that one contraction gives them all.
struct OutcomeGroup {
  std::vector<std::size_t> modalities;
  std::vector<std::size_t> factors;  ///< seen by any of them, in the order in which the table is contracted
  std::vector<std::size_t> sizes;    ///< states of each
  std::size_t states = 1;            ///< product of sizes
  std::size_t outcomes = 1;          ///< combinations of outcomes, the last modality's fastest
  // rows
  std::size_t ambiguity = 0;     ///< sum over outcomes of A ln A
  std::size_t utility = 0;       ///< first of `utility_rows`
  std::size_t utility_rows = 1;  ///< 1, or one per step when preferences change with time
  std::size_t novelty = 0;       ///< exact: one row; compat: one per outcome
  std::size_t novelty_rows = 0;
  std::size_t rows = 0;       ///< padded to whole vectors
  std::vector<double> table;  ///< [states][rows]

  [[nodiscard]] std::size_t utility_row(std::size_t step) const {
    return utility + (utility_rows > 1 ? step : 0);
  }
};

/// ln softmax of each column of C. [modality][outcome or outcome x step]
std::vector<Table> log_preferences(const Model& model, Mode mode);

/// compat: each modality alone. exact: those that share factors together, as far as the limit allows.
std::vector<OutcomeGroup> make_groups(const Model& model, const Options& options, bool join_outcomes);

/// Fills the group's table from A (and its counts) and the log preferences.
void fill_group(OutcomeGroup& group, const Model& model, const std::vector<Table>& log_c, Mode mode);

}  // namespace tidewatt::inference
