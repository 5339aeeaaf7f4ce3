#include "tidewatt/runner/outcome.h"

#include <gtest/gtest.h>

#include "orders.h"

namespace tidewatt::runner {
namespace {

TEST(RunOutcome, ComparesWithAsLongARunAtOnce) {
  Plan plan;
  plan.signal = {{at(0), at(1), 400}, {at(1), at(2), 300}, {at(2), at(3), 200}, {at(3), at(4), 100}};
  Record record;
  record.state = State::ended;
  record.pieces = {{at(1, 30), at(2)}, {at(3), at(4)}};
  const auto outcome = outcome_of(three_hours(), record, plan, at(50));
  EXPECT_EQ(outcome.ran, minutes{90});
  EXPECT_EQ(outcome.waited, minutes{150});
  EXPECT_EQ(outcome.pauses, 1U);
  // (0.5 h x 300 + 1 h x 100) / 1.5 h, beside (1 h x 400 + 0.5 h x 300) / 1.5 h
  EXPECT_NEAR(outcome.mean_g_per_kwh.value(), 250 / 1.5, 1e-9);
  EXPECT_NEAR(outcome.baseline_g_per_kwh.value(), 550 / 1.5, 1e-9);
  EXPECT_NEAR(outcome.saving_percent.value(), 100 * (1 - 250.0 / 550), 1e-9);
}

TEST(RunOutcome, AnUnknownHourGivesNoFigure) {
  Plan plan;
  plan.signal = {{at(0), at(1), 400}, {at(3), at(4), 100}};
  Record record;
  record.pieces = {{at(3), at(5)}};
  const auto outcome = outcome_of(three_hours(), record, plan, at(5));
  EXPECT_FALSE(outcome.mean_g_per_kwh);
  EXPECT_FALSE(outcome.baseline_g_per_kwh);
  EXPECT_FALSE(outcome.saving_percent);
  EXPECT_EQ(outcome.of_known, hours{1});
}

TEST(RunOutcome, WhatNeverRanHasNoMean) {
  const auto outcome = outcome_of(three_hours(), {}, {}, at(5));
  EXPECT_EQ(outcome.ran, Milliseconds{0});
  EXPECT_EQ(outcome.waited, hours{5});
  EXPECT_FALSE(outcome.mean_g_per_kwh);
}

}  // namespace
}  // namespace tidewatt::runner
