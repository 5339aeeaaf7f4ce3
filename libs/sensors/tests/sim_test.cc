#include <gtest/gtest.h>

#include "tidewatt/sensors/sources.h"
#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::sensors {
namespace {

const UtcTime kNoon{Milliseconds{1'764'417'600'000}};

std::vector<std::vector<Reading>> play(const SimOptions& options, int seconds) {
  testing::ManualClock clock{kNoon};
  const auto source = make_sim(options, clock);
  std::vector<std::vector<Reading>> rounds;
  for (int s = 0; s < seconds; ++s) {
    rounds.push_back(*source->read());
    clock.advance(Milliseconds{1000});
  }
  return rounds;
}

TEST(Sim, TheSameSeedAndClockGiveTheSameReadings) {
  const auto a = play({}, 50);
  const auto b = play({}, 50);
  const auto c = play({.seed = 2}, 50);
  bool differs = false;
  for (std::size_t round = 0; round < a.size(); ++round)
    for (std::size_t i = 0; i < a[round].size(); ++i) {
      EXPECT_EQ(a[round][i].power, b[round][i].power);
      differs |= a[round][i].power != c[round][i].power;
    }
  EXPECT_TRUE(differs);
}

TEST(Sim, EveryReadingIsLabelledSimulated) {
  const auto rounds = play({}, 1);
  for (const auto& reading : rounds[0]) EXPECT_EQ(reading.quality, Quality::simulated);
}

TEST(Sim, CountersAgreeWithThePowerIntegral) {
  const auto rounds = play({.gpus = 1, .unknown_rate = 0}, 500);
  double energy = 0;
  for (std::size_t i = 1; i < rounds.size(); ++i) energy += rounds[i][0].power->value();
  EXPECT_NEAR(rounds.back()[0].energy_total->value(), energy, 1e-6);
}

TEST(Sim, SomeReadingsAreUnknownWithAReason) {
  int unknown = 0;
  const auto rounds = play({.unknown_rate = 0.2}, 600);
  for (const auto& round : rounds)
    for (const auto& reading : round)
      if (!reading.power) {
        ++unknown;
        EXPECT_EQ(reading.reason, "simulated sensor fault");
      }
  EXPECT_GT(unknown, 0);
}

TEST(Sim, TheLastCardIsSharedByTwoTasks) {
  const auto round = play({.gpus = 4}, 1)[0];
  EXPECT_EQ(round[3].holders.size(), 2U);
}

TEST(Sim, JobsComeAndGo) {
  testing::ManualClock clock{kNoon};
  const auto source = make_sim({}, clock);
  int held = 0;
  int idle = 0;
  for (int i = 0; i < 24 * 60; ++i) {
    const auto readings = source->read();
    for (const auto& reading : *readings)
      if (reading.domain == "gpu") ++(reading.holders.empty() ? idle : held);
    clock.advance(Milliseconds{60'000});
  }
  EXPECT_GT(held, 1000);
  EXPECT_GT(idle, 1000);
}

}  // namespace
}  // namespace tidewatt::sensors
