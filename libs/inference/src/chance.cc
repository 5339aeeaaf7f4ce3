#include "tidewatt/inference/chance.h"

#include <algorithm>
#include <cmath>

#include "kernels.h"
#include "tables.h"
#include "tidewatt/inference/numerics.h"

namespace tidewatt::inference {

/// The factors that a constraint's modality sees, and all that drive them.
struct ChanceMask::Reach {
  std::vector<std::size_t> factors, sizes;
  std::size_t states = 1;
  std::vector<std::vector<std::uint16_t>> state;       ///< [factor of the list][combination]
  std::vector<std::vector<std::uint32_t>> driver_row;  ///< [factor of the list][combination]
  std::vector<std::uint32_t> seen;                     ///< [combination]: column of A
  std::vector<double> outcome;                         ///< [combination]: bound of violation at once
  std::vector<double> later, now, next, column;
  double z = 1.645;
};

double score_upper_bound(double mean, double count, double z) {
  // Below two pseudo-observations a Beta's quantile may lie anywhere: nothing is known.
  if (count < 2) return 1;
  const double z2 = z * z;
  const double centre = mean + z2 / (2 * count);
  const double spread = z * std::sqrt(mean * (1 - mean) / count + z2 / (4 * count * count));
  return std::clamp((centre + spread) / (1 + z2 / count), mean, 1.0);
}

ChanceMask::~ChanceMask() = default;

ChanceMask::ChanceMask(const Model& model, std::vector<ChanceConstraint> constraints)
    : constraints_(std::move(constraints)) {
  const auto& shape = model.shape;
  for (const auto& constraint : constraints_) {
    auto reach = std::make_unique<Reach>();
    auto& factors = reach->factors;
    factors = shape.sees[constraint.modality];
    for (std::size_t i = 0; i < factors.size(); ++i)
      for (const auto g : shape.drivers[factors[i]])
        if (std::find(factors.begin(), factors.end(), g) == factors.end()) factors.push_back(g);
    const auto place = [&](std::size_t f) {
      return static_cast<std::size_t>(std::find(factors.begin(), factors.end(), f) - factors.begin());
    };
    for (const auto f : factors) {
      reach->sizes.push_back(shape.states[f]);
      reach->states *= shape.states[f];
    }
    reach->state.resize(factors.size());
    reach->driver_row.resize(factors.size());
    std::vector<std::size_t> state(factors.size());
    for (std::size_t j = 0; j < reach->states; ++j) {
      split_index(j, reach->sizes, state);
      for (std::size_t i = 0; i < factors.size(); ++i) {
        reach->state[i].push_back(static_cast<std::uint16_t>(state[i]));
        std::size_t row = 0;
        for (const auto g : shape.drivers[factors[i]]) row = row * shape.states[g] + state[place(g)];
        reach->driver_row[i].push_back(static_cast<std::uint32_t>(row));
      }
      std::size_t column = 0;
      for (const auto f : shape.sees[constraint.modality])
        column = column * shape.states[f] + state[place(f)];
      reach->seen.push_back(static_cast<std::uint32_t>(column));
    }
    for (auto* table : {&reach->outcome, &reach->later, &reach->now, &reach->next})
      table->assign(reach->states, 0.0);
    // the normal quantile, from the Beta's: for many counts they agree
    constexpr double kMany = 1e6;
    reach->z = (beta_quantile(constraint.credibility, kMany, kMany) - 0.5) * 2 * std::sqrt(2 * kMany + 1);
    reaches_.push_back(std::move(reach));
  }
  bounds_.assign(constraints_.size() * model.policies.count, 0.0);
  allowed_.assign(model.policies.count, 1);
  allowed_actions_.assign(model.policies.count, 1);
}

void ChanceMask::bound_outcomes(const Model& model, const ChanceConstraint& constraint, Reach& reach) {
  const std::size_t m = constraint.modality;
  const std::size_t columns = model.shape.seen_states(m);
  const auto column_bound = [&](std::size_t j) {
    double violated = 0;
    double all = 0;
    const Table& table = model.a_counts.empty() ? model.a[m] : model.a_counts[m];
    for (std::size_t o = 0; o < model.shape.outcomes[m]; ++o) all += table[o * columns + j];
    for (const auto o : constraint.violating) violated += table[o * columns + j];
    if (model.a_counts.empty() || violated <= 0 || violated >= all) return violated / all;
    return beta_quantile(constraint.credibility, violated, all - violated);
  };
  for (std::size_t j = 0; j < reach.states; ++j) {
    // states that A does not tell apart share a column
    const std::size_t column = reach.seen[j];
    std::size_t first = 0;
    while (reach.seen[first] != column) ++first;
    reach.outcome[j] = first < j ? reach.outcome[first] : column_bound(column);
  }
}

/// From the last step back: later[s] bounds the probability of a violation from s on. Factor after factor it
/// is averaged over the next state, and raised by what the counts of that transition leave open.
double ChanceMask::policy_bound(const Agent& agent, Reach& reach, std::size_t policy) {
  const auto& model = agent.model();
  const auto& shape = model.shape;
  const std::size_t length = model.policies.length;
  reach.later = reach.outcome;
  for (std::size_t step = length; step-- > 0;) {
    // reach.next[s']: violation at s' or after; reach.now[s]: expected from s
    if (step + 1 < length)
      for (std::size_t j = 0; j < reach.states; ++j)
        reach.next[j] = 1 - (1 - reach.outcome[j]) * (1 - reach.later[j]);
    else
      reach.next = reach.outcome;
    for (std::size_t j = 0; j < reach.states; ++j) {
      double mean = 0;
      for (std::size_t to = 0; to < reach.states; ++to) {
        if (reach.next[to] == 0) continue;
        double p = reach.next[to];
        for (std::size_t i = 0; i < reach.factors.size() && p != 0; ++i) {
          const std::size_t f = reach.factors[i];
          p *= model.b[f][(reach.state[i][to] * shape.driver_states(f) + reach.driver_row[i][j]) *
                              shape.controls[f] +
                          model.policies.control(policy, step, f)];
        }
        mean += p;
      }
      mean = std::min(mean, 1.0);
      double bound = mean;
      if (!model.b_counts.empty()) {
        // the factor that is known least decides how far the mean may be off
        double least = 1e300;
        for (std::size_t i = 0; i < reach.factors.size(); ++i) {
          const std::size_t f = reach.factors[i];
          double total = 0;
          for (std::size_t next = 0; next < shape.states[f]; ++next)
            total += model.b_counts[f][(next * shape.driver_states(f) + reach.driver_row[i][j]) *
                                           shape.controls[f] +
                                       model.policies.control(policy, step, f)];
          least = std::min(least, total);
        }
        const bool all_alike = std::all_of(reach.next.begin(), reach.next.end(),
                                           [&](double v) { return v == reach.next.front(); });
        if (!all_alike) bound = score_upper_bound(mean, least, reach.z);
      }
      reach.now[j] = bound;
    }
    reach.later = reach.now;
  }
  double sum = 0;
  for (std::size_t j = 0; j < reach.states; ++j) {
    double weight = 1;
    for (std::size_t i = 0; i < reach.factors.size(); ++i)
      weight *= agent.posterior(reach.factors[i])[reach.state[i][j]];
    sum += weight * reach.later[j];
  }
  return std::clamp(sum, 0.0, 1.0);
}

void ChanceMask::evaluate(const Agent& agent) {
  const auto& model = agent.model();
  std::fill(allowed_.begin(), allowed_.end(), std::uint8_t{1});
  for (std::size_t c = 0; c < constraints_.size(); ++c) {
    bound_outcomes(model, constraints_[c], *reaches_[c]);
    for (std::size_t p = 0; p < allowed_.size(); ++p) {
      double& bound = bounds_[c * allowed_.size() + p];
      bound = policy_bound(agent, *reaches_[c], p);
      if (bound > constraints_[c].delta) allowed_[p] = 0;
    }
  }
  none_allowed_ = true;
  allowed_actions_.resize(agent.action_count());
  std::fill(allowed_actions_.begin(), allowed_actions_.end(), std::uint8_t{0});
  for (std::size_t p = 0; p < allowed_.size(); ++p)
    if (allowed_[p] != 0) {
      allowed_actions_[agent.action_of_policy(p)] = 1;
      none_allowed_ = false;
    }
}

void ChanceMask::masked_actions(const Agent& agent, std::span<double> probabilities) const {
  std::fill(probabilities.begin(), probabilities.end(), 0.0);
  const auto q = agent.policy_probabilities();
  const auto g = agent.values();
  // Policies inside the mask may have lost all their probability to those outside: start again from G.
  double most = -1e300;
  const auto& e = agent.model().e;
  const auto weight = [&](std::size_t p) {
    return agent.options().gamma * g[p] + (e.empty() ? 0 : ln_eps(e[p]));
  };
  for (std::size_t p = 0; p < q.size(); ++p)
    if (allowed_[p] != 0) most = std::max(most, weight(p));
  double sum = 0;
  for (std::size_t p = 0; p < q.size(); ++p) {
    if (allowed_[p] == 0) continue;
    const double w = exp(weight(p) - most);
    probabilities[agent.action_of_policy(p)] += w;
    sum += w;
  }
  if (sum > 0)
    for (double& p : probabilities) p /= sum;
}

}  // namespace tidewatt::inference
