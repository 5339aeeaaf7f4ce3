#include "tidewatt/inference/dirichlet.h"

#include "tidewatt/inference/numerics.h"

namespace tidewatt::inference {
namespace {

/// digamma(x + 1) - ln x, above 0 and falling with x; about 1/(2x) for large x.
double excess(double x) {
  double shift = 0;
  double at = x;
  while (at < 12) {
    at += 1;
    shift += 1 / at;
  }
  const double z = 1 / (at * at);
  const double tail =
      0.5 / at - z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132)))));
  return at == x ? tail : tail + (ln(at) - ln(x)) - shift;
}

/// ln of the multivariate beta function.
double ln_beta(std::span<const double> a) {
  double sum = 0;
  double parts = 0;
  for (const double one : a) {
    sum += one;
    parts += ln_gamma(one);
  }
  return parts - ln_gamma(sum);
}

}  // namespace

double information_of_one_more(double count, double total) {
  if (count >= total) return 0;
  const double gain = excess(count) - excess(total);
  return gain > 0 ? gain : 0;
}

double compat_novelty_weight(double count, double total) { return 1 / total - 1 / (count + 1e-16); }

double dirichlet_divergence(std::span<const double> q, std::span<const double> p) {
  double q0 = 0, p0 = 0, gammas = 0, slopes = 0;
  for (std::size_t i = 0; i < q.size(); ++i) {
    q0 += q[i];
    p0 += p[i];
  }
  const double level = digamma(q0);
  for (std::size_t i = 0; i < q.size(); ++i) {
    gammas += ln_gamma(q[i]) - ln_gamma(p[i]);
    slopes += (q[i] - p[i]) * (digamma(q[i]) - level);
  }
  return ln_gamma(q0) - ln_gamma(p0) - gammas + slopes;
}

double dirichlet_log_evidence(std::span<const double> q, std::span<const double> p, std::span<const double> r,
                              std::span<double> reduced_posterior) {
  for (std::size_t i = 0; i < q.size(); ++i) reduced_posterior[i] = q[i] + r[i] - p[i];
  return ln_beta(q) + ln_beta(r) - ln_beta(p) - ln_beta(reduced_posterior);
}

}  // namespace tidewatt::inference
