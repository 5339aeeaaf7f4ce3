#include "tidewatt/inference/information.h"

#include <algorithm>

#include "outcome_group.h"
#include "tables.h"
#include "tidewatt/inference/numerics.h"

namespace tidewatt::inference {
namespace {

/// Of all modalities: [joint state][outcomes], and sum p ln(p + e^-16) of each row.
struct Joined {
  std::size_t outcomes = 1, states = 1;
  std::vector<double> table, certainty;
};

Joined join(const Model& model) {
  const auto& shape = model.shape;
  Joined joined;
  for (const auto n : shape.outcomes) joined.outcomes = saturating_product(joined.outcomes, n);
  for (const auto n : shape.states) joined.states = saturating_product(joined.states, n);
  if (saturating_product(joined.outcomes, joined.states) > (std::size_t{1} << 24)) return {0, 0, {}, {}};
  joined.table.assign(joined.outcomes * joined.states, 0.0);
  std::vector<std::size_t> state(shape.factors());
  for (std::size_t j = 0; j < joined.states; ++j) {
    split_index(j, shape.states, state);
    double* const row = joined.table.data() + j * joined.outcomes;
    row[0] = 1;
    std::size_t filled = 1;
    for (std::size_t m = 0; m < shape.modalities(); ++m) {
      std::size_t column = 0;
      for (const auto f : shape.sees[m]) column = column * shape.states[f] + state[f];
      const std::size_t columns = shape.seen_states(m);
      for (std::size_t i = filled; i-- > 0;)
        for (std::size_t o = shape.outcomes[m]; o-- > 0;)
          row[i * shape.outcomes[m] + o] = row[i] * model.a[m][o * columns + column];
      filled *= shape.outcomes[m];
    }
    double certainty = 0;
    for (std::size_t o = 0; o < joined.outcomes; ++o) certainty += row[o] * ln(row[o] + kSupport);
    joined.certainty.push_back(certainty);
  }
  return joined;
}

}  // namespace

std::vector<double> joint_state_information(const Agent& agent) {
  const auto& model = agent.model();
  const auto& shape = model.shape;
  for (const auto& sees : shape.sees)
    if (sees.size() != shape.factors()) return {};
  const auto joined = join(model);
  const std::size_t cases = model.policies.count * model.policies.length;
  if (joined.states == 0 || saturating_product(cases, joined.table.size()) > std::size_t{4'000'000'000})
    return {};
  std::vector<double> gains;
  std::vector<double> expected(joined.outcomes);
  std::vector<std::size_t> state(shape.factors());
  for (std::size_t p = 0; p < model.policies.count; ++p) {
    double gain = 0;
    for (const auto& beliefs : agent.forecast(p).states) {
      std::fill(expected.begin(), expected.end(), 0.0);
      for (std::size_t j = 0; j < joined.states; ++j) {
        split_index(j, shape.states, state);
        double weight = 1;
        for (std::size_t f = 0; f < state.size(); ++f) weight *= beliefs[f][state[f]];
        if (weight <= kSupport) continue;
        for (std::size_t o = 0; o < joined.outcomes; ++o)
          expected[o] += weight * joined.table[j * joined.outcomes + o];
        gain += weight * joined.certainty[j];
      }
      for (const double p_o : expected) gain -= p_o * ln_eps(p_o);
    }
    gains.push_back(gain);
  }
  return gains;
}

}  // namespace tidewatt::inference
