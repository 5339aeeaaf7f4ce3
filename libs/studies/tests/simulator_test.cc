#include "tidewatt/studies/simulator.h"

#include <gtest/gtest.h>

#include <random>

#include "tidewatt/studies/cooling.h"

namespace tidewatt::studies {
namespace {

/// Days that are clean from 2 to 6 o'clock.
std::vector<double> days(std::size_t count) {
  std::vector<double> hours;
  for (std::size_t i = 0; i < count * 24; ++i) hours.push_back(i % 24 >= 2 && i % 24 < 6 ? 100 : 400);
  return hours;
}

SimulationSettings waiting(WaitPolicy policy, double slack, bool perfect) {
  SimulationSettings settings;
  settings.policy = policy;
  settings.slack_hours = slack;
  settings.perfect = perfect;
  return settings;
}

TEST(Simulator, RunNowRunsAtOnceAndIsChargedWhatCame) {
  const auto result = simulate(days(3), {{1, 2, 3, 0}}, waiting(WaitPolicy::run_now, 24, false));
  ASSERT_EQ(result.cells.size(), 1U);
  EXPECT_DOUBLE_EQ(result.cells[0].carbon, 3 * (400 + 100));
  EXPECT_DOUBLE_EQ(result.cells[0].cpu_hours, 6);
  EXPECT_EQ(result.cells[0].wait_hours, 0);
}

TEST(Simulator, PartOfASlotIsChargedAsPart) {
  const auto result = simulate(days(1), {{0, 0.6, 1, 0}}, waiting(WaitPolicy::run_now, 0, false));
  EXPECT_NEAR(result.cells[0].carbon, 0.6 * 400, 1e-9);
}

TEST(Simulator, WaitsForTheCleanHoursItKnows) {
  const auto window = simulate(days(3), {{12, 2, 1, 0}}, waiting(WaitPolicy::one_window, 24, true));
  EXPECT_DOUBLE_EQ(window.cells[0].carbon, 200);
  EXPECT_DOUBLE_EQ(window.cells[0].wait_hours, 14);
  // Six hours of work, four clean ones: pieces take all of them.
  const auto pieces = simulate(days(3), {{12, 6, 1, 0}}, waiting(WaitPolicy::pieces, 24, true));
  EXPECT_DOUBLE_EQ(pieces.cells[0].carbon, 4 * 100 + 2 * 400);
  EXPECT_EQ(pieces.cells[0].late, 0U);
}

TEST(Simulator, TheWeekBeforeIsItsForecastAndItsRecordDecides) {
  // Before anything is known it runs at once; after weeks of even days it waits.
  const auto early = simulate(days(60), {{12, 2, 1, 0}}, waiting(WaitPolicy::one_window, 24, false));
  EXPECT_DOUBLE_EQ(early.cells[0].carbon, 800);
  const auto later =
      simulate(days(60), {{40 * 24 + 12, 2, 1, 0}}, waiting(WaitPolicy::one_window, 24, false));
  EXPECT_DOUBLE_EQ(later.cells[0].carbon, 200);
}

TEST(Simulator, TheCapIsNeverBrokenAndNobodyStampedes) {
  std::vector<SimulatedJob> jobs;
  for (int i = 0; i < 200; ++i) jobs.push_back({12 + 0.1 * i, 1, 1, 0});
  for (const auto policy : {WaitPolicy::run_now, WaitPolicy::one_window, WaitPolicy::pieces}) {
    auto settings = waiting(policy, 24, true);
    settings.cap_cpus = 12;
    settings.failures_per_hour = 0.1;
    const auto result = simulate(days(20), jobs, settings);
    EXPECT_LE(result.peak_cpus, 12 + 1e-6);
    EXPECT_EQ(result.cells[0].jobs, 200U);
  }
}

TEST(Simulator, AFailureCostsWorkAndIsTheSameInEveryPolicy) {
  const std::vector<SimulatedJob> jobs{{0, 40, 1, 0}};
  auto settings = waiting(WaitPolicy::run_now, 100, false);
  settings.failures_per_hour = 0.2;
  const auto now = simulate(days(20), jobs, settings);
  EXPECT_GT(now.failures, 0U);
  EXPECT_GT(now.cells[0].cpu_hours, 40);
  EXPECT_LE(now.cells[0].cpu_hours, 40 + static_cast<double>(now.failures));
  settings.policy = WaitPolicy::pieces;
  settings.perfect = true;
  const auto pieces = simulate(days(20), jobs, settings);
  EXPECT_EQ(pieces.failures, now.failures);
  EXPECT_DOUBLE_EQ(pieces.cells[0].cpu_hours, now.cells[0].cpu_hours);
}

TEST(Simulator, InAnOutageTheLastWeekIsEnough) {
  std::vector<SimulatedJob> jobs;
  const std::size_t from = 40 * 24 + 5;
  for (std::size_t hour = from; hour < from + 72; ++hour)
    jobs.push_back({static_cast<double>(hour), 2, 1, 0});
  auto settings = waiting(WaitPolicy::one_window, 24, false);
  settings.outages = {{from, from + 72}};
  const auto result = simulate(days(60), jobs, settings);
  EXPECT_EQ(result.cells[0].late, 0U);
  EXPECT_EQ(result.cells[0].undecided, 0U);
  const auto perfect = simulate(days(60), jobs, waiting(WaitPolicy::one_window, 24, true));
  EXPECT_DOUBLE_EQ(result.cells[0].carbon, perfect.cells[0].carbon);
}

TEST(Simulator, NothingIsLearntFromWhatComesLater) {
  std::mt19937 random{4};
  std::vector<double> hours;
  for (int i = 0; i < 24 * 60; ++i) hours.push_back(100 + static_cast<double>(random() % 400));
  std::vector<SimulatedJob> jobs;
  for (int hour = 24 * 20; hour < 24 * 40; ++hour) jobs.push_back({static_cast<double>(hour), 3, 1, 0});
  const auto before = simulate(hours, jobs, waiting(WaitPolicy::pieces, 24, false));
  for (std::size_t i = 24 * 43; i < hours.size(); ++i) hours[i] = 7;
  const auto after = simulate(hours, jobs, waiting(WaitPolicy::pieces, 24, false));
  EXPECT_EQ(before.cells[0].carbon, after.cells[0].carbon);
  EXPECT_EQ(before.moved, after.moved);
}

TEST(Cooling, LimitsAreKeptAndTheSameSeedGivesTheSame) {
  std::vector<double> ci;
  for (int i = 0; i < 288 * 2; ++i) ci.push_back(i % 288 < 144 ? 500 - i % 288 : 300 + i % 7);
  const auto study = cooling_study(ci, 12, 5);
  EXPECT_EQ(study.slots, 12U * 288);
  EXPECT_EQ(study.short_on + study.short_off + study.many_starts + study.steep, 0U);
  EXPECT_GE(study.carbon_g, study.unconstrained_g - 1e-6);
  EXPECT_LT(study.unconstrained_g, study.run_now_g);
  EXPECT_GT(study.chip_most_c, 16);
  EXPECT_EQ(study.carbon_g, cooling_study(ci, 12, 5).carbon_g);
}

TEST(Simulator, WhatCantEndWithinTheSeriesIsLeftOut) {
  const auto result =
      simulate(days(1), {{0, 2, 1, 0}, {20, 2, 1, 0}}, waiting(WaitPolicy::run_now, 4, false));
  EXPECT_EQ(result.cells[0].jobs, 1U);
  EXPECT_EQ(result.left_out, 1U);
}

}  // namespace
}  // namespace tidewatt::studies
