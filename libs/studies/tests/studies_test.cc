#include <gtest/gtest.h>

#include <random>

#include "tidewatt/studies/caiso.h"
#include "tidewatt/studies/eurosys24.h"
#include "tidewatt/studies/gaia.h"
#include "tidewatt/studies/wait_awhile.h"

namespace tidewatt::studies {
namespace {

TEST(Shifting, ChoosesByWhatIsSeenAndPaysWhatIs) {
  const std::vector<double> seen{5, 1, 4, 2, 3};
  const std::vector<double> paid{50, 10, 40, 90, 30};
  const auto sums = shift(seen, paid, 2);
  EXPECT_EQ(sums.at_once, 60);
  EXPECT_EQ(sums.one_window, 50);     // slots 1 and 2
  EXPECT_EQ(sums.interrupting, 100);  // slots 1 and 3
}

TEST(Shifting, OfEqualOnesTheEarliest) {
  const std::vector<double> seen{7, 7, 7, 7};
  const std::vector<double> paid{1, 2, 3, 4};
  const auto sums = shift(seen, paid, 2);
  EXPECT_EQ(sums.one_window, 3);
  EXPECT_EQ(sums.interrupting, 3);
}

TEST(Eurosys24, EqualsTheDefinitionOnRandomSeries) {
  std::mt19937 random{7};
  std::vector<double> hours;
  for (int i = 0; i < 300; ++i) hours.push_back(static_cast<double>(random() % 1000));
  for (const std::size_t job : {1U, 5U, 30U}) {
    Shifted sum;
    for (std::size_t start = 0; start < hours.size() - job; ++start) {
      const auto window = std::span{hours}.subspan(start, std::min(hours.size() - start, job + 24));
      sum += shift(window, window, job);
    }
    const auto starts = static_cast<double>(hours.size() - job);
    const auto row = eurosys24(hours, job, 24);
    EXPECT_NEAR(row.at_once, sum.at_once / starts, 1e-9);
    EXPECT_NEAR(row.one_window, sum.one_window / starts, 1e-9);
    EXPECT_NEAR(row.interrupting, sum.interrupting / starts, 1e-9);
  }
}

TEST(Gaia, AJobByHand) {
  // One hour of work at hour 0 (short queue: waits six hours at most), cleanest at hour 2.
  std::vector<double> hours(kGaiaHours, 400);
  hours[2] = 100;
  const auto row = gaia(hours, {{0, 3600, 2}});
  EXPECT_DOUBLE_EQ(row.at_once_cost, 2 * 0.4);
  EXPECT_DOUBLE_EQ(row.lowest_slot, 0.25);
  EXPECT_DOUBLE_EQ(row.lowest_window, 0.25);
  EXPECT_DOUBLE_EQ(row.oracle_window, 0.25);
  EXPECT_DOUBLE_EQ(row.carbon_time, 0.25);
  EXPECT_DOUBLE_EQ(row.wait_awhile, 0.25);
}

TEST(Gaia, EcovisorRunsOnceItsWaitIsUsedUp) {
  // Nothing lies below the threshold of a flat series: it waits six hours, then runs.
  std::vector<double> hours(kGaiaHours, 400);
  hours[6] = 800;
  EXPECT_DOUBLE_EQ(gaia(hours, {{0, 3600, 1}}).ecovisor, 2.0);
}

TEST(WaitAwhile, AJobWithoutSlackRunsAtOnce) {
  const std::vector<double> slots{9, 1, 1, 9};
  const auto tight = wait_awhile_study(slots, {{0, 2, 2}}, 0, 0);
  EXPECT_EQ(tight.one_window, tight.at_once);
  const auto loose = wait_awhile_study(slots, {{0, 2, 4}}, 0, 0);
  EXPECT_EQ(loose.one_window, 2);
}

TEST(WaitAwhile, TheErrorIsTheSameForASeed) {
  std::vector<double> slots;
  for (int i = 0; i < 200; ++i) slots.push_back(100 + i % 48);
  const std::vector<WaitingJob> jobs{{0, 8, 60}, {40, 8, 120}};
  EXPECT_EQ(wait_awhile_study(slots, jobs, 0.2, 3).one_window,
            wait_awhile_study(slots, jobs, 0.2, 3).one_window);
  EXPECT_GE(wait_awhile_study(slots, jobs, 0.2, 3).one_window,
            wait_awhile_study(slots, jobs, 0, 3).one_window);
}

TEST(ForecastStudy, AProfileIsTheWeekBefore) {
  // Two weeks of one day: the profile knows all.
  std::vector<double> actual;
  for (int i = 0; i < 24 * 14; ++i) actual.push_back(i % 24 == 3 ? 50 : 300);
  const std::vector<double> wrong(actual.size(), 1);
  const auto sums = forecast_study(actual, wrong, 24 * 7, 24 * 12, {{1, 23}}).front();
  EXPECT_EQ(sums.profile.one_window, sums.perfect.one_window);
  EXPECT_EQ(sums.forecast.one_window, sums.forecast.at_once);
  // The forecast's error is the same every day: learnt, once a week of waits has been judged.
  EXPECT_EQ(sums.no_harm.at_once, sums.perfect.at_once);
  EXPECT_LT(sums.no_harm.one_window, sums.no_harm.at_once);
}

TEST(ForecastStudy, TheRuleDoesNotLookAhead) {
  // What comes after an hour's window changes nothing about the hours before.
  std::mt19937 random{11};
  std::vector<double> actual;
  std::vector<double> forecast;
  for (int i = 0; i < 24 * 40; ++i) {
    actual.push_back(200 + 100 * (i % 24 < 8 ? 1 : 0) + static_cast<double>(random() % 100));
    forecast.push_back(actual.back() + static_cast<double>(random() % 120) - 60);
  }
  const auto before = forecast_study(actual, forecast, 24 * 20, 24 * 30, {{4, 12}}).front();
  for (std::size_t i = 24 * 30; i < actual.size(); ++i) actual[i] = forecast[i] = 5;
  const auto after = forecast_study(actual, forecast, 24 * 20, 24 * 30, {{4, 12}}).front();
  EXPECT_EQ(before.no_harm.one_window, after.no_harm.one_window);
  EXPECT_EQ(before.waits_interrupting, after.waits_interrupting);
  EXPECT_GT(before.waits_one_window, 0U);
}

}  // namespace
}  // namespace tidewatt::studies
