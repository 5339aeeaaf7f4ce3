#include "tidewatt/k8s/gate.h"

#include <gtest/gtest.h>

namespace tidewatt::k8s {
namespace {

using std::chrono::hours;

const UtcTime kNow = *parse_rfc3339("2026-11-29T08:00:00Z");

Held held_pod() {
  Held held;
  held.held = true;
  held.created = kNow - hours{1};
  held.tolerance = "daily";
  held.latest_start = kNow + hours{10};
  return held;
}

TEST(LatestStart, IsWhatTheObjectSaysElseWhatItsToleranceAllows) {
  auto held = held_pod();
  EXPECT_EQ(latest_start_of(held), kNow + hours{10});
  held.latest_start.reset();
  EXPECT_EQ(latest_start_of(held), kNow + hours{23});
  held.tolerance = "sometime";
  EXPECT_EQ(latest_start_of(held), held.created) << "nobody waits for what nobody understands";
}

TEST(DecideGate, OpensAtTheLatestStartWhateverThePlanSays) {
  const auto held = held_pod();
  const auto latest = kNow + hours{10};
  const PlannedStart later{kNow + hours{20}, "planned"};
  EXPECT_FALSE(decide_gate(held, later, false, latest - Milliseconds{1}).open);
  EXPECT_EQ(decide_gate(held, later, false, kNow).start, latest) << "a plan beyond it is cut";
  const auto due = decide_gate(held, later, false, latest);
  EXPECT_TRUE(due.open);
  EXPECT_EQ(due.by, "latest-start");
}

TEST(DecideGate, OpensAtTheWindowAndNotBefore) {
  const auto held = held_pod();
  const PlannedStart planned{kNow + hours{3}, "planned"};
  const auto early = decide_gate(held, planned, false, kNow + hours{3} - Milliseconds{1});
  EXPECT_FALSE(early.open);
  EXPECT_EQ(early.start, kNow + hours{3});
  const auto due = decide_gate(held, planned, false, kNow + hours{3});
  EXPECT_TRUE(due.open);
  EXPECT_EQ(due.by, "window");
}

TEST(DecideGate, HoldsTheLastPlanWhileNoNewerOneCanBeHad) {
  auto held = held_pod();
  EXPECT_FALSE(decide_gate(held, std::nullopt, false, kNow).open);
  EXPECT_EQ(decide_gate(held, std::nullopt, false, kNow).start, kNow + hours{10});
  held.planned_start = kNow + hours{2};
  EXPECT_EQ(decide_gate(held, std::nullopt, false, kNow).start, kNow + hours{2});
  EXPECT_EQ(decide_gate(held, PlannedStart{{}, "no signal"}, false, kNow).start, kNow + hours{2})
      << "a signal that is gone for a moment opens nothing";
  EXPECT_TRUE(decide_gate(held, std::nullopt, false, kNow + hours{2}).open);
}

TEST(DecideGate, LetsGoWhatHasNothingToWaitFor) {
  const auto held = held_pod();
  EXPECT_EQ(decide_gate(held, PlannedStart{{}, "no zone"}, false, kNow).by, "no-signal");
  const auto of_job = decide_gate(held, PlannedStart{kNow + hours{3}, ""}, true, kNow);
  EXPECT_TRUE(of_job.open);
  EXPECT_EQ(of_job.by, "job");
}

}  // namespace
}  // namespace tidewatt::k8s
