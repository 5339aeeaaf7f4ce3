#include "tidewatt/runner/plan.h"

#include <gtest/gtest.h>

#include "orders.h"

namespace tidewatt::runner {
namespace {

std::vector<SignalSlot> hourly(const std::vector<double>& values) {
  std::vector<SignalSlot> slots;
  for (std::size_t i = 0; i < values.size(); ++i)
    slots.push_back({at(static_cast<int>(i)), at(static_cast<int>(i) + 1), values[i]});
  return slots;
}

TEST(RunPlan, TakesTheCleanHoursBeforeTheDeadline) {
  const auto signal = hourly({500, 100, 400, 100, 400, 100, 600, 600, 600, 600, 600, 600, 1, 1});
  const auto plan = make_plan(three_hours(), {}, signal, {}, at(0));
  EXPECT_EQ(plan.windows, (std::vector<UtcRange>{{at(1), at(2)}, {at(3), at(4)}, {at(5), at(6)}}));
  EXPECT_EQ(plan.signal, signal);
}

TEST(RunPlan, OnePieceWhereItMayNotBePaused) {
  auto order = three_hours();
  order.pause = Pause::none;
  const auto plan =
      make_plan(order, {}, hourly({500, 100, 400, 100, 400, 100, 600, 600, 600, 600, 600, 600}), {}, at(0));
  EXPECT_EQ(plan.windows, (std::vector<UtcRange>{{at(1), at(4)}}));
}

TEST(RunPlan, PlansOnlyWhatIsLeft) {
  Record record;
  record.state = State::paused;
  record.pieces = {{at(0), at(2)}};
  const auto plan =
      make_plan(three_hours(), record, hourly({500, 500, 500, 500, 90, 500, 500, 500, 500, 500, 500, 500}),
                {}, at(2, 20));
  EXPECT_EQ(plan.windows, (std::vector<UtcRange>{{at(4), at(5)}}));
}

TEST(RunPlan, WhatRunsIsNotPausedForTheRestOfAMinute) {
  Record record;
  record.state = State::running;
  record.pieces = {{at(1), std::nullopt}};
  const auto now = at(1, 10) + std::chrono::seconds{7};
  const auto plan = make_plan(three_hours(), record,
                              hourly({500, 90, 90, 90, 500, 500, 500, 500, 500, 500, 500, 500}), {}, now);
  ASSERT_FALSE(plan.windows.empty());
  EXPECT_LE(plan.windows.front().begin, now);
}

TEST(RunPlan, ANewerSignalReplacesTheOldAndKeepsWhatIsPast) {
  const auto known = hourly({500, 100, 400});
  const std::vector<SignalSlot> fresh{{at(2), at(3), 50}, {at(3), at(4), 60}};
  const auto plan = make_plan(three_hours(), {}, fresh, known, at(1));
  EXPECT_EQ(plan.signal,
            (std::vector<SignalSlot>{
                {at(0), at(1), 500}, {at(1), at(2), 100}, {at(2), at(3), 50}, {at(3), at(4), 60}}));
}

TEST(RunPlan, QuarterHoursAreSeen) {
  auto order = three_hours();
  order.duration = minutes{30};
  order.min_run = minutes{15};
  std::vector<SignalSlot> signal;
  for (int quarter = 0; quarter < 48; ++quarter)
    signal.push_back(
        {at(0, 15 * quarter), at(0, 15 * quarter + 15), quarter == 9 || quarter == 13 ? 10.0 : 300.0});
  const auto plan = make_plan(order, {}, signal, {}, at(0));
  EXPECT_EQ(plan.windows, (std::vector<UtcRange>{{at(2, 15), at(2, 30)}, {at(3, 15), at(3, 30)}}));
}

TEST(RunPlan, ASlotCountsOnlyWhereItIsKnownWhole) {
  auto signal = hourly({500, 500, 10, 500, 500, 500, 500, 500, 500, 500, 500, 500});
  signal[2].end = at(2, 30);  // half of the clean hour is unknown
  signal[5] = {at(5), at(6), 200};
  auto order = three_hours();
  order.duration = hours{1};
  EXPECT_EQ(make_plan(order, {}, signal, {}, at(0)).windows,
            (std::vector<UtcRange>{{at(2), at(2, 30)}, {at(5), at(5, 30)}}));
  order.pause = Pause::none;
  EXPECT_EQ(make_plan(order, {}, signal, {}, at(0)).windows, (std::vector<UtcRange>{{at(5), at(6)}}));
}

TEST(RunPlan, WithoutASignalThereAreNoWindows) {
  EXPECT_TRUE(make_plan(three_hours(), {}, {}, {}, at(0)).windows.empty());
  // Nor where only what is past is known.
  EXPECT_TRUE(make_plan(three_hours(), {}, hourly({1, 2}), {}, at(5)).windows.empty());
}

TEST(RunPlan, WithoutTimeToWaitThereAreNoWindows) {
  const auto plan = make_plan(three_hours(), {}, hourly({5, 5, 5, 5, 5, 5, 5, 5, 5, 9, 9, 9}), {}, at(9));
  EXPECT_TRUE(plan.windows.empty());
  EXPECT_EQ(plan.why, "there is no time to wait");
}

TEST(RunPlan, AForecastThatNeverSavedIsNotWaitedFor) {
  const auto signal = hourly({500, 100, 400, 100, 400, 100, 600, 600, 600, 600, 600, 600});
  planning::ForecastPast past;
  std::uint32_t random = 1;
  for (int i = 0; i < 24 * 40; ++i) {
    random = random * 1664525U + 1013904223U;
    past.foreseen.push_back(100 + static_cast<double>((random >> 16U) % 300U));
    past.actual.push_back(300);
  }
  auto plan = make_plan(three_hours(), {}, signal, {}, at(0), past);
  EXPECT_EQ(plan.windows, (std::vector<UtcRange>{{at(0), at(3)}}));
  EXPECT_NE(plan.why, "planned");
  // One that was always right is.
  for (std::size_t i = 0; i < past.actual.size(); ++i)
    past.foreseen[i] = past.actual[i] = i % 24 < 6 ? 100 : 500;
  plan = make_plan(three_hours(), {}, signal, {}, at(0), past);
  EXPECT_EQ(plan.windows, (std::vector<UtcRange>{{at(1), at(2)}, {at(3), at(4)}, {at(5), at(6)}}));
  EXPECT_EQ(plan.why, "planned");
}

}  // namespace
}  // namespace tidewatt::runner
