#include "tidewatt/planning/planner.h"

#include <gtest/gtest.h>

#include <random>

#include "brute_force.h"

namespace tidewatt::planning {
namespace {

/// One zone of hourly intensities, one site.
Problem hourly(const std::vector<double>& ci) {
  Problem problem;
  problem.start = parse_rfc3339("2026-02-03T00:00:00Z").value();
  Zone zone;
  zone.name = "A";
  zone.ci = ci;
  zone.known.assign(ci.size(), Known::known);
  problem.zones = {zone};
  Site site;
  site.id = "s";
  site.pue = {1.0};
  problem.sites = {site};
  problem.slots = ci.size();
  return problem;
}

Job job(const std::string& id, Minute hours, double kw, Minute deadline_hours) {
  Job result;
  result.id = id;
  result.duration = 60 * hours;
  result.power_kw = kw;
  result.deadline = 60 * deadline_hours;
  result.sites = {0};
  return result;
}

TEST(Planner, ASingleJobEqualsTheBestOfAllItsPlans) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    std::mt19937_64 random{seed};
    EXPECT_EQ(brute::difference(brute::random_problem(random)), "") << "seed " << seed;
  }
}

TEST(Planner, TakesTheCleanestWindow) {
  auto problem = hourly({300, 100, 120, 300});
  problem.jobs = {job("a", 2, 3, 4)};
  const auto answer = plan(problem, nullptr);
  EXPECT_EQ(answer.jobs[0].segments, (Segments{{0, 60, 180, 3, 1}}));
  EXPECT_NEAR(answer.carbon_g, 3 * 100 + 3 * 120, 1e-9);
  EXPECT_NEAR(answer.baseline_carbon_g, 3 * 300 + 3 * 100, 1e-9);
  EXPECT_NEAR(answer.lower_bound_g.value(), 660, 1e-9);
}

TEST(Planner, EqualIntensitiesRunEarliestAndWhole) {
  auto problem = hourly({100, 100, 100, 100});
  problem.jobs = {job("a", 2, 1, 4)};
  problem.jobs[0].interruptible = true;
  EXPECT_EQ(plan(problem, nullptr).jobs[0].segments, (Segments{{0, 0, 120, 1, 1}}));
}

TEST(Planner, TheCapIsNeverExceededAndTheBoundIsBelowThePlan) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random{seed};
    std::vector<double> ci;
    for (int k = 0; k < 12; ++k) ci.push_back(static_cast<double>(100 + random() % 200));
    auto problem = hourly(ci);
    problem.sites[0].cap_kw = {10.0};
    for (int i = 0; i < 6; ++i) {
      auto each = job("j" + std::to_string(i), 1 + static_cast<Minute>(random() % 3),
                      static_cast<double>(2 + random() % 6), 12);
      each.interruptible = random() % 2 == 0;
      problem.jobs.push_back(each);
    }
    const auto answer = plan(problem, nullptr);
    for (Minute at = 0; at < 24 * 60; at += 60) {
      double kw = 0;
      for (const auto& each : answer.jobs)
        for (const auto& piece : each.segments) kw += piece.begin <= at && at < piece.end ? piece.kw : 0;
      EXPECT_LE(kw, 10 + 1e-9) << "seed " << seed << " minute " << at;
    }
    if (answer.lower_bound_g) {
      EXPECT_LE(*answer.lower_bound_g, answer.carbon_g + 1e-6) << "seed " << seed;
    }
  }
}

TEST(Planner, WhatCannotBeOnTimeRunsAtOnceAndIsNamed) {
  auto problem = hourly({300, 100, 100, 100});
  problem.jobs = {job("a", 3, 1, 2)};
  const auto answer = plan(problem, nullptr);
  EXPECT_EQ(answer.jobs[0].status, JobStatus::infeasible);
  EXPECT_EQ(answer.jobs[0].reason, "deadline_before_duration");
  EXPECT_EQ(answer.jobs[0].late_minutes, 60);
  EXPECT_EQ(answer.jobs[0].segments.front().begin, 0);
  EXPECT_EQ(answer.jobs[0].savings_g, 0);
}

TEST(Planner, WhatIsAboveEveryCapDoesNotRun) {
  auto problem = hourly({300, 100});
  problem.sites[0].cap_kw = {5.0};
  problem.jobs = {job("a", 1, 6, 2)};
  const auto answer = plan(problem, nullptr);
  EXPECT_EQ(answer.jobs[0].reason, "power_over_cap");
  EXPECT_TRUE(answer.jobs[0].segments.empty());
  EXPECT_EQ(answer.baseline_carbon_g, 0);
}

TEST(Planner, AnEventLowersTheCapForItsTime) {
  auto problem = hourly({300, 100, 200});
  problem.sites[0].events = {{60, 120, 0.5}};
  problem.jobs = {job("a", 1, 1, 3)};
  EXPECT_EQ(plan(problem, nullptr).jobs[0].segments.front().begin, 120);
}

TEST(Planner, DevicesAreSharedLikeACap) {
  auto problem = hourly({300, 100, 200});
  problem.sites[0].devices = 1;
  problem.jobs = {job("a", 1, 1, 3), job("b", 1, 1, 3)};
  problem.jobs[0].devices = problem.jobs[1].devices = 1;
  const auto answer = plan(problem, nullptr);
  EXPECT_NE(answer.jobs[0].segments.front().begin, answer.jobs[1].segments.front().begin);
  EXPECT_NEAR(answer.carbon_g, 300, 1e-9);
}

TEST(Planner, ImmediateWorkIsNeverDelayed) {
  auto problem = hourly({300, 100, 200});
  problem.jobs = {job("a", 1, 1, 3)};
  problem.jobs[0].tolerance = Tolerance::immediate;
  EXPECT_EQ(plan(problem, nullptr).jobs[0].segments.front().begin, 0);
}

TEST(Planner, PriceDecidesOnlyThroughWeights) {
  auto problem = hourly({200, 100});
  problem.zones[0].price = {-1.0, 5.0};
  problem.jobs = {job("a", 1, 1, 2)};
  EXPECT_EQ(plan(problem, nullptr).jobs[0].segments.front().begin, 60);
  problem.weights = Weights{0, 1, 0, 0};
  const auto answer = plan(problem, nullptr);
  EXPECT_EQ(answer.jobs[0].segments.front().begin, 0);
  EXPECT_NEAR(answer.objective.value(), -1, 1e-9);
  EXPECT_NEAR(answer.lower_bound_g.value(), 100, 1e-9);
}

TEST(Planner, UnknownSlotsAreTheLastResort) {
  auto problem = hourly({0, 400, 0});
  problem.zones[0].known = {Known::unknown, Known::known, Known::unknown};
  problem.jobs = {job("a", 2, 1, 3)};
  const auto answer = plan(problem, nullptr);
  EXPECT_EQ(answer.jobs[0].segments.front().begin, 0);
  EXPECT_NEAR(answer.jobs[0].carbon_coverage, 0.5, 1e-12);
  EXPECT_FALSE(answer.jobs[0].savings_g);
  EXPECT_EQ(answer.quality, "partial");
}

TEST(Planner, RobustWithoutARecordIsJoint) {
  auto problem = hourly({300, 100, 120, 300});
  problem.jobs = {job("a", 2, 3, 4)};
  const auto joint = plan(problem, nullptr).jobs[0].segments;
  problem.policy = Policy::robust;
  problem.do_no_harm = true;
  EXPECT_EQ(plan(problem, nullptr).jobs[0].segments, joint);
}

TEST(Planner, AForecastThatIsAllErrorKeepsRunNow) {
  auto problem = hourly({110, 100, 105, 115});
  problem.zones[0].error = ErrorRecord{{0, 24}, {80, 80}, 0.5};
  problem.jobs = {job("a", 2, 3, 4)};
  problem.policy = Policy::robust;
  problem.do_no_harm = true;
  EXPECT_EQ(plan(problem, nullptr).jobs[0].segments.front().begin, 0);
}

TEST(Planner, ABudgetThatIsExceededIsReported) {
  auto problem = hourly({100});
  problem.jobs = {job("a", 1, 3, 1)};
  problem.jobs[0].team = "ml";
  problem.budgets = {{"ml", 250}};
  EXPECT_NEAR(plan(problem, nullptr).over_budget.at("ml"), 50, 1e-9);
}

TEST(Planner, TheSameProblemGivesTheSameBytes) {
  auto problem = hourly({300, 100, 120, 300, 90, 80});
  problem.sites[0].cap_kw = {4.0};
  for (int i = 0; i < 8; ++i) problem.jobs.push_back(job("j" + std::to_string(i), 1, 2, 6));
  EXPECT_EQ(to_json(problem, plan(problem, nullptr)), to_json(problem, plan(problem, nullptr)));
}

/// Forty days of a clean night hour that the forecaster places by `foreseen`.
ForecastPast forty_days(std::size_t clean_hour, const std::vector<double>& noise) {
  ForecastPast past;
  for (std::size_t i = 0; i < std::size_t{40} * 24; ++i) {
    past.actual.push_back(noise.empty() ? (i % 24 == clean_hour ? 100 : 400) : 250);
    past.foreseen.push_back(noise.empty() ? past.actual.back() : noise[i % noise.size()]);
  }
  return past;
}

TEST(DoNoHarm, AForecasterWhoseWaitsHaveSavedIsFollowed) {
  auto problem = hourly({400, 400, 400, 100, 400, 400, 400, 400});
  problem.jobs = {job("a", 1, 2, 8)};
  problem.do_no_harm = true;
  problem.zones[0].past = forty_days(3, {});
  EXPECT_EQ(plan(problem, nullptr).jobs[0].segments, (Segments{{0, 180, 240, 2, 1}}));
}

TEST(DoNoHarm, AForecasterWhoseWaitsHaveSavedNothingIsNot) {
  // It foresees troughs at changing hours where intensity is even.
  std::mt19937 random{9};
  std::vector<double> noise;
  for (int i = 0; i < 24 * 40; ++i) noise.push_back(100 + static_cast<double>(random() % 300));
  auto problem = hourly({400, 400, 400, 100, 400, 400, 400, 400});
  problem.jobs = {job("a", 1, 2, 8)};
  problem.do_no_harm = true;
  problem.zones[0].past = forty_days(3, noise);
  const auto answer = plan(problem, nullptr);
  EXPECT_EQ(answer.jobs[0].segments, (Segments{{0, 0, 60, 2, 1}}));
  ASSERT_EQ(answer.jobs[0].notes.size(), 1U);
  problem.policy = Policy::robust;
  EXPECT_EQ(plan(problem, nullptr).jobs[0].segments, (Segments{{0, 0, 60, 2, 1}}));
}

TEST(DoNoHarm, WhereWorkMovesToAnotherZoneTheExpectationDecides) {
  std::vector<double> noise{100, 300, 200, 380, 150};
  auto problem = hourly({400, 400, 400, 400});
  problem.zones.push_back(problem.zones[0]);
  problem.zones[1].name = "B";
  problem.zones[1].ci = {50, 50, 50, 50};
  problem.sites.push_back(problem.sites[0]);
  problem.sites[1].id = "t";
  problem.sites[1].zone = 1;
  problem.jobs = {job("a", 1, 2, 1)};
  problem.jobs[0].sites = {0, 1};
  problem.do_no_harm = true;
  problem.zones[0].past = forty_days(0, noise);
  EXPECT_EQ(plan(problem, nullptr).jobs[0].segments.front().site, 1);
}

}  // namespace
}  // namespace tidewatt::planning
