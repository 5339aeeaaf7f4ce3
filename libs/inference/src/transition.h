// How factors move: B turned so that the next states of one factor lie side by side.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "marginals.h"
#include "tidewatt/inference/model.h"

namespace tidewatt::inference {

/// One factor's B as [control][drivers...][next, padded to whole vectors], and what its counts can still
/// teach.
struct Transition {
  std::vector<std::size_t> driver_sizes;
  std::size_t driver_states = 1, states = 1, controls = 1;
  std::size_t width = 1;              ///< states, padded
  std::vector<double> probabilities;  ///< [control][drivers][next]
  /// compat: the weights of the first-order form, laid out as probabilities; exact: [control][drivers], the
  /// expected information of one more transition. Empty without counts.
  std::vector<double> novelty;

  [[nodiscard]] const double* slab(std::size_t control) const {
    return probabilities.data() + control * driver_states * width;
  }
};

Transition make_transition(const Model& model, std::size_t f, Mode mode);
/// After B or its counts changed.
void fill_transition(Transition& transition, const Model& model, std::size_t f, Mode mode);

/// y = table contracted with one distribution per leading axis; table is [axes...][n].
/// `scratch` holds two tables of the size of `table` divided by its first axis.
void contract(std::span<double> y, std::span<const double* const> distributions,
              const std::vector<std::size_t>& axes, const double* table, std::size_t n,
              std::vector<double>& scratch);

}  // namespace tidewatt::inference
