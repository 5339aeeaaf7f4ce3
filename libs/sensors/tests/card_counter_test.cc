#include "../src/card_counter.h"

#include <gtest/gtest.h>

namespace tidewatt::sensors {
namespace {

class CardCounterTest : public ::testing::Test {
 protected:
  Reading at(int seconds, std::optional<std::uint64_t> microjoules, std::optional<Watts> power = Watts{300}) {
    Reading reading;
    reading.power = power;
    reading.at = SteadyTime{std::chrono::seconds{seconds}};
    counter.put(reading, microjoules, "run");
    return reading;
  }
  CardCounter counter;
};

TEST_F(CardCounterTest, ADecreaseBeginsAnEpoch) {
  EXPECT_EQ(at(0, 5'000'000).energy_total, Joules{5});
  EXPECT_EQ(at(1, 6'000'000).counter_epoch, "run-0");
  EXPECT_EQ(at(2, 1'000'000).counter_epoch, "run-1");
}

TEST_F(CardCounterTest, ACounterThatStandsWhileTheCardDrawsPowerIsDistrusted) {
  at(0, 5'000'000);
  EXPECT_TRUE(at(4, 5'000'000).energy_total) << "some move in steps of a second or two";
  EXPECT_FALSE(at(5, 5'000'000).energy_total);
  EXPECT_FALSE(at(60, 5'000'000, std::nullopt).energy_total);
  const auto again = at(61, 9'000'000);
  EXPECT_EQ(again.energy_total, Joules{9});
  EXPECT_EQ(again.counter_epoch, "run-1") << "what it missed isn't known";
}

TEST_F(CardCounterTest, WithoutKnownPowerAStandingCounterSaysNothing) {
  at(0, 5'000'000, std::nullopt);
  EXPECT_TRUE(at(100, 5'000'000, std::nullopt).energy_total);
}

TEST_F(CardCounterTest, WhatIsNotToldOrTooLargeIsLeftOut) {
  EXPECT_FALSE(at(0, std::nullopt).energy_total);
  EXPECT_FALSE(at(0, ~0ULL).energy_total);
}

}  // namespace
}  // namespace tidewatt::sensors
