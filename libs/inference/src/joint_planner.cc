#include "joint_planner.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "kernels.h"
#include "tables.h"
#include "tidewatt/inference/numerics.h"

namespace tidewatt::inference {
namespace {}

JointPlanner::JointPlanner(const Model& model, const Options& options, const JointSpace& space)
    : mode_(options.mode),
      log_c_(log_preferences(model, options.mode)),
      groups_(make_groups(model, options, true)) {
  std::size_t rows = 1;
  std::vector<char> used(model.shape.factors(), 0);
  for (auto& group : groups_) {
    fill_group(group, model, log_c_, mode_);
    seen_.push_back(space.combinations(group.factors));
    rows = std::max(rows, group.rows);
    for (const auto f : group.factors) {
      overlapping_ = overlapping_ || used[f] != 0;
      used[f] = 1;
    }
  }
  for (std::size_t f = 0; f < model.shape.factors(); ++f) {
    transitions_.push_back(make_transition(model, f, mode_));
    driven_.push_back(space.combinations(model.shape.drivers[f]));
  }
  make_moves(model, space);
  std::size_t largest = 1;
  for (const auto& c : space.components()) largest = std::max(largest, c.states);
  column_.assign(padded(largest), 0.0);
  std::size_t all_states = 0;
  for (auto& group : groups_) all_states += group.states;
  marginals_.assign(kBatch, std::vector<double>(all_states, 0.0));
  rows_.assign(kBatch, std::vector<double>(rows, 0.0));
  levels_.assign(model.policies.length * space.components().size() * space.size(), 0.0);
}

void JointPlanner::make_moves(const Model& model, const JointSpace& space) {
  const auto& policies = model.policies;
  const auto& components = space.components();
  order_.resize(components.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  // Components with few choices first: more policies share what they do.
  const auto choices = [&](std::size_t c) {
    std::size_t product = 1;
    for (const auto f : components[c].factors) product *= model.shape.controls[f];
    return product;
  };
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::size_t a, std::size_t b) { return choices(a) < choices(b); });
  const std::size_t levels = policies.length * order_.size();
  const auto same = [&](std::size_t level, std::size_t p, std::size_t q) {
    for (const auto f : components[order_[level % order_.size()]].factors)
      if (policies.control(p, level / order_.size(), f) != policies.control(q, level / order_.size(), f))
        return false;
    return true;
  };
  const auto earlier = [&](std::uint32_t p, std::uint32_t q) {
    for (std::size_t level = 0; level < levels; ++level)
      for (const auto f : components[order_[level % order_.size()]].factors) {
        const auto a = policies.control(p, level / order_.size(), f);
        const auto b = policies.control(q, level / order_.size(), f);
        if (a != b) return a < b;
      }
    return false;
  };
  std::vector<std::uint32_t> sorted(policies.count);
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::stable_sort(sorted.begin(), sorted.end(), earlier);
  scores_.per_policy = policies.length;
  scores_.parts.assign(policies.count * policies.length, 0);
  std::uint32_t parts = 0;
  std::vector<std::uint32_t> at(policies.length, 0);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    std::size_t level = 0;
    if (i > 0)
      while (level < levels && same(level, sorted[i - 1], sorted[i])) ++level;
    for (; level < levels; ++level) {
      Move move;
      move.level = static_cast<std::uint32_t>(level);
      move.policy = sorted[i];
      move.completes = level % order_.size() + 1 == order_.size();
      if (move.completes) {
        at[level / order_.size()] = parts;
        move.part = parts++;
      }
      moves_.push_back(move);
    }
    for (std::size_t step = 0; step < policies.length; ++step)
      scores_.parts[sorted[i] * policies.length + step] = at[step];
  }
  scores_.resize(parts);
}

void JointPlanner::model_changed_a(const Model& model, std::size_t m) {
  for (auto& group : groups_)
    if (std::find(group.modalities.begin(), group.modalities.end(), m) != group.modalities.end())
      fill_group(group, model, log_c_, mode_);
}

void JointPlanner::model_changed_b(const Model& model, std::size_t f) {
  fill_transition(transitions_[f], model, f, mode_);
}

void JointPlanner::preferences_changed(const Model& model) {
  log_c_ = log_preferences(model, mode_);
  for (auto& group : groups_) fill_group(group, model, log_c_, mode_);
}

void JointPlanner::weigh(const double* before, const double* after, const Move& move, const Model& model) {
  const std::size_t size = driven_[0].size();
  auto& marginals = marginals_[many_];
  std::fill(marginals.begin(), marginals.end(), 0.0);
  double* marginal = marginals.data();
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    for (std::size_t j = 0; j < size; ++j) marginal[seen_[g][j]] += after[j];
    marginal += groups_[g].states;
  }
  double b = 0;
  for (std::size_t f = 0; f < transitions_.size(); ++f) {
    if (transitions_[f].novelty.empty()) continue;
    const double* const expected =
        transitions_[f].novelty.data() +
        model.policies.control(move.policy, move.level / order_.size(), f) * transitions_[f].driver_states;
    for (std::size_t j = 0; j < size; ++j) b += before[j] * expected[driven_[f][j]];
  }
  scores_.utility[move.part] = 0;
  scores_.state_information[move.part] = 0;
  scores_.a_information[move.part] = 0;
  scores_.b_information[move.part] = b;
  if (overlapping_) most_[many_] = entropy({after, size});
  waiting_[many_++] = move;
  if (many_ == kBatch) weigh_waiting();
}

void JointPlanner::weigh_waiting() {
  std::array<const double*, kBatch> weights{};
  std::array<double*, kBatch> rows{};
  std::size_t first = 0;
  for (const auto& group : groups_) {
    for (std::size_t i = 0; i < many_; ++i) {
      weights[i] = marginals_[i].data() + first;
      rows[i] = rows_[i].data();
    }
    first += group.states;
    combine_batch(rows.data(), weights.data(), many_, group.states, group.table.data(), group.rows);
    for (std::size_t i = 0; i < many_; ++i) {
      const auto part = waiting_[i].part;
      scores_.utility[part] += rows[i][group.utility_row(waiting_[i].level / order_.size())];
      const double gain = rows[i][group.ambiguity] - sum_x_ln_x(rows[i], group.outcomes, kTiny);
      scores_.state_information[part] += gain > 0 ? gain : 0;
      if (group.novelty_rows != 0) scores_.a_information[part] += rows[i][group.novelty];
    }
  }
  for (std::size_t i = 0; overlapping_ && i < many_; ++i) {
    double& gain = scores_.state_information[waiting_[i].part];
    gain = std::min(gain, most_[i]);
  }
  many_ = 0;
}

void JointPlanner::evaluate(const JointSpace& space, std::span<const double> now, const Model& model,
                            const Options& options) {
  const std::size_t size = space.size();
  std::array<std::size_t, kMostFactors> controls{};
  for (const auto& move : moves_) {
    const std::size_t step = move.level / order_.size();
    for (std::size_t f = 0; f < transitions_.size(); ++f)
      controls[f] = model.policies.control(move.policy, step, f);
    const double* const from = move.level == 0 ? now.data() : levels_.data() + (move.level - 1) * size;
    double* const to = levels_.data() + move.level * size;
    space.move(order_[move.level % order_.size()], controls, transitions_, from, to, column_);
    if (!move.completes) continue;
    const double* const before = step == 0 ? now.data() : levels_.data() + (step * order_.size() - 1) * size;
    weigh(before, to, move, model);
  }
  if (many_ > 0) weigh_waiting();
  scores_.add_up(options);
}

}  // namespace tidewatt::inference
