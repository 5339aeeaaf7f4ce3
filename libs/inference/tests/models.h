// Random but repeatable models for tests.
#pragma once

#include <cstdint>
#include <vector>

#include "tidewatt/inference/agent.h"
#include "tidewatt/inference/numerics.h"

namespace tidewatt::inference {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 2654435761U + 12345) {}
  double uniform() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }
  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(uniform() * static_cast<double>(n)) % n;
  }

 private:
  std::uint64_t state_;
};

/// Columns over the first axis that add up to 1; some entries are 0 when `sparse`.
inline Table random_table(Dice& dice, std::size_t rows, std::size_t columns, double sharpness, bool sparse) {
  Table table(rows * columns);
  for (std::size_t j = 0; j < columns; ++j) {
    const std::size_t sure = dice.below(rows);
    double sum = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      double& p = table[i * columns + j];
      p = exp(sharpness * (2 * dice.uniform() - 1));
      if (sparse && i != sure && dice.uniform() < 0.3) p = 0;
      sum += p;
    }
    for (std::size_t i = 0; i < rows; ++i) table[i * columns + j] /= sum;
  }
  return table;
}

struct ModelWishes {
  std::size_t most_factors = 3;
  bool sparse = false;
  bool interacting = false;
  bool counts = false;
  double sharpness = 2;
  std::size_t length = 2;
};

inline Model random_model(std::uint64_t seed, const ModelWishes& wishes = {}) {
  Dice dice{seed};
  Model model;
  auto& shape = model.shape;
  const std::size_t factors = 1 + dice.below(wishes.most_factors);
  for (std::size_t f = 0; f < factors; ++f) {
    shape.states.push_back(2 + dice.below(3));
    shape.controls.push_back(1 + dice.below(3));
  }
  for (std::size_t f = 0; f < factors; ++f) {
    shape.drivers.push_back({f});
    if (wishes.interacting && factors > 1 && dice.uniform() < 0.5)
      shape.drivers.back().push_back((f + 1) % factors);
    model.b.push_back(random_table(dice, shape.states[f], shape.driver_states(f) * shape.controls[f],
                                   wishes.sharpness, wishes.sparse));
    model.d.push_back(random_table(dice, shape.states[f], 1, 1, wishes.sparse));
  }
  const std::size_t modalities = 1 + dice.below(3);
  for (std::size_t m = 0; m < modalities; ++m) {
    shape.outcomes.push_back(2 + dice.below(3));
    shape.sees.emplace_back();
    for (std::size_t f = 0; f < factors; ++f)
      if (dice.uniform() < 0.6) shape.sees[m].push_back(f);
    if (shape.sees[m].empty()) shape.sees[m].push_back(dice.below(factors));
    model.a.push_back(
        random_table(dice, shape.outcomes[m], shape.seen_states(m), wishes.sharpness, wishes.sparse));
    Table c;
    for (std::size_t o = 0; o < shape.outcomes[m]; ++o) c.push_back(4 * dice.uniform() - 2);
    model.c.push_back(c);
  }
  const auto counted = [&](const std::vector<Table>& tables) {
    auto counts = tables;
    for (auto& table : counts)
      for (double& x : table) x *= 5;
    return counts;
  };
  if (wishes.counts) {
    model.a_counts = counted(model.a);
    model.b_counts = counted(model.b);
    model.d_counts = counted(model.d);
  }
  model.policies = *all_policies(shape, wishes.length, 1 << 16);
  return model;
}

/// One observation per modality.
inline std::vector<Observation> random_observations(Dice& dice, const Shape& shape) {
  std::vector<Observation> all;
  for (const auto n : shape.outcomes) all.push_back({dice.below(n), {}});
  return all;
}

inline Options exact_options() {
  Options options;
  options.mode = Mode::exact;
  options.gamma = 4;
  return options;
}

}  // namespace tidewatt::inference
