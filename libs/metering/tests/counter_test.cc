#include "tidewatt/metering/counter.h"

#include <gtest/gtest.h>

#include "tidewatt/metering/plausibility.h"

namespace tidewatt::metering {
namespace {

constexpr std::uint64_t kRange = 262'143'328'850;
SteadyTime at(std::int64_t ms) { return SteadyTime{Milliseconds{ms}}; }
CounterAccumulator rapl() { return CounterAccumulator{kRange, Watts{1000}}; }

TEST(Counter, FirstReadIsABaselineAndNeverEnergy) {
  auto c = rapl();
  const auto s = c.update(200'000'000'000, at(0));
  EXPECT_EQ(s.total->n, 0);
  EXPECT_FALSE(s.power);
  EXPECT_EQ(s.reason, "counter_baseline");
}

TEST(Counter, AWrapAddsTheZonesOwnRange) {
  auto c = rapl();
  c.update(262'143'000'000, at(0));
  const auto s = c.update(200'000'000, at(10'000));
  EXPECT_EQ(s.total->n, 200'328'850);
  EXPECT_DOUBLE_EQ(s.power->value(), 20.032885);
  EXPECT_EQ(s.epoch, 1U);
}

TEST(Counter, ADecreaseWithoutRangeIsUnknownAndBeginsAnEpoch) {
  CounterAccumulator c{std::nullopt, Watts{1000}};
  c.update(4'000'000'000, at(0));
  const auto s = c.update(10'000, at(10'000));
  EXPECT_FALSE(s.power);
  EXPECT_EQ(s.epoch, 2U);
  EXPECT_EQ(s.total->n, 0);
  EXPECT_EQ(s.reason, "counter_decreased: 4000000000 -> 10000 uJ with an unknown range");
}

TEST(Counter, AValueAboveItsRangeIsRejected) {
  auto c = rapl();
  c.update(1000, at(0));
  const auto s = c.update(0xFFFF'FFFF'FFFF'FFFFU, at(1000));
  EXPECT_FALSE(s.total || s.power);
  EXPECT_FALSE(c.update(2'000'000, at(2000)).power) << "after a failure the next read is a baseline";
}

TEST(Counter, AWrapThatCouldHideAWholeLapIsUnknown) {
  auto c = rapl();
  c.update(1000, at(0));
  const auto s = c.update(50'000'000, at(263'000));  // 1000 W x 263 s > range
  EXPECT_FALSE(s.power);
  EXPECT_EQ(s.epoch, 2U);
}

TEST(Counter, FirstReadAfterAFailureIsABaseline) {
  auto c = rapl();
  c.update(1'000'000, at(0));
  c.note_failure();
  const auto s = c.update(900'000'000, at(2000));
  EXPECT_FALSE(s.power);
  EXPECT_EQ(s.epoch, 2U);
}

TEST(Counter, NoChangeIsNoNewInformation) {
  auto c = rapl();
  c.update(1'000'000, at(0));
  EXPECT_TRUE(c.update(1'000'000, at(10)).unchanged);
  EXPECT_TRUE(c.update(1'000'000, at(20)).unchanged);
  const auto s = c.update(4'000'000, at(30));
  EXPECT_DOUBLE_EQ(s.power->value(), 100);  // 3 J over 30 ms
}

TEST(Counter, AFrozenCounterIsUnknownNotZero) {
  auto c = rapl();
  c.update(1'000'000, at(0));
  c.update(1'000'000, at(4000));
  const auto s = c.update(1'000'000, at(5000));
  EXPECT_FALSE(s.power);
  EXPECT_FALSE(s.unchanged);
  EXPECT_EQ(s.reason, "counter_frozen at 1000000 uJ");
}

TEST(Counter, AnImpossibleJumpIsUnknown) {
  auto c = rapl();
  c.update(1'000'000, at(0));
  const auto s = c.update(60'000'000'000, at(1000));  // 60 kW
  EXPECT_FALSE(s.power);
  EXPECT_EQ(s.epoch, 2U);
}

TEST(Counter, TheTotalIsMonotoneInsideAnEpoch) {
  CounterAccumulator c{1'000'000, Watts{0.4}};
  std::uint64_t raw = 0;
  std::int64_t before = 0;
  c.update(raw, at(0));
  for (int i = 1; i <= 100; ++i) {
    raw = (raw + 300'000) % 1'000'000;
    const auto s = c.update(raw, at(i * 1000));
    ASSERT_TRUE(s.total);
    EXPECT_EQ(s.total->n - before, 300'000);
    before = s.total->n;
  }
}

TEST(Plausibility, SentinelsAreUnknown) {
  for (const std::uint64_t raw :
       {0xFFFFULL, 0x7FFFFFFFULL, 0xFFFFFFFFULL, 0xFFFFFFFEULL, 0x7FFFFFFFFFFFFFFFULL, 0xFFFFFFFFFFFFFFFFULL})
    EXPECT_FALSE(judge_raw_power(raw, 0.001, std::nullopt).power) << raw;
  for (const double watts :
       {65535.0, 6553.5, 65.535, 655350.0, 2147483647.0, 2147483.647, 2147483.65, 429496729.5, 4294967.295,
        4294967.3, 4294967295.0, 4294967294.0, 9223372036854775807.0, -1.0})
    EXPECT_FALSE(judge_power(Watts{watts}, std::nullopt).power) << watts;
}

TEST(Plausibility, AboveTheLimitIsNormalAboveThreeTimesTheLimitIsNot) {
  EXPECT_TRUE(judge_power(Watts{218.09}, Watts{212.5}).power);
  EXPECT_TRUE(judge_power(Watts{637.5}, Watts{212.5}).power);
  const auto s = judge_power(Watts{53'130}, Watts{300});
  EXPECT_FALSE(s.power);
  EXPECT_EQ(s.reason, "implausible: 53130 W at a limit of 300 W");
}

TEST(Plausibility, ZeroOfAWholeDeviceIsUnknown) {
  EXPECT_EQ(judge_power(Watts{0}, std::nullopt).reason, "printed_zero_implausible");
}

}  // namespace
}  // namespace tidewatt::metering
