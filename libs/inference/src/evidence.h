// What observations say about states.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tidewatt/inference/agent.h"

namespace tidewatt::inference {

class Evidence {
 public:
  Evidence(const Shape& shape);
  /// Likelihoods of what was seen; missing and impossible observations are left out.
  void read(const Model& model, std::span<const Observation> observations, SoftEvidence soft);

  [[nodiscard]] bool present(std::size_t m) const { return present_[m] != 0; }
  [[nodiscard]] std::size_t refused() const { return refused_; }
  /// Of each combination of states that m sees.
  [[nodiscard]] std::span<const double> likelihood(std::size_t m) const { return likelihood_[m]; }
  /// ln(likelihood + 1e-16)
  [[nodiscard]] std::span<const double> log_likelihood(std::size_t m) const { return log_[m]; }
  /// As a distribution over outcomes; only when present.
  [[nodiscard]] std::span<const double> seen(std::size_t m) const { return seen_[m]; }

 private:
  bool take(std::size_t m, const Observation& observation);

  std::vector<std::vector<double>> likelihood_, log_, seen_;
  std::vector<char> present_;
  std::vector<char> is_index_;
  std::size_t refused_ = 0;
};

}  // namespace tidewatt::inference
