// Elementary functions with the same bits everywhere, and the arithmetic that the engine's formulas are
// written in.
#pragma once

#include <span>

namespace tidewatt::inference {

/// Natural logarithm; -infinity at 0. @pre x >= 0
double ln(double x);
/// e^x; 0 below -708. @pre x <= 709
double exp(double x);
/// ln(x + 1e-16), the compat mode's logarithm.
double ln_eps(double x);
/// In place; the maximum is subtracted first.
void softmax(std::span<double> x);
/// ln sum exp, without overflow. @pre x is not empty
double log_sum_exp(std::span<const double> x);
/// sum p (ln(p + 1e-16) - ln(q + 1e-16)) [nat]
double kullback_leibler(std::span<const double> p, std::span<const double> q);
/// Entropy with 0 ln 0 = 0. [nat]
double entropy(std::span<const double> p);
/// Gamma function's logarithm and its derivative. @pre x > 0
double ln_gamma(double x);
double digamma(double x);
/// P(X <= x) of a Beta(a, b). @pre a, b > 0
double beta_cdf(double x, double a, double b);
/// The x with beta_cdf(x, a, b) = p, rounded up.
double beta_quantile(double p, double a, double b);

}  // namespace tidewatt::inference
