#include "tidewatt/tasks/breakdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tidewatt::tasks {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

/// 100 W idle, cards at 1.1 of what they say, 10 W a core, 1e-8 W a byte/s.
std::vector<NodeInterval> node(double noise = 0, bool with_dram = false) {
  std::vector<NodeInterval> out;
  std::mt19937 random{3};
  std::uniform_real_distribution<double> uniform{0, 1};
  for (int i = 0; i < 200; ++i) {
    NodeInterval one;
    one.devices = Watts{300 + 400 * uniform(random)};
    one.cpu_seconds_per_second = 32 * uniform(random);
    one.network_bytes_per_second = 1e9 * uniform(random);
    if (with_dram) one.dram = Watts{20 + 10 * uniform(random)};
    one.node = one.devices * 1.1 + one.dram +
               Watts{100 + 10 * one.cpu_seconds_per_second + 1e-8 * one.network_bytes_per_second +
                     noise * (uniform(random) - 0.5)};
    out.push_back(one);
  }
  return out;
}

TEST(Breakdown, FindsThePartsThatMadeTheSum) {
  const auto intervals = node();
  const auto got = break_down(intervals);
  ASSERT_TRUE(got);
  double cards = 0;
  double cores = 0;
  for (const auto& one : intervals) {
    cards += one.devices.value() / 200;
    cores += one.cpu_seconds_per_second / 200;
  }
  EXPECT_NEAR(got->gpu.value(), 1.1 * cards, 1e-3);
  EXPECT_NEAR(got->cpu.value(), 10 * cores, 1e-3);
  EXPECT_NEAR(got->idle.value(), 100, 1e-2);
  EXPECT_NEAR(got->residual.value(), 0, 1e-6);
  EXPECT_NEAR(*got->r_squared, 1, 1e-9);
  EXPECT_EQ(got->dram.value(), 0);
}

TEST(Breakdown, PartsAndResidualAlwaysAddUpToTheNode) {
  for (const double noise : {0.0, 50.0, 500.0}) {
    const auto got = break_down(node(noise, true));
    ASSERT_TRUE(got);
    const auto sum = got->gpu + got->cpu + got->dram + got->network + got->idle + got->residual;
    EXPECT_NEAR(sum.value(), got->node.value(), 1e-6);
    for (const auto part : {got->gpu, got->cpu, got->dram, got->network, got->idle})
      EXPECT_GE(part.value(), 0);
    EXPECT_LE(*got->r_squared, 1);
  }
}

TEST(Breakdown, APartThatNeverMovedIsPartOfIdle) {
  auto intervals = node();
  for (auto& one : intervals) {
    one.dram = Watts{40};
    one.node += Watts{40};
  }
  const auto got = break_down(intervals);
  EXPECT_EQ(got->dram.value(), 0);
  EXPECT_NEAR(got->idle.value(), 140, 1e-2);
}

TEST(Breakdown, ANodeThatNeverChangedHasNoRSquared) {
  const std::vector<NodeInterval> intervals(20, {.node = Watts{100}, .devices = Watts{50}, .dram = Watts{0}});
  const auto got = break_down(intervals);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->r_squared, std::nullopt);
  EXPECT_NEAR(got->idle.value(), 100, 1e-9);
}

TEST(Breakdown, TooFewAndImpossibleIntervalsAreRefused) {
  EXPECT_FALSE(break_down(std::vector<NodeInterval>(9)));
  std::vector<NodeInterval> bad(20);
  bad[7].node = Watts{std::nan("")};
  EXPECT_FALSE(break_down(bad));
  bad[7].node = Watts{-1};
  EXPECT_FALSE(break_down(bad));
}

TEST(NonNegativeLeastSquares, ByHand) {
  // Unbounded: x = (3, -1). Bound at 0: x2 = 0, x1 = (1 x 3 + 1 x 2) / 2.
  const std::vector<double> a{1, 0, 1, 1};
  const std::vector<double> b{3, 2};
  EXPECT_THAT(non_negative_least_squares(a, b, 2), ElementsAre(DoubleNear(2.5, 1e-9), 0));
  const std::vector<double> inside{3, 5};
  EXPECT_THAT(non_negative_least_squares(a, inside, 2),
              ElementsAre(DoubleNear(3, 1e-9), DoubleNear(2, 1e-9)));
  const std::vector<double> below{-3, -5};
  EXPECT_THAT(non_negative_least_squares(a, below, 2), ElementsAre(0, 0));
}

TEST(NonNegativeLeastSquares, ThereIsNoBetterNonNegativePointNearby) {
  std::mt19937 random{5};
  std::normal_distribution<double> normal;
  for (int round = 0; round < 200; ++round) {
    constexpr std::size_t kRows = 12;
    constexpr std::size_t kColumns = 5;
    std::vector<double> a;
    std::vector<double> b;
    for (std::size_t i = 0; i < kRows * kColumns; ++i) a.push_back(std::abs(normal(random)));
    if (round % 4 == 0)  // two columns the same
      for (std::size_t r = 0; r < kRows; ++r) a[r * kColumns + 3] = a[r * kColumns + 1];
    for (std::size_t i = 0; i < kRows; ++i) b.push_back(normal(random));
    const auto x = non_negative_least_squares(a, b, kColumns);
    for (std::size_t j = 0; j < kColumns; ++j) {
      double gradient = 0;
      double size = 0;
      for (std::size_t r = 0; r < kRows; ++r) {
        double rest = b[r];
        for (std::size_t i = 0; i < kColumns; ++i) rest -= a[r * kColumns + i] * x[i];
        gradient += a[r * kColumns + j] * rest;
        size += std::abs(a[r * kColumns + j] * b[r]);
      }
      EXPECT_GE(x[j], 0);
      EXPECT_LE(gradient, 1e-8 * size) << "growing column " << j << " would help";
      if (x[j] > 0) {
        EXPECT_NEAR(gradient, 0, 1e-8 * size);
      }
    }
  }
}

}  // namespace
}  // namespace tidewatt::tasks
