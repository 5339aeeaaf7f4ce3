#include "tidewatt/sensors/replay.h"

#include <gtest/gtest.h>

#include "tidewatt/metering/interval.h"
#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::sensors {
namespace {

constexpr const char* kLog =
    "t_ms,node,meter,watts\n1000,a,ac,100\n2000,a,ac,200\n2000,b,ac,999\n5000,a,ac,300\n6000,a,ac,400\n";

metering::ReplayLog log() { return *metering::parse_replay_log(kLog, "x.csv"); }

TEST(Replay, PlaysItsNodesSamplesWhenTheyAreDue) {
  testing::ManualClock clock{UtcTime{Milliseconds{1'700'000'000'000}}};
  const auto source = make_replay(log(), "a", 1, clock);
  EXPECT_EQ(source->read()->size(), 1U);
  clock.advance(Milliseconds{999});
  EXPECT_TRUE(source->read()->empty());
  clock.advance(Milliseconds{1});
  const auto second = source->read();
  ASSERT_EQ(second->size(), 1U);
  EXPECT_DOUBLE_EQ(second->at(0).power->value(), 200);
  EXPECT_EQ(second->at(0).domain, "platform");
}

TEST(Replay, ARareLookLosesNoEnergy) {
  testing::ManualClock clock{UtcTime{Milliseconds{1'700'000'000'000}}};
  const auto source = make_replay(log(), "a", 1, clock);
  metering::IntervalAccumulator interval{{.max_hold = Milliseconds{60'000}}};
  clock.advance(Milliseconds{10'000});
  interval.add(*source->read());
  const auto s = interval.finish(clock.mono_now()).at(0);
  const double joules = s.power->value() * s.power_covered->value();
  const auto expected = metering::expected_energy(log());
  EXPECT_NEAR(joules, expected[0].energy.to_joules().value(), 1e-9);  // 200 x 1 + 300 x 3 + 400 x 1
  EXPECT_NEAR(joules, 1500, 1e-9);
}

TEST(Replay, SpeedCompressesTime) {
  testing::ManualClock clock{UtcTime{Milliseconds{1'700'000'000'000}}};
  const auto source = make_replay(log(), "a", 10, clock);
  clock.advance(Milliseconds{500});
  EXPECT_EQ(source->read()->size(), 4U);
}

TEST(Replay, TheEndOfTheLogIsSaid) {
  testing::ManualClock clock{UtcTime{Milliseconds{1'700'000'000'000}}};
  const auto source = make_replay(log(), "b", 1, clock);
  EXPECT_EQ(source->read()->size(), 1U);
  EXPECT_EQ(source->read().error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace tidewatt::sensors
