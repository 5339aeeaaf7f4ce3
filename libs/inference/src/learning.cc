// Dirichlet counts follow what was seen. Structural zeros stay zeros: a count of 0 is never raised.
#include <algorithm>

#include "agent_state.h"
#include "kernels.h"

namespace tidewatt::inference {
namespace {

/// Above this many joint states, transitions are counted from marginals: the pairwise posterior has their
/// square.
constexpr std::size_t kMostPairwiseStates = 512;

void forget(Table& counts, const Table& start, double memory) {
  if (memory == 1) return;
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = start[i] + memory * (counts[i] - start[i]);
}

}  // namespace

std::span<const double> Agent::State::seen_belief(std::size_t m) {
  const std::size_t columns = model.shape.seen_states(m);
  std::fill_n(scratch.begin(), columns, space ? 0.0 : 1.0);
  if (space) {
    for (std::size_t j = 0; j < joint.size(); ++j) scratch[seen[m][j]] += joint[j];
  } else {
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t i = model.shape.sees[m].size(), rest = j; i-- > 0;) {
        const auto q = posterior[model.shape.sees[m][i]];
        scratch[j] *= q[rest % q.size()];
        rest /= q.size();
      }
  }
  return {scratch.data(), columns};
}

void Agent::State::learn_a() {
  for (std::size_t m = 0; m < model.shape.modalities(); ++m) {
    if (!learns_modality(m) || !evidence.present(m)) continue;
    auto& counts = model.a_counts[m];
    forget(counts, a_start[m], options.memory);
    const auto belief = seen_belief(m);
    const auto outcome = evidence.seen(m);
    for (std::size_t o = 0; o < outcome.size(); ++o)
      for (std::size_t j = 0; j < belief.size(); ++j) {
        double& count = counts[o * belief.size() + j];
        if (count > 0) count += options.rate_a * (outcome[o] * belief[j]);
      }
    normalise_columns(counts.data(), model.a[m].data(), outcome.size(), belief.size());
    if (joint_planner) joint_planner->model_changed_a(model, m);
    if (table_planner) table_planner->model_changed_a(model, m);
  }
}

void Agent::State::b_changed(std::size_t f) {
  auto& counts = model.b_counts[f];
  normalise_columns(counts.data(), model.b[f].data(), model.shape.states[f],
                    counts.size() / model.shape.states[f]);
  if (joint_planner) {
    joint_planner->model_changed_b(model, f);
  } else {
    table_planner->model_changed_b(model, f);
    fill_transition(transitions[f], model, f, options.mode);
  }
}

/// From the product of the beliefs before and after.
void Agent::State::learn_b() {
  for (std::size_t f = 0; f < model.shape.factors(); ++f) {
    if (!learns_factor(f)) continue;
    auto& counts = model.b_counts[f];
    forget(counts, b_start[f], options.memory);
    const std::size_t rows = model.shape.driver_states(f);
    const std::size_t controls = model.shape.controls[f];
    const auto& drivers = model.shape.drivers[f];
    for (std::size_t j = 0; j < rows; ++j) {
      double before = 1;
      for (std::size_t i = drivers.size(), rest = j; i-- > 0;) {
        const auto q = last[drivers[i]];
        before *= q[rest % q.size()];
        rest /= q.size();
      }
      for (std::size_t next = 0; next < model.shape.states[f]; ++next) {
        double& count = counts[(next * rows + j) * controls + taken[f]];
        if (count > 0) count += options.rate_b * (posterior[f][next] * before);
      }
    }
    b_changed(f);
  }
}

/// From the exact joint posterior of the states before and after: b(s) P(s'|s) posterior(s') / predicted(s').
void Agent::State::learn_b_pairwise() {
  auto& weight = joint_spare;  // posterior over predicted: what the evidence made of each next state
  for (std::size_t j = 0; j < joint.size(); ++j)
    weight[j] = joint_prior[j] > 0 ? joint[j] / joint_prior[j] : 0;
  for (std::size_t f = 0; f < model.shape.factors(); ++f)
    if (learns_factor(f)) forget(model.b_counts[f], b_start[f], options.memory);
  const auto transitions_now = joint_planner->transitions();
  const std::size_t factors = model.shape.factors();
  for (std::size_t from = 0; from < joint.size(); ++from) {
    if (joint_last[from] == 0) continue;
    for (std::size_t to = 0; to < joint.size(); ++to) {
      double pair = joint_last[from] * weight[to];
      std::array<std::size_t, kMostFactors> next{};
      for (std::size_t f = factors, rest = to; f-- > 0; rest /= model.shape.states[f]) {
        next[f] = rest % model.shape.states[f];
        pair *= transitions_now[f].slab(taken[f])[driven[f][from] * transitions_now[f].width + next[f]];
      }
      if (pair == 0) continue;
      for (std::size_t f = 0; f < factors; ++f) {
        if (!learns_factor(f)) continue;
        double& count = model.b_counts[f][(next[f] * model.shape.driver_states(f) + driven[f][from]) *
                                              model.shape.controls[f] +
                                          taken[f]];
        if (count > 0) count += options.rate_b * pair;
      }
    }
  }
  for (std::size_t f = 0; f < factors; ++f)
    if (learns_factor(f)) b_changed(f);
}

void Agent::learn() {
  auto& s = *state_;
  if (s.options.learn_a) s.learn_a();
  if (!s.options.learn_b || s.steps < 2 || !s.acted) return;
  // After a contradiction the evidence says nothing about which transition happened.
  if (s.space && s.joint.size() <= kMostPairwiseStates && !s.contradicted)
    s.learn_b_pairwise();
  else
    s.learn_b();
}

void Agent::end_episode() {
  auto& s = *state_;
  if (!s.options.learn_d || s.steps == 0) return;
  for (std::size_t f = 0; f < s.model.shape.factors(); ++f) {
    auto& counts = s.model.d_counts[f];
    if (s.learns_factor(f)) {
      forget(counts, s.d_start[f], s.options.memory);
      for (std::size_t i = 0; i < counts.size(); ++i)
        if (counts[i] > 0) counts[i] += s.options.rate_d * s.first[f][i];
    }
    normalise_columns(counts.data(), s.model.d[f].data(), counts.size(), 1);
  }
}

}  // namespace tidewatt::inference
