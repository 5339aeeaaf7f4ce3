#include "transition.h"

#include <algorithm>

#include "kernels.h"
#include "tidewatt/inference/dirichlet.h"

namespace tidewatt::inference {

Transition make_transition(const Model& model, std::size_t f, Mode mode) {
  Transition t;
  for (const auto g : model.shape.drivers[f]) t.driver_sizes.push_back(model.shape.states[g]);
  t.driver_states = model.shape.driver_states(f);
  t.states = model.shape.states[f];
  t.controls = model.shape.controls[f];
  t.width = padded(t.states);
  t.probabilities.assign(t.controls * t.driver_states * t.width, 0.0);
  if (!model.b_counts.empty())
    t.novelty.assign(t.controls * t.driver_states * (mode == Mode::compat ? t.width : 1), 0.0);
  fill_transition(t, model, f, mode);
  return t;
}

void fill_transition(Transition& t, const Model& model, std::size_t f, Mode mode) {
  const auto& b = model.b[f];
  for (std::size_t u = 0; u < t.controls; ++u)
    for (std::size_t j = 0; j < t.driver_states; ++j) {
      const auto at = [&](std::size_t next) { return (next * t.driver_states + j) * t.controls + u; };
      double* const out = t.probabilities.data() + (u * t.driver_states + j) * t.width;
      for (std::size_t next = 0; next < t.states; ++next) out[next] = b[at(next)];
      if (t.novelty.empty()) continue;
      const auto& counts = model.b_counts[f];
      double total = 0;
      for (std::size_t next = 0; next < t.states; ++next)
        total += counts[at(next)] + (mode == Mode::compat ? 1e-16 : 0);
      if (mode == Mode::compat) {
        double* const weights = t.novelty.data() + (u * t.driver_states + j) * t.width;
        for (std::size_t next = 0; next < t.states; ++next)
          weights[next] = counts[at(next)] > 0 ? compat_novelty_weight(counts[at(next)], total) : 0;
      } else {
        double expected = 0;
        for (std::size_t next = 0; next < t.states; ++next)
          if (counts[at(next)] > 0) expected += out[next] * information_of_one_more(counts[at(next)], total);
        t.novelty[u * t.driver_states + j] = expected;
      }
    }
}

void contract(std::span<double> y, std::span<const double* const> distributions,
              const std::vector<std::size_t>& axes, const double* table, std::size_t n,
              std::vector<double>& scratch) {
  std::size_t rest = n;
  for (const auto size : axes) rest *= size;
  double* spare[2] = {scratch.data(), scratch.data() + scratch.size() / 2};
  const double* from = table;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    rest /= axes[i];
    double* const to = i + 1 == axes.size() ? y.data() : spare[i % 2];
    combine(to, distributions[i], axes[i], from, rest);
    from = to;
  }
}

}  // namespace tidewatt::inference
