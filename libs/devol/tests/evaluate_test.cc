#include "tidewatt/devol/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tidewatt::devol {
namespace {

const UtcTime kNow{Milliseconds{1'800'000'000'000}};

Objective objective(std::string_view text) { return parse_objective(text).value(); }
std::vector<Sample> every_second(const std::vector<double>& newest_last) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < newest_last.size(); ++i)
    samples.push_back(
        {kNow - Milliseconds{1000 * static_cast<long>(newest_last.size() - 1 - i)}, newest_last[i]});
  return samples;
}

TEST(Evaluate, PercentileIsTheNearestRank) {
  std::vector<double> values;
  for (int i = 1; i <= 100; ++i) values.push_back(i);
  const auto samples = every_second(values);
  EXPECT_EQ(evaluate(objective("p99(x) <= 99 over 5m"), samples, kNow).value, 99);
  EXPECT_EQ(evaluate(objective("p100(x) <= 99 over 5m"), samples, kNow).value, 100);
  EXPECT_EQ(evaluate(objective("p99.1(x) <= 99 over 5m"), samples, kNow).value, 100);
  EXPECT_EQ(evaluate(objective("p99(x) <= 99 over 5m"), samples, kNow).state, State::close);
  EXPECT_EQ(evaluate(objective("p99(x) < 99 over 5m"), samples, kNow).state, State::violated);
  EXPECT_EQ(evaluate(objective("p99(x) <= 150 over 5m"), samples, kNow).state, State::kept);
}

TEST(Evaluate, RateIsAShareOrASumPerSecond) {
  const auto samples = every_second({0, 0, 1, 0, 3});
  EXPECT_DOUBLE_EQ(*evaluate(objective("rate(x) < 50% over 10s"), samples, kNow).value, 40);
  EXPECT_DOUBLE_EQ(*evaluate(objective("rate(x) > 1/s over 10s"), samples, kNow).value, 0.4);
  EXPECT_EQ(evaluate(objective("rate(x) > 1/s over 10s"), samples, kNow).state, State::violated);
}

TEST(Evaluate, MeanLeastAndGreatest) {
  const auto samples = every_second({2, 4, 9});
  EXPECT_DOUBLE_EQ(*evaluate(objective("mean(x) >= 1 over 10s"), samples, kNow).value, 5);
  EXPECT_DOUBLE_EQ(*evaluate(objective("min(x) >= 1 over 10s"), samples, kNow).value, 2);
  EXPECT_DOUBLE_EQ(*evaluate(objective("max(x) >= 1 over 10s"), samples, kNow).value, 9);
}

TEST(Evaluate, OnlyTheWindowCountsAndItsEndsAreStated) {
  const std::vector<Sample> samples{{kNow - Milliseconds{10'000}, 100},  // just out
                                    {kNow - Milliseconds{9'999}, 1},
                                    {kNow, 3},
                                    {kNow + Milliseconds{1}, 100}};  // not yet
  const auto verdict = evaluate(objective("mean(x) <= 5 over 10s"), samples, kNow);
  EXPECT_EQ(verdict.value, 2);
  EXPECT_EQ(verdict.samples, 2U);
}

TEST(Evaluate, NoSampleIsUnknownNotKept) {
  EXPECT_EQ(evaluate(objective("mean(x) <= 5 over 10s"), {}, kNow).state, State::unknown);
  const std::vector<Sample> broken{{kNow, std::nan("")}, {kNow, std::numeric_limits<double>::infinity()}};
  const auto verdict = evaluate(objective("mean(x) <= 5 over 10s"), broken, kNow);
  EXPECT_EQ(verdict.state, State::unknown);
  EXPECT_FALSE(verdict.value);
  const std::vector<Sample> huge{{kNow, 1.7e308}, {kNow, 1.7e308}};
  EXPECT_EQ(evaluate(objective("mean(x) <= 5 over 10s"), huge, kNow).state, State::unknown);
}

TEST(Evaluate, LowerBoundsAreCloseFromAbove) {
  EXPECT_EQ(evaluate(objective("mean(x) >= 100/s over 10s"), every_second({105}), kNow).state, State::close);
  EXPECT_EQ(evaluate(objective("mean(x) >= 100/s over 10s"), every_second({99}), kNow).state,
            State::violated);
  EXPECT_EQ(evaluate(objective("mean(x) > 100/s over 10s"), every_second({100}), kNow).state,
            State::violated);
  EXPECT_EQ(evaluate(objective("mean(x) >= 100/s over 10s"), every_second({120}), kNow).state, State::kept);
}

}  // namespace
}  // namespace tidewatt::devol
