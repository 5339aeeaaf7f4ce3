#include "tidewatt/metering/interval.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tidewatt::metering {
namespace {

SteadyTime at(std::int64_t ms) { return SteadyTime{Milliseconds{ms}}; }

Reading gpu(std::int64_t ms, std::optional<double> watts, std::string uuid = "GPU-a", int index = 0) {
  Reading r;
  r.domain = "gpu";
  r.index = index;
  r.uuid = std::move(uuid);
  r.source = "test";
  r.at = at(ms);
  if (watts)
    r.power = Watts{*watts};
  else
    r.reason = "tool_prints_N/A";
  return r;
}

IntervalAccumulator make() { return IntervalAccumulator{{.max_hold = Milliseconds{3000}}}; }

TEST(Interval, MeanIsWeightedByTheTimeEachReadingHolds) {
  auto acc = make();
  acc.add(gpu(0, 999));  // before it nothing was sampled: covers nothing
  acc.finish(at(0));
  acc.add(gpu(1000, 100));
  acc.add(gpu(3000, 400));
  const auto samples = acc.finish(at(3000));
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_DOUBLE_EQ(samples[0].power->value(), 300);  // (100 W x 1 s + 400 W x 2 s) / 3 s
  EXPECT_DOUBLE_EQ(samples[0].power_covered->value(), 3);
  EXPECT_DOUBLE_EQ(samples[0].power_instant->value(), 400);
  EXPECT_DOUBLE_EQ(samples[0].power_min->value(), 100);
  EXPECT_DOUBLE_EQ(samples[0].power_max->value(), 400);
}

TEST(Interval, AStallIsCoveredForTheMaximumHoldOnly) {
  auto acc = make();
  acc.add(gpu(0, 100));
  acc.add(gpu(20'000, 100));
  EXPECT_DOUBLE_EQ(acc.finish(at(20'000))[0].power_covered->value(), 3);
}

TEST(Interval, AnUnknownReadingCoversNothingAndTheNextKnownOneCoversNothingBeforeIt) {
  auto acc = make();
  acc.add(gpu(0, 100));
  acc.add(gpu(1000, std::nullopt));
  acc.add(gpu(2000, 500));
  acc.add(gpu(3000, 200));
  const auto s = acc.finish(at(3000))[0];
  EXPECT_DOUBLE_EQ(s.power->value(), 200);
  EXPECT_DOUBLE_EQ(s.power_covered->value(), 1);
}

TEST(Interval, PowerIsAbsentWithAReasonWhenNoSampleWasKnown) {
  auto acc = make();
  acc.add(gpu(0, 100));
  acc.finish(at(0));
  acc.add(gpu(1000, std::nullopt));
  const auto s = acc.finish(at(1000))[0];
  EXPECT_FALSE(s.power || s.power_instant || s.power_min || s.power_max || s.power_covered);
  EXPECT_EQ(s.reason, "tool_prints_N/A");
}

TEST(Interval, TheLastReadingUnknownTakesTheInstantButNotTheMean) {
  auto acc = make();
  acc.add(gpu(0, 100));
  acc.add(gpu(1000, 100));
  acc.add(gpu(2000, std::nullopt));
  const auto s = acc.finish(at(2000))[0];
  EXPECT_DOUBLE_EQ(s.power->value(), 100);
  EXPECT_FALSE(s.power_instant);
  EXPECT_TRUE(s.reason.empty());
}

TEST(Interval, ADeviceThatIsNoLongerSeenStaysListedAsUnknown) {
  auto acc = make();
  acc.add(gpu(0, 300, "GPU-a", 0));
  acc.add(gpu(0, 300, "GPU-b", 1));
  acc.finish(at(0));
  acc.add(gpu(1000, 300, "GPU-a", 0));
  const auto samples = acc.finish(at(1000));
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_TRUE(samples[0].power);
  EXPECT_FALSE(samples[1].power);
  EXPECT_EQ(samples[1].reason, "no_reading_in_this_interval");
}

TEST(Interval, ADeviceUnseenForAnHourIsForgotten) {
  auto acc = make();
  acc.add(gpu(0, 300));
  EXPECT_EQ(acc.finish(at(3'600'000)).size(), 1U);
  EXPECT_EQ(acc.finish(at(3'600'001)).size(), 0U);
}

TEST(Interval, AFailedSourceMakesOnlyItsDevicesUnknown) {
  auto acc = make();
  auto other = gpu(0, 50, "GPU-b", 1);
  other.source = "other";
  acc.add({gpu(0, 100), other});
  acc.finish(at(0));
  acc.add_failure("test", at(1000), "driver gone");
  other.at = at(1000);
  acc.add(other);
  const auto samples = acc.finish(at(1000));
  EXPECT_EQ(samples[0].reason, "driver gone");
  EXPECT_FALSE(samples[0].power);
  EXPECT_DOUBLE_EQ(samples[1].power->value(), 50);
}

TEST(Interval, ADeviceThatMovesToAnotherIndexStaysTheSame) {
  auto acc = make();
  acc.add(gpu(0, 100, "GPU-a", 0));
  acc.add(gpu(1000, 100, "GPU-a", 5));
  const auto samples = acc.finish(at(1000));
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples[0].index, 5);
  EXPECT_DOUBLE_EQ(samples[0].power_covered->value(), 1);
}

TEST(Interval, WithoutUuidDomainAndIndexAreTheIdentity) {
  auto acc = make();
  auto dram = gpu(0, 5, "", 0);
  dram.domain = "dram";
  acc.add({gpu(0, 100, "", 0), gpu(0, 100, "", 1), dram});
  const auto samples = acc.finish(at(0));
  ASSERT_EQ(samples.size(), 3U);
  EXPECT_EQ(samples[2].domain, "dram");
}

TEST(Interval, ADeviceWhoseUuidBecomesKnownIsListedOnce) {
  auto acc = make();
  acc.add(gpu(0, std::nullopt, "", 0));
  acc.add(gpu(1000, 100, "GPU-a", 0));
  EXPECT_EQ(acc.finish(at(1000)).size(), 1U);
}

TEST(Interval, OlderReadingsAreIgnoredAndCounted) {
  auto acc = make();
  acc.add(gpu(1000, 100));
  acc.add(gpu(1000, 500));
  acc.add(gpu(500, 500));
  EXPECT_DOUBLE_EQ(acc.finish(at(1000))[0].power_max->value(), 100);
  EXPECT_EQ(acc.ignored(), 2U);
}

TEST(Interval, IntervalsJoinWithoutGapOrOverlap) {
  auto acc = make();
  acc.add(gpu(0, 1));
  double energy = 0;
  for (std::int64_t t = 333; t <= 333 * 3000; t += 333) {
    acc.add(gpu(t, 123.457));
    if (t % 20 == 0) {
      const auto s = acc.finish(at(t))[0];
      energy += s.power->value() * s.power_covered->value();
    }
  }
  EXPECT_NEAR(energy, 123.457 * 999, 1e-6);
}

TEST(Interval, TheLastCounterLimitAndUtilTravelAlong) {
  auto acc = make();
  auto r = gpu(0, 100);
  r.energy_total = Joules{10};
  r.counter_epoch = "e1";
  r.power_limit = Watts{700};
  r.util = 0.5;
  acc.add(r);
  r.at = at(1000);
  r.energy_total = Joules{110};
  acc.add(r);
  auto s = acc.finish(at(1000))[0];
  EXPECT_DOUBLE_EQ(s.energy_total->value(), 110);
  EXPECT_EQ(s.counter_epoch, "e1");
  EXPECT_DOUBLE_EQ(s.power_limit->value(), 700);
  s = acc.finish(at(2000))[0];
  EXPECT_FALSE(s.energy_total) << "a counter of an earlier interval is not this one's";
  EXPECT_FALSE(s.util);
}

TEST(Interval, ANegativeOrNonFinitePowerIsUnknown) {
  auto acc = make();
  acc.add(gpu(0, -5));
  EXPECT_FALSE(acc.finish(at(0))[0].power);
}

Reading from(std::string source, Reading reading) {
  reading.source = std::move(source);
  return reading;
}

TEST(Interval, AToolThatStandsInForALibraryReadsTheSameCards) {
  auto acc = make();
  acc.add(from("library", gpu(0, 300)));
  acc.add(from("library", gpu(1000, 300)));
  acc.add(from("tool", gpu(2000, 300, "")));  // the library crashed; its tool knows no uuids
  acc.add(from("tool", gpu(3000, 300, "")));
  acc.add(from("library", gpu(4000, 300)));
  const auto samples = acc.finish(at(4000));
  ASSERT_EQ(samples.size(), 1U) << "one card, whoever reads it";
  EXPECT_EQ(samples[0].uuid, "GPU-a");
  EXPECT_DOUBLE_EQ(samples[0].power_covered->value(), 4);
}

TEST(Interval, ALibraryThatSpellsUuidsItsOwnWayReadsTheSameCards) {
  auto acc = make();
  acc.add(from("one", gpu(0, 300, "GPU-8c45")));
  acc.add(from("other", gpu(1000, 300, "0x8c45f1")));
  const auto samples = acc.finish(at(1000));
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples[0].uuid, "0x8c45f1");
}

TEST(Interval, ACardThatMovesIntoAnotherOnesSlotLeavesThatOneMissed) {
  auto acc = make();
  acc.add(gpu(0, 100, "GPU-a", 0));
  acc.add(gpu(0, 200, "GPU-b", 1));
  acc.finish(at(0));
  acc.add(gpu(1000, 200, "GPU-b", 0));  // GPU-a fell off the bus, the driver counts anew
  const auto samples = acc.finish(at(1000));
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(std::count_if(samples.begin(), samples.end(), [](const auto& s) { return s.power.has_value(); }),
            1);
}

}  // namespace
}  // namespace tidewatt::metering
