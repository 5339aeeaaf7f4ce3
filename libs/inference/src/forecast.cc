#include <algorithm>

#include "agent_state.h"
#include "kernels.h"

namespace tidewatt::inference {
namespace {

void add_outcomes(const Model& model, const std::vector<Table>& beliefs, std::vector<Table>& outcomes) {
  for (std::size_t m = 0; m < model.shape.modalities(); ++m) {
    Table expected(model.shape.outcomes[m], 0.0);
    const Table& belief = beliefs[m];
    for (std::size_t o = 0; o < expected.size(); ++o)
      expected[o] = dot(model.a[m].data() + o * belief.size(), belief.data(), belief.size());
    outcomes.push_back(std::move(expected));
  }
}

}  // namespace

Forecast Agent::forecast(std::size_t policy) const {
  const auto& s = *state_;
  const auto& shape = s.model.shape;
  Forecast forecast;
  Marginals q = s.posterior;
  std::vector<double> joint = s.joint;
  auto scratch = s.scratch;
  for (std::size_t step = 0; step < s.model.policies.length; ++step) {
    std::vector<std::size_t> controls;
    for (std::size_t f = 0; f < shape.factors(); ++f)
      controls.push_back(s.model.policies.control(policy, step, f));
    if (s.space) {
      for (std::size_t c = 0; c < s.space->components().size(); ++c) {
        auto next = joint;
        s.space->move(c, controls, s.joint_planner->transitions(), joint.data(), next.data(), scratch);
        joint = std::move(next);
      }
      s.space->to_marginals(joint.data(), q);
    } else {
      const Marginals before = q;
      for (std::size_t f = 0; f < shape.factors(); ++f) {
        std::vector<const double*> from;
        for (const auto g : shape.drivers[f]) from.push_back(before[g].data());
        std::vector<double> next(s.transitions[f].width);
        contract(next, from, s.transitions[f].driver_sizes, s.transitions[f].slab(controls[f]), next.size(),
                 scratch);
        std::copy_n(next.begin(), shape.states[f], q[f].begin());
      }
    }
    forecast.states.emplace_back();
    for (std::size_t f = 0; f < shape.factors(); ++f) {
      const auto belief = q[f];
      forecast.states.back().emplace_back(belief.begin(), belief.end());
    }
    std::vector<Table> seen;
    for (std::size_t m = 0; m < shape.modalities(); ++m) {
      Table belief(shape.seen_states(m), s.space ? 0.0 : 1.0);
      for (std::size_t j = 0; s.space && j < joint.size(); ++j) belief[s.seen[m][j]] += joint[j];
      for (std::size_t j = 0; !s.space && j < belief.size(); ++j)
        for (std::size_t i = shape.sees[m].size(), rest = j; i-- > 0;) {
          const auto own = q[shape.sees[m][i]];
          belief[j] *= own[rest % own.size()];
          rest /= own.size();
        }
      seen.push_back(std::move(belief));
    }
    forecast.outcomes.emplace_back();
    add_outcomes(s.model, seen, forecast.outcomes.back());
  }
  return forecast;
}

}  // namespace tidewatt::inference
