// Savings of moved tasks, by hand.
#include <gtest/gtest.h>

#include "worked_month.h"

namespace tidewatt::reports {
namespace {

using namespace testing;

/// The grid: 400 g/kWh, 200 g at 10-15 h, the 29th unknown. A task that would have run 2 kWh and 1 kWh at 6
/// and 7 h of the 5th ran at 10 and 12 h, paused at 11 h.
struct Move {
  Rows rows;
  ledger::TaskInfo task;
  Question question;
  Policy stated = policy();

  Move() {
    task.task_id = "t1";
    task.team = "vision";
    task.group_id = "g1";
    task.at_once_at = parse_rfc3339("2026-03-05T06:20:00Z");
    question.scope = Scope::team;
    question.window = kMarch;
    use(hour_at("2026-03-05T10:00:00Z"), 2);
    use(hour_at("2026-03-05T11:00:00Z"), 0);
    use(hour_at("2026-03-05T12:00:00Z"), 1);
    stated.moved_zones["DE"] = grid();
  }
  void use(UtcHour hour, double kwh) { rows.add(ledger::Scope::task_device, "t1", "n1/0", "gpu", hour, kwh); }
  [[nodiscard]] Booked booked() { return gather(rows, question, {task}, one_node(), {}).value(); }
  [[nodiscard]] Savings savings(carbon::Viewer viewer = carbon::Viewer::platform_operator) {
    return report_of(booked(), stated, viewer).total.savings;
  }
};

TEST(Moved, SavedIsTheSameEnergyAtTheHoursItWouldHaveBeenUsedIn) {
  Move move;
  const auto savings = move.savings();
  // 2 kWh x (400 - 200) g and 1 kWh x (400 - 200) g.
  EXPECT_NEAR(*savings.attributional_kg.value, 0.6, 1e-12);
  EXPECT_EQ(savings.tasks, 1U);
  EXPECT_EQ(savings.unknown_tasks, 0U);
  EXPECT_EQ(savings.consequential_kg.reason, "no_marginal_series");
  EXPECT_NEAR(*report_of(move.booked(), move.stated).lines.at(0).savings.attributional_kg.value, 0.6, 1e-12);
}

TEST(Moved, ToADirtierHourIsALossAndSaidSo) {
  Move move;
  move.task.at_once_at = parse_rfc3339("2026-03-04T13:00:00Z");
  move.rows.rows.clear();
  move.use(hour_at("2026-03-05T06:00:00Z"), 2);
  EXPECT_NEAR(*move.savings().attributional_kg.value, -0.4, 1e-12);
}

TEST(Moved, PausesAreNoHoursOfTheBaseline) {
  Move move;
  // At once at 9 h: 9 h (400 g) and 10 h (200 g), not 11 h.
  move.task.at_once_at = parse_rfc3339("2026-03-05T09:00:00Z");
  EXPECT_NEAR(*move.savings().attributional_kg.value, 2 * 0.2, 1e-12);
}

TEST(Moved, WithoutARecordNothingIsSaved) {
  Move move;
  move.task.at_once_at.reset();
  EXPECT_EQ(move.savings().attributional_kg.reason, "no_move_recorded");
  // Begun when it would have anyway.
  move.task.at_once_at = parse_rfc3339("2026-03-05T10:59:00Z");
  EXPECT_EQ(move.savings().attributional_kg.reason, "no_move_recorded");
  move.question.scope = Scope::node;
  EXPECT_EQ(move.savings().attributional_kg.reason, "savings_are_of_tasks");
}

TEST(Moved, AnUnknownHourOfTheBaselineOrTheRunIsNotGuessed) {
  for (const auto* at_once : {"2026-03-29T06:00:00Z", "2026-03-28T23:00:00Z"}) {
    Move move;
    move.task.at_once_at = parse_rfc3339(at_once);
    move.rows.rows.clear();
    move.use(hour_at("2026-03-30T10:00:00Z"), 2);
    move.use(hour_at("2026-03-30T11:00:00Z"), 2);
    const auto savings = move.savings();
    EXPECT_EQ(savings.attributional_kg.reason, "no_intensity_of_baseline") << at_once;
    EXPECT_EQ(savings.unknown_tasks, 1U);
  }
}

TEST(Moved, OneMonthCountsItsOwnHoursAgainstABaselineThatBeganInTheOneBefore) {
  Move move;
  move.task.at_once_at = parse_rfc3339("2026-02-28T22:00:00Z");
  move.rows.rows.clear();
  // The first hour was February's; the second would have been used at 23 h of 28 February.
  move.use(hour_at("2026-02-28T23:00:00Z"), 5);
  move.use(hour_at("2026-03-01T10:00:00Z"), 2);
  auto& zone = move.stated.moved_zones["DE"];
  zone.intensity = {hour_at("2026-02-28T22:00:00Z"), {900.0, 500.0}};
  for (int i = 0; i < 12; ++i) zone.intensity.hours.emplace_back(100.0);
  ASSERT_EQ(moved_window(move.booked())->from, hour_at("2026-02-28T23:00:00Z"));
  EXPECT_NEAR(*move.savings().attributional_kg.value, 2 * 0.4, 1e-12);
}

TEST(Moved, MarginalAndAverageAreApart) {
  Move move;
  move.stated.moved_zones["DE"].identity.kind = carbon::SignalKind::marginal;
  const auto savings = move.savings();
  EXPECT_NEAR(*savings.consequential_kg.value, 0.6, 1e-12);
  EXPECT_FALSE(savings.attributional_kg.value);
}

TEST(Moved, FollowsTheThreeTiersAndWhoMaySeeTheTask) {
  Move move;
  move.stated.factor = {};
  EXPECT_EQ(move.savings(carbon::Viewer::other).attributional_kg.reason, "no_factor_configured");
  EXPECT_TRUE(move.savings().attributional_kg.value);
  const std::set<std::pair<std::string, std::string>> none;
  move.question.tasks = &none;
  EXPECT_EQ(move.savings().tasks, 0U);
}

}  // namespace
}  // namespace tidewatt::reports
