#include "tidewatt/inference/numerics.h"

#include <cmath>
#include <limits>

#include "kernels.h"
#include "lanes.h"

namespace tidewatt::inference {

double ln(double x) {
  if (x <= 0) return -std::numeric_limits<double>::infinity();
  if (std::isinf(x)) return x;
  if (x < std::numeric_limits<double>::min())
    return ln_normal<double>(x * 0x1p54) - 54 * (kLn2High + kLn2Low);
  return ln_normal<double>(x);
}

double exp(double x) { return exp_bounded<double>(x); }

double ln_eps(double x) { return ln_normal<double>(x + 1e-16); }

void softmax(std::span<double> x) {
  if (!x.empty()) softmax_in_place(x.data(), x.size());
}

double log_sum_exp(std::span<const double> x) {
  double most = x[0];
  for (const double one : x) most = one > most ? one : most;
  if (std::isinf(most)) return most;
  double sum = 0;
  for (const double one : x) sum += exp(one - most);
  return most + ln(sum);
}

double kullback_leibler(std::span<const double> p, std::span<const double> q) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += p[i] * (ln_eps(p[i]) - ln_eps(q[i]));
  return sum;
}

double entropy(std::span<const double> p) {
  double sum = 0;
  for (const double one : p)
    if (one > 0) sum -= one * ln(one);
  return sum;
}

double ln_gamma(double x) {
  // Stirling's series is good to the last digit from 12 on; below, ln Gamma(x) = ln Gamma(x + 1) - ln x.
  double product = 1;
  double lower = 0;
  while (x < 12) {
    product *= x;
    if (product < 1e-200) {
      lower += ln(product);
      product = 1;
    }
    x += 1;
  }
  const double r = 1 / x;
  const double z = r * r;
  const double series =
      r * (1.0 / 12 -
           z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z * (1.0 / 1188 - z * (691.0 / 360360))))));
  constexpr double kHalfLnTwoPi = 0.91893853320467274178;
  return (x - 0.5) * ln(x) - x + kHalfLnTwoPi + series - ln(product) - lower;
}

double digamma(double x) {
  double lower = 0;
  while (x < 12) {
    lower += 1 / x;
    x += 1;
  }
  const double z = 1 / (x * x);
  const double series =
      z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132)))));
  return ln(x) - 0.5 / x - series - lower;
}

namespace {

/// The continued fraction of the incomplete beta function, by Lentz's method.
double beta_fraction(double x, double a, double b) {
  constexpr double kFloor = 1e-300;
  const auto away_from_zero = [](double v) { return std::fabs(v) < kFloor ? kFloor : v; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double h = d;
  for (int m = 1; m <= 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    h *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    const double step = d * c;
    h *= step;
    if (std::fabs(step - 1) < 1e-15) break;
  }
  return h;
}

}  // namespace

double beta_cdf(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double log_front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * ln(x) + b * ln(1 - x);
  const double front = exp(log_front);
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
  return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double beta_quantile(double p, double a, double b) {
  double below = 0;
  double above = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (below + above) / 2;
    (beta_cdf(middle, a, b) < p ? below : above) = middle;
  }
  return above;
}

}  // namespace tidewatt::inference
