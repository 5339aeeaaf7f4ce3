#include "tidewatt/tasks/anomaly.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidewatt::tasks {
namespace {

constexpr int kBefore = 20;

PowerUpdate update_at(int minute, double watts) {
  PowerUpdate out;
  out.at = UtcTime{std::chrono::minutes{minute}};
  out.power = Watts{watts};
  out.low = Watts{90};
  out.high = Watts{110};
  return out;
}

/// 20 updates of 100 W in the band, then `count` of `watts`, each changed by `change` (given: is it after?).
template <class Change>
std::optional<Anomaly> watch(double watts, int count, Change change) {
  AnomalyDetector detector;
  std::optional<Anomaly> last;
  for (int i = 0; i < kBefore + count; ++i) {
    auto update = update_at(i, i < kBefore ? 100 : watts);
    change(update, i >= kBefore);
    last = detector.observe(update);
  }
  return last;
}

const auto kNothing = [](PowerUpdate&, bool) {};

TEST(Anomaly, ThreeUpdatesOutsideMakeOne) {
  EXPECT_EQ(watch(130, 2, kNothing), std::nullopt);
  const auto found = watch(130, 3, kNothing);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->above);
  EXPECT_EQ(found->updates, 3U);
  EXPECT_EQ(found->since, UtcTime{std::chrono::minutes{kBefore}});
  EXPECT_NEAR(found->excess, 0.3, 1e-12);
  EXPECT_TRUE(found->causes.empty());
}

TEST(Anomaly, OneUpdateInsideEndsItAndTheOtherSideBeginsAnew) {
  AnomalyDetector detector;
  for (const double watts : {130.0, 130.0, 100.0, 130.0, 130.0, 70.0, 70.0})
    EXPECT_EQ(detector.observe(update_at(0, watts)), std::nullopt) << watts;
  EXPECT_TRUE(detector.observe(update_at(0, 70)));
}

TEST(Anomaly, TheBandItselfIsInside) { EXPECT_EQ(watch(110, 5, kNothing), std::nullopt); }

TEST(Anomaly, CausesAreRankedByHowFarTheyMoved) {
  const auto found = watch(70, 4, [](PowerUpdate& u, bool after) {
    u.power_limit = Watts{after ? 350.0 : 700.0};  // halved: 50 times the 1 % it is held to
    u.clock_mhz = after ? 1500 : 1980;             // down by 24 %
    u.utilisation = 0.99;                          // as before
    u.temperature = Celsius{after ? 60.0 : 70.0};  // cooler: no reason to draw less
  });
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->above);
  ASSERT_EQ(found->causes.size(), 2U);
  EXPECT_EQ(found->causes[0].cause, Cause::power_cap);
  EXPECT_NEAR(found->causes[0].score, 50, 1e-9);
  EXPECT_EQ(found->causes[0].before, 700);
  EXPECT_EQ(found->causes[0].now, 350);
  EXPECT_EQ(found->causes[1].cause, Cause::clock);
  ASSERT_EQ(found->causes[0].evidence.size(), static_cast<std::size_t>(kBefore + 4));
  EXPECT_EQ(found->causes[0].evidence.front().value, 700);
  EXPECT_EQ(found->causes[0].evidence.back().value, 350);
}

TEST(Anomaly, EachCauseCanBeFound) {
  struct Row {
    double watts;
    Cause cause;
    void (*change)(PowerUpdate&, bool);
  };
  const Row rows[] = {
      {130, Cause::clock, [](PowerUpdate& u, bool after) { u.clock_mhz = after ? 1980 : 1500; }},
      {130, Cause::temperature,
       [](PowerUpdate& u, bool after) { u.temperature = Celsius{after ? 85.0 : 60.0}; }},
      {70, Cause::utilisation, [](PowerUpdate& u, bool after) { u.utilisation = after ? 0.5 : 0.98; }},
      {70, Cause::co_tenant, [](PowerUpdate& u, bool after) { u.co_tenants = after ? 1 : 0; }},
      {130, Cause::cooling, [](PowerUpdate& u, bool after) { u.pue = after ? 1.5 : 1.2; }},
      {130, Cause::input, [](PowerUpdate& u, bool after) { u.input_size = after ? 2048 : 1024; }},
  };
  for (const auto& row : rows) {
    const auto found = watch(row.watts, 3, row.change);
    ASSERT_TRUE(found && found->causes.size() == 1) << to_string(row.cause);
    EXPECT_EQ(found->causes[0].cause, row.cause);
  }
}

TEST(Anomaly, ASignalThatAlwaysScatteredIsNoCause) {
  int i = 0;
  const auto found = watch(130, 3, [&](PowerUpdate& u, bool) { u.clock_mhz = ++i % 2 == 0 ? 1200 : 1900; });
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->causes.empty());
}

TEST(Anomaly, ASignalKnownOnOneSideOnlyIsNoCause) {
  const auto found = watch(130, 3, [](PowerUpdate& u, bool after) {
    if (after) u.clock_mhz = 1900;
  });
  EXPECT_TRUE(found->causes.empty());
}

TEST(Anomaly, ALongOneKeepsABoundedRecord) {
  const auto found = watch(130, 1000, [](PowerUpdate& u, bool after) { u.clock_mhz = after ? 1980 : 1500; });
  EXPECT_EQ(found->updates, 1000U);
  EXPECT_EQ(found->causes[0].evidence.size(), kBefore + AnomalyDetector::kRemembered);
}

}  // namespace
}  // namespace tidewatt::tasks
