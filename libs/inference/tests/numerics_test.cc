#include "tidewatt/inference/numerics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tidewatt/inference/dirichlet.h"

namespace tidewatt::inference {
namespace {

TEST(Logarithm, IsWithinTwoUnitsOfTheLastPlace) {
  for (double x = 1e-308; x < 1e300; x *= 1.37)
    EXPECT_NEAR(ln(x), std::log(x), 4e-16 * std::fabs(std::log(x)) + 1e-300) << x;
  for (double x = 0.5; x < 2; x += 0.0007)
    EXPECT_NEAR(ln(x), std::log(x), 4e-16 * std::fabs(std::log(x))) << x;
  EXPECT_EQ(ln(1), 0);
  EXPECT_EQ(ln(0), -INFINITY);
  EXPECT_NEAR(ln(1e-310), std::log(1e-310), 1e-10);
}

TEST(Exponential, IsWithinTwoUnitsOfTheLastPlaceAndZeroFarBelow) {
  for (double x = -700; x < 700; x += 0.317) EXPECT_NEAR(exp(x) / std::exp(x), 1, 5e-16) << x;
  EXPECT_EQ(exp(0), 1);
  EXPECT_EQ(exp(-709), 0);
  EXPECT_EQ(exp(-INFINITY), 0);
}

TEST(Softmax, IsTheSameInVectorsAndAlone) {
  std::vector<double> x{-745, 0, 3.5, 3.5};
  softmax(x);
  EXPECT_EQ(x[0], 0);
  EXPECT_NEAR(x[1], 0.014874112078410105, 1e-15);
  EXPECT_EQ(x[2], x[3]);
}

TEST(GammaFunction, AndItsDerivativeAgreeWithKnownValues) {
  EXPECT_NEAR(ln_gamma(0.5), 0.5723649429247001, 1e-14);
  EXPECT_NEAR(ln_gamma(10), std::log(362880.0), 1e-12);
  EXPECT_NEAR(digamma(1), -0.5772156649015329, 1e-14);
  EXPECT_NEAR(digamma(0.25), -4.2274535333762654, 1e-13);
}

TEST(BetaQuantile, InvertsTheDistribution) {
  EXPECT_NEAR(beta_quantile(0.95, 1, 99), 1 - std::pow(0.05, 1.0 / 99), 1e-12);
  EXPECT_NEAR(beta_cdf(0.3, 2, 5), 0.579825, 1e-6);
  for (const double a : {0.05, 0.7, 3.0, 80.0})
    for (const double b : {0.3, 2.0, 900.0})
      EXPECT_NEAR(beta_cdf(beta_quantile(0.95, a, b), a, b), 0.95, 1e-9) << a << " " << b;
}

TEST(Novelty, IsTheDivergenceThatOneMoreCountMakes) {
  const std::vector<double> prior{0.3, 2.0, 7.5};
  for (std::size_t o = 0; o < prior.size(); ++o) {
    auto posterior = prior;
    posterior[o] += 1;
    EXPECT_NEAR(information_of_one_more(prior[o], 9.8), dirichlet_divergence(posterior, prior), 1e-12);
  }
}

TEST(Novelty, HasNoCancellationAtAnyScale) {
  EXPECT_NEAR(information_of_one_more(1e12, 2e12) / 2.5e-13, 1, 1e-9);
  EXPECT_NEAR(information_of_one_more(1e-300, 1), 300 * std::log(10.0) - 0.5772156649015329 - digamma(2),
              1e-9);
  EXPECT_EQ(information_of_one_more(4, 4), 0);
  for (double a = 1e-12; a < 1e12; a *= 3) EXPECT_GT(information_of_one_more(a, 2 * a), 0) << a;
}

TEST(ModelReduction, PrefersTheSimplerPriorThatExplainsTheSame) {
  const std::vector<double> posterior{10.5, 0.5};
  const std::vector<double> prior{0.5, 0.5};
  const std::vector<double> simpler{1.0, 0.01};
  std::vector<double> reduced(2);
  EXPECT_LT(dirichlet_log_evidence(posterior, prior, simpler, reduced), 0);
  EXPECT_DOUBLE_EQ(reduced[0], 11.0);
}

}  // namespace
}  // namespace tidewatt::inference
