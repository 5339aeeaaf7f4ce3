// Dirichlet counts: what one more observation would teach, and whether a simpler model explains the same.
#pragma once

#include <span>

namespace tidewatt::inference {

/// KL(Dir(a + e_o) || Dir(a)): what is learned about a column when an outcome of count `count` is seen once
/// more. [nat] Computed without cancellation, so it is right for counts from 1e-300 to 1e12. @pre 0 < count
/// <= total
double information_of_one_more(double count, double total);

/// The first-order form 1/total - 1/count of the compat mode (its sign), with the guard 1e-16.
double compat_novelty_weight(double count, double total);

/// KL(Dir(q) || Dir(p)) [nat]
double dirichlet_divergence(std::span<const double> q, std::span<const double> p);

/// Bayesian model reduction: -(log evidence of the reduced prior r - that of the full prior p), given the
/// posterior q under p. Negative: the reduced model is the better one. `reduced_posterior` becomes q + r - p.
/// @pre all of q + r - p are above 0
double dirichlet_log_evidence(std::span<const double> q, std::span<const double> p, std::span<const double> r,
                              std::span<double> reduced_posterior);

}  // namespace tidewatt::inference
