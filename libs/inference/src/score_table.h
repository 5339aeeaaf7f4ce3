// What policies are made of: a few distinct parts, each scored once and shared by all policies that contain
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tidewatt/inference/model.h"

namespace tidewatt::inference {

struct ScoreTable {
  std::size_t per_policy = 0;
  std::vector<std::uint32_t> parts;  ///< [policy][per_policy]
  // one number per part, in nats
  std::vector<double> utility, state_information, a_information, b_information;
  std::vector<double> total;  ///< those in use, added

  void resize(std::size_t count) {
    for (auto* column : {&utility, &state_information, &a_information, &b_information, &total})
      column->assign(count, 0.0);
  }
  void add_up(const Options& options) {
    for (std::size_t i = 0; i < total.size(); ++i) {
      double sum = 0;
      if (options.use_utility) sum += utility[i];
      if (options.use_state_information) sum += state_information[i];
      if (options.use_parameter_information) sum += a_information[i] + b_information[i];
      total[i] = sum;
    }
  }
  [[nodiscard]] double sum(const std::vector<double>& column, std::size_t policy) const {
    double sum = 0;
    for (std::size_t k = 0; k < per_policy; ++k) sum += column[parts[policy * per_policy + k]];
    return sum;
  }
};

}  // namespace tidewatt::inference
