#include "tidewatt/k8s/hpa.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace tidewatt::k8s {
namespace {

int one(int current, double value, double target = 1) {
  const std::array metrics{HpaMetric{value, target}};
  return hpa_desired(current, metrics);
}

TEST(Hpa, AverageValueWithTargetOneCommandsItsValue) {
  for (const int current : {1, 3, 7, 40})
    for (const int wanted : {1, 2, 5, 20, 100, 300})
      EXPECT_EQ(one(current, wanted), hpa_ignores(current, wanted) ? current : wanted) << current;
  EXPECT_EQ(one(5, 3.2), 4) << "part of a replica is a whole one";
}

TEST(Hpa, StepsWithinTenPerCentAreNotTaken) {
  EXPECT_EQ(one(100, 109), 100);
  EXPECT_EQ(one(100, 91), 100);
  EXPECT_EQ(one(20, 19), 20);
  EXPECT_EQ(one(10, 12), 12);
  EXPECT_EQ(one(10, 8), 8);
  EXPECT_TRUE(hpa_ignores(10, 11)) << "at the edge it may go either way";
  EXPECT_FALSE(hpa_ignores(9, 10));
}

TEST(Hpa, NoneStaysNone) { EXPECT_EQ(one(0, 20), 0); }

TEST(Hpa, ATriggerCanNotCapAnother) {
  const std::array metrics{HpaMetric{20, 1}, HpaMetric{4, 1}};
  EXPECT_EQ(hpa_desired(8, metrics), 20);
}

TEST(Hpa, AFormulaCanCap) {
  // scalingModifiers.formula: "min(load, carbon)", target 1
  const double load = 20;
  const double carbon = 4;
  EXPECT_EQ(one(8, std::min(load, carbon)), 4);
  EXPECT_EQ(one(8, std::min(2.0, carbon)), 2);
}

TEST(Hpa, MaxReplicaCountCapsWhatTheFormulaWants) { EXPECT_EQ(std::min(one(8, 20), 6), 6); }

TEST(Hpa, TheStabilisationWindowHoldsReplicasUpUntilItIsOver) {
  HpaStabilisation window{{Milliseconds{300'000}, Milliseconds{0}}};
  UtcTime now{};
  int replicas = 20;
  replicas = window.settle(now, replicas, one(replicas, 20));
  int fell_after = -1;
  for (int seconds = 15; seconds <= 600; seconds += 15) {
    replicas = window.settle(now + Milliseconds{seconds * 1000}, replicas, one(replicas, 4));
    if (replicas == 4 && fell_after < 0) fell_after = seconds;
  }
  EXPECT_EQ(fell_after, 300);
  EXPECT_EQ(replicas, 4);
}

TEST(Hpa, RisingIsAtOnceAndAFlickerDownIsNot) {
  HpaStabilisation window{{}};
  UtcTime now{};
  EXPECT_EQ(window.settle(now, 4, 20), 20);
  EXPECT_EQ(window.settle(now + Milliseconds{15'000}, 20, 4), 20);
  EXPECT_EQ(window.settle(now + Milliseconds{30'000}, 20, 20), 20);
}

TEST(Hpa, AWindowUpTakesTheLowest) {
  HpaStabilisation window{{Milliseconds{0}, Milliseconds{60'000}}};
  UtcTime now{};
  EXPECT_EQ(window.settle(now, 4, 4), 4);
  EXPECT_EQ(window.settle(now + Milliseconds{15'000}, 4, 20), 4);
  EXPECT_EQ(window.settle(now + Milliseconds{75'000}, 4, 20), 20);
}

}  // namespace
}  // namespace tidewatt::k8s
