#include "tidewatt/runner/decide.h"

#include <gtest/gtest.h>

#include "orders.h"

namespace tidewatt::runner {
namespace {

Plan windows(std::vector<UtcRange> list) {
  Plan plan;
  plan.windows = std::move(list);
  plan.why = "planned";
  return plan;
}

TEST(Decide, WaitsForTheWindowAndRunsInIt) {
  const auto plan = windows({{at(2), at(5)}});
  const auto before = decide(three_hours(), {}, plan, at(1));
  EXPECT_FALSE(before.run);
  EXPECT_EQ(before.look_again, at(2));
  const auto within = decide(three_hours(), {}, plan, at(2));
  EXPECT_TRUE(within.run);
  EXPECT_EQ(within.look_again, at(5));
}

TEST(Decide, EveryDelayHasALatestStart) {
  // The plan is wrong, too late, or nobody makes it anew: at nine it runs, since noon is the deadline.
  for (const auto& plan : {windows({{at(11), at(14)}}), windows({{at(0), at(0, 30)}})}) {
    const auto before = decide(three_hours(), {}, plan, at(8));
    EXPECT_FALSE(before.run);
    EXPECT_EQ(before.look_again, at(9));
    EXPECT_TRUE(decide(three_hours(), {}, plan, at(9)).run);
    EXPECT_TRUE(decide(three_hours(), {}, plan, at(100)).run);
  }
}

TEST(Decide, TheLatestStartCountsWhatRanAlready) {
  Record record;
  record.state = State::paused;
  record.pieces = {{at(1), at(2)}};
  const auto plan = windows({{at(20), at(22)}});
  EXPECT_FALSE(decide(three_hours(), record, plan, at(9)).run);
  EXPECT_EQ(decide(three_hours(), record, plan, at(9)).look_again, at(10));
  EXPECT_TRUE(decide(three_hours(), record, plan, at(10)).run);
}

TEST(Decide, NoPauseAfterTheLatestStart) {
  Record record;
  record.state = State::running;
  record.pieces = {{at(9), std::nullopt}};
  for (int minute = 0; minute < 400; ++minute)
    EXPECT_TRUE(decide(three_hours(), record, windows({{at(4), at(5)}}), at(9, minute)).run) << minute;
}

TEST(Decide, WithoutASignalItRuns) {
  Plan plan;
  plan.why = "no carbon intensity is known";
  const auto decision = decide(three_hours(), {}, plan, at(0));
  EXPECT_TRUE(decision.run);
  EXPECT_EQ(decision.why, "no carbon intensity is known");
}

TEST(Decide, WithoutADurationOrADeadlineItRuns) {
  auto order = three_hours();
  order.duration.reset();
  EXPECT_TRUE(decide(order, {}, windows({{at(5), at(8)}}), at(0)).run);
  order = three_hours();
  order.deadline.reset();
  EXPECT_TRUE(decide(order, {}, windows({{at(5), at(8)}}), at(0)).run);
}

TEST(Decide, APieceRunsItsLeastTime) {
  Record record;
  record.state = State::running;
  record.pieces = {{at(1), std::nullopt}};
  const auto plan = windows({{at(4), at(7)}});
  const auto early = decide(three_hours(), record, plan, at(1, 10));
  EXPECT_TRUE(early.run);
  EXPECT_EQ(early.look_again, at(1, 30));
  EXPECT_FALSE(decide(three_hours(), record, plan, at(1, 30)).run);
}

TEST(Decide, TheEndIsNotPausedAway) {
  Record record;
  record.state = State::running;
  record.pieces = {{at(1), at(3)}, {at(5), std::nullopt}};
  EXPECT_TRUE(decide(three_hours(), record, windows({{at(8), at(9)}}), at(5, 31)).run);
}

TEST(Decide, WhatRunsLongerThanWasSaidIsNotPaused) {
  Record record;
  record.state = State::running;
  record.pieces = {{at(1), std::nullopt}};
  EXPECT_TRUE(decide(three_hours(), record, windows({{at(8), at(9)}}), at(4, 30)).run);
}

TEST(Decide, WhatMayNotBePausedRunsOn) {
  auto order = three_hours();
  order.pause = Pause::none;
  Record record;
  record.state = State::running;
  record.pieces = {{at(1), std::nullopt}};
  EXPECT_TRUE(decide(order, record, windows({{at(8), at(9)}}), at(2)).run);
}

}  // namespace
}  // namespace tidewatt::runner
