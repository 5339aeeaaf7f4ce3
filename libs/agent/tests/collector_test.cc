#include "tidewatt/agent/collector.h"

#include <gtest/gtest.h>

namespace tidewatt::agent {
namespace {

constexpr SteadyTime kT0{Milliseconds{1'000'000}};

metering::Reading reading(SteadyTime at, std::optional<Watts> power, int index = 0,
                          const std::string& source = "nvml") {
  metering::Reading r;
  r.domain = "gpu";
  r.index = index;
  r.uuid = "GPU-" + std::to_string(index);
  r.power = power;
  r.source = source;
  r.at = at;
  return r;
}

TEST(Collector, TheBeatHasTheMeanAndDisplayTheLatest) {
  Collector collector{{}};
  collector.add("nvml", {reading(kT0, Watts{100})}, kT0);
  collector.add("nvml", {reading(kT0 + Milliseconds{1000}, Watts{200})}, kT0 + Milliseconds{1000});
  collector.add("nvml", {reading(kT0 + Milliseconds{2000}, Watts{400})}, kT0 + Milliseconds{2000});
  const auto now = kT0 + Milliseconds{2000};
  EXPECT_EQ(collector.latest(now).at(0).reading.power, Watts{400});
  EXPECT_EQ(collector.finish(now).at(0).power, Watts{300});
}

TEST(Collector, AFailureMakesOnlyThatSourcesDevicesUnknown) {
  Collector collector{{}};
  collector.add("gpu", {reading(kT0, Watts{100}, 0, "nvml")}, kT0);
  collector.add("other", {reading(kT0, Watts{50}, 1, "sim")}, kT0);
  collector.finish(kT0);
  collector.fail("gpu", kT0 + Milliseconds{1000}, "driver gone");
  const auto now = kT0 + Milliseconds{1000};
  const auto latest = collector.latest(now);
  ASSERT_EQ(latest.size(), 2U);
  EXPECT_EQ(latest[0].reading.power, std::nullopt);
  EXPECT_EQ(latest[1].reading.power, Watts{50});
  const auto samples = collector.finish(now);
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].power, std::nullopt);
  EXPECT_EQ(samples[0].reason, "driver gone");
}

TEST(Collector, AReadingThatIsTooOldIsNoLongerShown) {
  Collector collector{{.max_hold = Milliseconds{3000}}};
  collector.add("nvml", {reading(kT0, Watts{100})}, kT0);
  EXPECT_TRUE(collector.latest(kT0 + Milliseconds{3000}).at(0).reading.power);
  EXPECT_FALSE(collector.latest(kT0 + Milliseconds{3001}).at(0).reading.power);
}

TEST(Collector, AFrozenValueIsReadButDoesNotChange) {
  Collector collector{{}};
  EXPECT_FALSE(collector.last_read());
  EXPECT_FALSE(collector.last_change());
  for (int i = 0; i <= 5; ++i) {
    const auto at = kT0 + Milliseconds{i * 1000};
    collector.add("nvml", {reading(at, Watts{100})}, at);
  }
  EXPECT_EQ(collector.last_read(), kT0 + Milliseconds{5000});
  EXPECT_EQ(collector.last_change(), kT0);
  collector.add("nvml", {reading(kT0 + Milliseconds{6000}, Watts{101})}, kT0 + Milliseconds{6000});
  EXPECT_EQ(collector.last_change(), kT0 + Milliseconds{6000});
}

TEST(Collector, UnknownReadingsAreNoChange) {
  Collector collector{{}};
  collector.add("nvml", {reading(kT0, std::nullopt)}, kT0);
  EXPECT_FALSE(collector.last_change());
}

TEST(Collector, DevicesLongGoneAreForgotten) {
  Collector collector{{.max_hold = Milliseconds{3000}, .forget_after = Milliseconds{60'000}}};
  collector.add("nvml", {reading(kT0, Watts{1}, 0), reading(kT0, Watts{2}, 1)}, kT0);
  const auto later = kT0 + Milliseconds{60'001};
  collector.add("nvml", {reading(later, Watts{2}, 1)}, later);
  EXPECT_EQ(collector.latest(later).size(), 1U);
}

}  // namespace
}  // namespace tidewatt::agent
