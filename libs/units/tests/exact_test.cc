#include "tidewatt/units/exact.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <numeric>

namespace tidewatt {
namespace {

using std::chrono::milliseconds;

TEST(Quantise, RoundsHalfToEven) {
  EXPECT_EQ(quantise(Watts{0.0005}), Milliwatts{0});
  EXPECT_EQ(quantise(Watts{0.0015}), Milliwatts{2});
  EXPECT_EQ(quantise(Watts{412.5}), Milliwatts{412500});
}

TEST(Quantise, UnknownIsNotZero) {
  EXPECT_EQ(quantise(Watts{-1}), std::nullopt);
  EXPECT_EQ(quantise(Watts{std::numeric_limits<double>::quiet_NaN()}), std::nullopt);
  EXPECT_EQ(quantise(Watts{std::numeric_limits<double>::infinity()}), std::nullopt);
  EXPECT_EQ(quantise(Watts{1e10}), std::nullopt);
  EXPECT_EQ(quantise(Joules{-0.5}), std::nullopt);
  EXPECT_EQ(quantise(Joules{1e300}), std::nullopt);
}

TEST(EnergyOf, IsExact) {
  EXPECT_EQ(energy_of(Milliwatts{300'000}, milliseconds{60'000}), Microjoules{18'000'000'000});
}

TEST(EnergyOf, RefusesWhatDoesNotFit) {
  EXPECT_EQ(energy_of(Milliwatts{1'000'000'000'000}, milliseconds{1'000'000'000}), std::nullopt);
}

TEST(WideMicrojoules, SumsBeyondInt64AreExact) {
  WideMicrojoules sum;
  for (int i = 0; i < 1100; ++i) sum += Microjoules{std::numeric_limits<std::int64_t>::max()};
  EXPECT_EQ(sum.to_string(), "10145709240540253387700");
  EXPECT_EQ(WideMicrojoules::parse(sum.to_string()), sum);
}

TEST(WideMicrojoules, ParsesOnlyDigits) {
  EXPECT_EQ(WideMicrojoules::parse("-42")->to_string(), "-42");
  for (const char* bad : {"", "-", "1.5", "1e9", " 1", "+1", "999999999999999999999999999999999999999999"})
    EXPECT_EQ(WideMicrojoules::parse(bad), std::nullopt) << bad;
}

TEST(SplitExactly, ThirdsAddUp) {
  EXPECT_EQ(split_exactly(2'000'000'000, std::vector<std::int64_t>{1, 1, 1}),
            (std::vector<std::int64_t>{666'666'667, 666'666'667, 666'666'666}));
}

TEST(SplitExactly, NoWeightMeansEqualParts) {
  EXPECT_EQ(split_exactly(10, std::vector<std::int64_t>{0, 0}), (std::vector<std::int64_t>{5, 5}));
}

RC_GTEST_PROP(SplitExactly, PartsAlwaysAddUpToTheWhole, ()) {
  const auto amount = *rc::gen::inRange<std::int64_t>(0, std::numeric_limits<std::int64_t>::max());
  const auto weights =
      *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 1'000'000'000));
  RC_PRE(!weights.empty());
  const auto parts = split_exactly(amount, weights);
  RC_ASSERT(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}) == amount);
  for (std::size_t i = 0; i < parts.size(); ++i) RC_ASSERT(parts[i] >= 0);
}

RC_GTEST_PROP(EnergyOf, SplittingAnIntervalNeverChangesTheTotal, ()) {
  const Milliwatts p{*rc::gen::inRange<std::int64_t>(0, 100'000'000)};
  const auto whole = *rc::gen::inRange<std::int64_t>(0, 100'000'000);
  const auto cut = *rc::gen::inRange<std::int64_t>(0, whole + 1);
  RC_ASSERT(*energy_of(p, milliseconds{cut}) + *energy_of(p, milliseconds{whole - cut}) ==
            *energy_of(p, milliseconds{whole}));
}

}  // namespace
}  // namespace tidewatt
