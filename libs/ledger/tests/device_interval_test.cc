#include <gtest/gtest.h>

#include "tidewatt/ledger/integrate.h"

namespace tidewatt::ledger {
namespace {

using std::chrono::seconds;

constexpr Milliseconds kMaxGap{60'000};
const UtcTime kBegin{Milliseconds{1'000'000}};

IntervalEnd after(int s, std::optional<std::int64_t> mw, std::optional<std::int64_t> counter_uj = {}) {
  IntervalEnd end;
  end.at = kBegin + seconds{s};
  if (mw) end.power = Milliwatts{*mw};
  if (counter_uj) end.counter = Microjoules{*counter_uj};
  end.counter_comparable = counter_uj.has_value();
  return end;
}

TEST(DeviceInterval, PowerTimesTimeUpToTheMaxGap) {
  const auto whole = integrate_device(kBegin, {}, after(60, 300'000), kMaxGap);
  EXPECT_EQ(whole->energy, Microjoules{18'000'000'000});
  EXPECT_EQ(whole->gap, seconds{0});
  const auto clamped = integrate_device(kBegin, {}, after(10'800, 300'000), kMaxGap);
  EXPECT_EQ(clamped->energy, Microjoules{18'000'000'000});
  EXPECT_EQ(clamped->counted, seconds{60});
  EXPECT_EQ(clamped->gap, seconds{10'740});
}

TEST(DeviceInterval, TimeThatDoesNotAdvanceGivesNothing) {
  EXPECT_FALSE(integrate_device(kBegin, {}, after(0, 300'000), kMaxGap));
  EXPECT_FALSE(integrate_device(kBegin, {}, after(-20, 300'000), kMaxGap));
}

TEST(DeviceInterval, UnknownPowerGivesNothing) {
  EXPECT_FALSE(integrate_device(kBegin, {}, after(20, {}), kMaxGap));
}

TEST(DeviceInterval, CounterCoversAnyLengthWithoutGap) {
  const auto bridge =
      integrate_device(kBegin, Microjoules{5}, after(10'800, 300'000, 3'240'000'000'005), kMaxGap);
  EXPECT_TRUE(bridge->by_counter);
  EXPECT_EQ(bridge->energy, Microjoules{3'240'000'000'000});
  EXPECT_EQ(bridge->gap, seconds{0});
}

TEST(DeviceInterval, CounterAloneIsAMeasurement) {
  const auto interval = integrate_device(kBegin, Microjoules{0}, after(20, {}, 6'000'000), kMaxGap);
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->energy, Microjoules{6'000'000});
}

TEST(DeviceInterval, CounterThatCannotBeComparedAndNoPowerIsAGap) {
  auto end = after(20, {}, 6'000'000);
  end.counter_comparable = false;
  const auto interval = integrate_device(kBegin, Microjoules{0}, end, kMaxGap);
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->energy, Microjoules{0});
  EXPECT_EQ(interval->counted, seconds{0});
  EXPECT_EQ(interval->gap, seconds{20});
}

TEST(DeviceInterval, CounterGoingBackFallsBackToPower) {
  const auto interval =
      integrate_device(kBegin, Microjoules{9'000'000'000}, after(20, 300'000, 1'000), kMaxGap);
  EXPECT_FALSE(interval->by_counter);
  EXPECT_EQ(interval->energy, Microjoules{6'000'000'000});
  EXPECT_EQ(interval->counter_note, Note::counter_reset);
}

TEST(DeviceInterval, CounterAboveTwiceTheLimitIsNotBelieved) {
  auto end = after(20, 300'000, 28'000'000'000);
  end.limit = Milliwatts{700'000};
  EXPECT_TRUE(integrate_device(kBegin, Microjoules{0}, end, kMaxGap)->by_counter);  // exactly twice
  end.counter = Microjoules{28'000'000'001};
  const auto interval = integrate_device(kBegin, Microjoules{0}, end, kMaxGap);
  EXPECT_EQ(interval->energy, Microjoules{6'000'000'000});
  EXPECT_EQ(interval->counter_note, Note::counter_implausible);
}

TEST(DeviceInterval, CounterStandingStillUnderLoadIsDistrusted) {
  const auto busy = integrate_device(kBegin, Microjoules{7}, after(20, 247'541, 7), kMaxGap);
  EXPECT_EQ(busy->energy, Microjoules{4'950'820'000});
  EXPECT_EQ(busy->counter_note, Note::counter_frozen);
  const auto idle = integrate_device(kBegin, Microjoules{7}, after(20, 0, 7), kMaxGap);
  EXPECT_TRUE(idle->by_counter);
  EXPECT_EQ(idle->energy, Microjoules{0});
}

}  // namespace
}  // namespace tidewatt::ledger
