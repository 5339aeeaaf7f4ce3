// Hard objectives as chance constraints: a policy is out when its violation can't be excluded well enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tidewatt/inference/agent.h"

namespace tidewatt::inference {

/// P(any of `violating` outcomes of `modality` within the policy's steps) <= delta, with the given
/// credibility.
struct ChanceConstraint {
  std::size_t modality = 0;
  std::vector<std::size_t> violating;
  double delta = 0.01;
  double credibility = 0.95;
};

/// Upper credible bounds of violation under the Dirichlet counts of A and B; where a table has no counts it
/// is known, and its probability is the bound. Deliberately pessimistic: every uncertain probability that
/// matters stands at its own upper bound at once (Beta quantile for outcomes, score interval for
/// transitions), so that a bound can only be too high. Beliefs are taken as a product over factors.
class ChanceMask {
 public:
  /// @pre the constraints name modalities and outcomes of the model
  ChanceMask(const Model& model, std::vector<ChanceConstraint> constraints);
  ~ChanceMask();

  /// Bounds from the agent's present belief and counts. No allocation.
  void evaluate(const Agent& agent);
  /// [policy]: the largest bound - delta over all constraints is at most 0.
  [[nodiscard]] std::span<const std::uint8_t> allowed_policies() const { return allowed_; }
  /// [action]: some policy that begins with it is allowed.
  [[nodiscard]] std::span<const std::uint8_t> allowed_actions() const { return allowed_actions_; }
  /// Upper bound of a constraint's violation under a policy.
  [[nodiscard]] double bound(std::size_t constraint, std::size_t policy) const {
    return bounds_[constraint * allowed_.size() + policy];
  }
  [[nodiscard]] bool none_allowed() const { return none_allowed_; }
  /// Probability of each first action when policies outside the mask are left out before the softmax; all 0
  /// when none is allowed.
  void masked_actions(const Agent& agent, std::span<double> probabilities) const;

 private:
  struct Reach;  ///< which factors matter to a constraint, and the tables over their states
  static void bound_outcomes(const Model& model, const ChanceConstraint& constraint, Reach& reach);
  static double policy_bound(const Agent& agent, Reach& reach, std::size_t policy);

  std::vector<ChanceConstraint> constraints_;
  std::vector<std::unique_ptr<Reach>> reaches_;
  std::vector<double> bounds_;
  std::vector<std::uint8_t> allowed_, allowed_actions_;
  bool none_allowed_ = false;
};

/// Upper end of the score interval for a mean of `mean` under `count` pseudo-observations. In [mean, 1]; 1
/// below two. Covers the Beta's quantile for means up to 0.3; a larger mean is above any delta of interest by
/// itself.
double score_upper_bound(double mean, double count, double z);

}  // namespace tidewatt::inference
