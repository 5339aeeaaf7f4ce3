#include "factor_inference.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels.h"
#include "outcome_group.h"
#include "tables.h"
#include "tidewatt/inference/numerics.h"

namespace tidewatt::inference {
namespace {
constexpr std::size_t kMostSweeps = 256;
constexpr double kSettled = 1e-9;
}  // namespace

FactorInference::FactorInference(const Shape& shape, std::size_t most_iterations)
    : log_prior_(shape.states), messages_(shape.states), scratch_(shape.states) {
  for (std::size_t m = 0; m < shape.modalities(); ++m) {
    Seen seen;
    seen.factors = shape.sees[m];
    seen.combinations = shape.seen_states(m);
    std::vector<std::size_t> sizes;
    for (const auto f : seen.factors) sizes.push_back(shape.states[f]);
    std::vector<std::uint16_t> state(sizes.size());
    for (std::size_t j = 0; j < seen.combinations; ++j) {
      for (std::size_t i = sizes.size(), rest = j; i-- > 0; rest /= sizes[i])
        state[i] = static_cast<std::uint16_t>(rest % sizes[i]);
      seen.states.insert(seen.states.end(), state.begin(), state.end());
    }
    seen_.push_back(std::move(seen));
  }
  trace_.assign(std::max(most_iterations, kMostSweeps) + 2, 0.0);
}

void FactorInference::note(double free_energy) { trace_[traced_++] = free_energy; }

double FactorInference::listen(const Evidence& evidence, const Marginals& q) {
  std::fill(messages_.values().begin(), messages_.values().end(), 0.0);
  double expected = 0;
  std::array<double, kMostFactors + 1> before{};
  std::array<double*, kMostFactors> to{};
  std::array<const double*, kMostFactors> from{};
  for (std::size_t m = 0; m < seen_.size(); ++m) {
    if (!evidence.present(m)) continue;
    const auto& seen = seen_[m];
    const double* const logs = evidence.log_likelihood(m).data();
    const std::size_t n = seen.factors.size();
    for (std::size_t i = 0; i < n; ++i) {
      to[i] = messages_[seen.factors[i]].data();
      from[i] = q[seen.factors[i]].data();
    }
    for (std::size_t j = 0; j < seen.combinations; ++j) {
      const std::uint16_t* const state = seen.states.data() + j * n;
      before[0] = 1;
      for (std::size_t i = 0; i < n; ++i) before[i + 1] = before[i] * from[i][state[i]];
      expected += before[n] * logs[j];
      double after = logs[j];
      for (std::size_t i = n; i-- > 0;) {
        to[i][state[i]] += before[i] * after;
        after *= from[i][state[i]];
      }
    }
  }
  return expected;
}

void FactorInference::listen_to(const Evidence& evidence, const Marginals& q, std::size_t factor) {
  auto to = messages_[factor];
  std::fill(to.begin(), to.end(), 0.0);
  for (std::size_t m = 0; m < seen_.size(); ++m) {
    const auto& seen = seen_[m];
    const auto found = std::find(seen.factors.begin(), seen.factors.end(), factor);
    if (!evidence.present(m) || found == seen.factors.end()) continue;
    const auto own = static_cast<std::size_t>(found - seen.factors.begin());
    const std::size_t n = seen.factors.size();
    for (std::size_t j = 0; j < seen.combinations; ++j) {
      const std::uint16_t* const state = seen.states.data() + j * n;
      double weight = evidence.log_likelihood(m)[j];
      for (std::size_t i = 0; i < n; ++i)
        if (i != own) weight *= q[seen.factors[i]][state[i]];
      to[state[own]] += weight;
    }
  }
}

double FactorInference::divergence(const Marginals& q, double guard) {
  const auto& values = q.values();
  auto& logs = scratch_.values();
  ln_guarded(logs.data(), values.data(), values.size(), guard);
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] > 0) sum += values[i] * (logs[i] - log_prior_.values()[i]);
  return sum;
}

void FactorInference::fixed_point(const Evidence& evidence, const Marginals& prior, const Options& options,
                                  Marginals& q) {
  traced_ = 0;
  const std::size_t factors = q.size();
  ln_guarded(log_prior_.values().data(), prior.values().data(), prior.values().size(), kGuard);
  for (std::size_t f = 0; f < factors; ++f)
    std::fill(q[f].begin(), q[f].end(), 1.0 / static_cast<double>(q[f].size()));
  const auto update = [&] {
    for (std::size_t i = 0; i < q.values().size(); ++i)
      q.values()[i] = messages_.values()[i] + log_prior_.values()[i];
    for (std::size_t f = 0; f < factors; ++f) softmax_in_place(q[f].data(), q[f].size());
  };
  if (factors == 1) {
    listen(evidence, q);
    update();
    const double expected = dot(q.values().data(), messages_.values().data(), q.values().size());
    note(divergence(q, kGuard) - expected);
    return;
  }
  double before = divergence(q, kGuard);  // the reference leaves the likelihood out of its start value
  note(before);
  double change = options.first_change;
  listen(evidence, q);
  for (std::size_t i = 0; i < options.iterations && change >= options.least_change; ++i) {
    update();
    const double expected = listen(evidence, q);
    const double now = divergence(q, kGuard) - expected;
    note(now);
    if (options.stop_when_settled) change = std::fabs(before - now);
    before = now;
  }
}

void FactorInference::descend(const Evidence& evidence, const Marginals& prior, Marginals& q) {
  traced_ = 0;
  ln_guarded(log_prior_.values().data(), prior.values().data(), prior.values().size(), kTiny);
  q.values() = prior.values();
  double before = divergence(q, kTiny) - listen(evidence, q);
  note(before);
  for (std::size_t sweep = 0; sweep < kMostSweeps; ++sweep) {
    for (std::size_t f = 0; f < q.size(); ++f) {
      listen_to(evidence, q, f);
      auto belief = q[f];
      for (std::size_t s = 0; s < belief.size(); ++s) belief[s] = messages_[f][s] + log_prior_[f][s];
      softmax_in_place(belief.data(), belief.size());
    }
    const double now = divergence(q, kTiny) - listen(evidence, q);
    note(now);
    const double fell = before - now;
    before = now;
    if (fell < kSettled) break;
  }
}

}  // namespace tidewatt::inference
