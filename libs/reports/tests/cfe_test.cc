#include "tidewatt/reports/cfe.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tidewatt::reports {
namespace {

const UtcHour kStart = hour_of(*parse_rfc3339("2026-03-01T00:00:00Z"));

CfeHour hour(int at, double load, double contracted, std::optional<double> share) {
  return {kStart + std::chrono::hours{at}, load, contracted, share};
}

TEST(Cfe, SurplusOfAnHourServesNoOther) {
  // min(10, 20 + ..) = 10; 4 + 0.5 x 6 = 7; 0 + 0.25 x 10 = 2.5: 19.5 of 30. The mean of hourly shares would
  // be the same here; the next hour makes them differ.
  std::vector<CfeHour> hours{hour(0, 10, 20, 0.1), hour(1, 10, 4, 0.5), hour(2, 10, 0, 0.25)};
  EXPECT_DOUBLE_EQ(*match_hourly(hours)->share, 0.65);
  hours.push_back(hour(3, 70, 0, 0.0));
  const auto match = match_hourly(hours);
  EXPECT_DOUBLE_EQ(*match->share, 0.195);
  EXPECT_DOUBLE_EQ(*match->hourly[1], 0.7);
}

TEST(Cfe, AnUnknownGridShareIsNoZero) {
  const std::vector<CfeHour> hours{hour(0, 10, 0, std::nullopt), hour(1, 10, 12, std::nullopt),
                                   hour(2, 10, 0, 0.5)};
  const auto match = match_hourly(hours);
  EXPECT_DOUBLE_EQ(*match->share, 0.75);
  EXPECT_DOUBLE_EQ(match->unknown_load_kwh, 10);
  EXPECT_FALSE(match->hourly[0]);
  EXPECT_FALSE(match_hourly(std::vector<CfeHour>{hour(0, 10, 0, std::nullopt)})->share);
  EXPECT_FALSE(match_hourly({})->share);
}

TEST(Cfe, HoursThatCantBeAreRefused) {
  for (const auto& bad : {hour(0, -1, 0, 0.5), hour(0, 1, -1, 0.5), hour(0, 1, 0, 1.5), hour(0, NAN, 0, 0.5)})
    EXPECT_FALSE(match_hourly(std::vector<CfeHour>{bad}));
}

TEST(Battery, MovesSurplusIntoTheNextShortHours) {
  // Surplus 10 kWh, 8 kW of charging: 8 x 0.75 = 6 kWh stored; 4 and then 2 kWh given.
  const std::vector<CfeHour> hours{hour(0, 10, 20, 0.0), hour(1, 4, 0, 0.0), hour(2, 6, 0, 0.0)};
  const auto run = run_battery(hours, {20, 8, 0.75, 0.05});
  ASSERT_TRUE(run);
  EXPECT_DOUBLE_EQ(run->charged_kwh, 8);
  EXPECT_DOUBLE_EQ(run->delivered_kwh, 6);
  EXPECT_DOUBLE_EQ(*run->without.share, 0.5);
  EXPECT_DOUBLE_EQ(*run->with.share, 0.8);
  EXPECT_NEAR(*run->added_share, 0.3, 1e-12);
  EXPECT_DOUBLE_EQ(run->cost, 0.3);
  EXPECT_EQ(run->level_kwh, (std::vector<double>{6, 2, 0}));
}

TEST(Battery, HoldsNoMoreThanItsCapacityAndTakesNothingFromTheGrid) {
  const std::vector<CfeHour> hours{hour(0, 0, 100, 0.9), hour(1, 10, 0, 0.9), hour(2, 10, 0, 0.9)};
  const auto run = run_battery(hours, {5, 50, 0.5, 0});
  EXPECT_DOUBLE_EQ(run->charged_kwh, 10);
  EXPECT_DOUBLE_EQ(run->delivered_kwh, 5);
  // An empty battery in a clean grid stays empty: no surplus under contract, nothing charged.
  const std::vector<CfeHour> grid{hour(0, 10, 0, 1.0), hour(1, 10, 0, 0.0)};
  EXPECT_EQ(run_battery(grid, {5, 50, 0.5, 0})->delivered_kwh, 0);
}

TEST(Battery, ThatCantBeIsRefused) {
  for (const auto& bad :
       {Battery{-1, 1, 0.9, 0}, Battery{1, -1, 0.9, 0}, Battery{1, 1, 0, 0}, Battery{1, 1, 1.1, 0}})
    EXPECT_FALSE(run_battery({}, bad));
}

}  // namespace
}  // namespace tidewatt::reports
