#include "evidence.h"

#include <algorithm>
#include <cmath>

#include "kernels.h"
#include "outcome_group.h"
#include "tidewatt/inference/numerics.h"

namespace tidewatt::inference {

Evidence::Evidence(const Shape& shape) {
  for (std::size_t m = 0; m < shape.modalities(); ++m) {
    likelihood_.emplace_back(shape.seen_states(m), 1.0);
    log_.emplace_back(shape.seen_states(m), 0.0);
    seen_.emplace_back(shape.outcomes[m], 0.0);
  }
  present_.assign(shape.modalities(), 0);
  is_index_.assign(shape.modalities(), 0);
}

/// Copies one observation to seen_. @return whether it can be used
bool Evidence::take(std::size_t m, const Observation& observation) {
  auto& seen = seen_[m];
  is_index_[m] = 0;
  if (observation.outcome) {
    if (*observation.outcome >= seen.size()) return false;
    std::fill(seen.begin(), seen.end(), 0.0);
    seen[*observation.outcome] = 1;
    is_index_[m] = 1;
    return true;
  }
  if (observation.distribution.size() != seen.size()) return false;
  double sum = 0;
  for (const double y : observation.distribution) {
    if (!(y >= 0) || y > 1e300) return false;
    sum += y;
  }
  if (!(sum > 0) || std::isinf(sum)) return false;
  // A distribution that adds up to 1 but for rounding is taken as it is.
  const double scale = std::fabs(sum - 1) < 1e-9 ? 1 : sum;
  for (std::size_t o = 0; o < seen.size(); ++o) seen[o] = observation.distribution[o] / scale;
  return true;
}

void Evidence::read(const Model& model, std::span<const Observation> observations, SoftEvidence soft) {
  refused_ = 0;
  for (std::size_t m = 0; m < seen_.size(); ++m) {
    const bool given =
        m < observations.size() && (observations[m].outcome || !observations[m].distribution.empty());
    present_[m] = given && take(m, observations[m]) ? 1 : 0;
    if (given && present_[m] == 0) ++refused_;
    if (present_[m] == 0) continue;
    auto& likelihood = likelihood_[m];
    const std::size_t columns = likelihood.size();
    const double* const a = model.a[m].data();
    if (is_index_[m] == 0 && soft == SoftEvidence::message) {
      std::fill(log_[m].begin(), log_[m].end(), 0.0);
      for (std::size_t o = 0; o < seen_[m].size(); ++o)
        if (seen_[m][o] > 0)
          for (std::size_t j = 0; j < columns; ++j) log_[m][j] += seen_[m][o] * ln_eps(a[o * columns + j]);
      for (std::size_t j = 0; j < columns; ++j) likelihood[j] = exp(log_[m][j]);
      continue;
    }
    combine(likelihood.data(), seen_[m].data(), seen_[m].size(), a, columns);
    ln_guarded(log_[m].data(), likelihood.data(), columns, kGuard);
  }
}

}  // namespace tidewatt::inference
