#include "tidewatt/carbon/accounting.h"

#include <gtest/gtest.h>

namespace tidewatt::carbon {
namespace {

const SeriesIdentity kAverage{"DE", SignalKind::average, SignalBoundary::direct, SignalBasis::consumption};
const UtcHour kMarch = hour_of(*parse_rfc3339("2026-03-01T00:00:00Z"));

/// 31 days: 400 g/kWh, at 10-15 h 200 g/kWh; the 29th unknown.
HourlySeries march() {
  HourlySeries series{kMarch, {}};
  for (int hour = 0; hour < 31 * 24; ++hour) {
    const int of_day = hour % 24;
    series.hours.emplace_back(of_day >= 10 && of_day < 16 ? 200.0 : 400.0);
    if (hour / 24 == 28) series.hours.back().reset();
  }
  return series;
}

/// 1 kWh each hour, at 10-15 h 3 kWh.
std::vector<HourOfEnergy> load() {
  std::vector<HourOfEnergy> out;
  for (int hour = 0; hour < 31 * 24; ++hour)
    out.push_back(
        {kMarch + std::chrono::hours{hour}, WattHours{hour % 24 >= 10 && hour % 24 < 16 ? 3000.0 : 1000.0}});
  return out;
}

TEST(Accounting, AMonthByTheHourAsWorkedOutByHand) {
  const auto got = by_hourly_signal(load(), kAverage, march());
  ASSERT_TRUE(got);
  // A day: 18 h x 1 kWh x 400 g + 6 h x 3 kWh x 200 g = 7200 + 3600 = 10800 g of 36 kWh. 30 days are known.
  EXPECT_DOUBLE_EQ(got->emitted.value(), 30 * 10'800);
  EXPECT_DOUBLE_EQ(got->covered.value(), 30 * 36'000);
  EXPECT_DOUBLE_EQ(got->without_intensity.value(), 36'000);
  EXPECT_DOUBLE_EQ(*got->carbon_coverage, 30.0 / 31);
  EXPECT_DOUBLE_EQ(got->used->value(), 300);
  // By time alone: (18 x 400 + 6 x 200) / 24.
  EXPECT_DOUBLE_EQ(got->time_mean->value(), 350);
  EXPECT_EQ(to_string(got->method), "hourly_signal");
}

TEST(Accounting, TheSameMonthByAnAnnualFactor) {
  Factor factor;
  factor.value = KilogramsPerKwh{0.38};
  const auto got = by_annual_factor(WattHours{31 * 36'000.0}, factor);
  // 1116 kWh x 0.38 kg.
  EXPECT_NEAR(got.emitted.value(), 424'080, 1e-6);
  EXPECT_EQ(to_string(got.method), "annual_factor");
}

TEST(Accounting, MissingHoursAreDisclosedNeverGuessed) {
  const std::vector<HourOfEnergy> energy{{kMarch - std::chrono::hours{1}, WattHours{500}}};
  const auto got = by_hourly_signal(energy, kAverage, march());
  ASSERT_TRUE(got);
  EXPECT_EQ(got->emitted.value(), 0);
  EXPECT_EQ(got->without_intensity.value(), 500);
  EXPECT_EQ(got->carbon_coverage, 0.0);
  EXPECT_FALSE(got->used);
  EXPECT_FALSE(got->time_mean);
  EXPECT_FALSE(by_hourly_signal({}, kAverage, march())->carbon_coverage);
}

TEST(Accounting, MarginalSeriesAndNegativeEnergyAreRefused) {
  auto marginal = kAverage;
  marginal.kind = SignalKind::marginal;
  EXPECT_FALSE(by_hourly_signal(load(), marginal, march()));
  const std::vector<HourOfEnergy> negative{{kMarch, WattHours{-1}}};
  EXPECT_FALSE(by_hourly_signal(negative, kAverage, march()));
}

TEST(Accounting, Scope2TakesNoLifeCycleAndNoUnknownBoundary) {
  auto series = kAverage;
  EXPECT_TRUE(may_enter_scope_2(series));
  for (const auto boundary : {SignalBoundary::life_cycle, SignalBoundary::unknown}) {
    series.boundary = boundary;
    EXPECT_FALSE(may_enter_scope_2(series));
  }
}

TEST(Money, AnH100sYearAtTheInternalPrice) {
  const WattHours year{6e6};
  const GramsCo2 at_400 = year * GramsPerKwh{400};
  const GramsCo2 at_150 = year * GramsPerKwh{150};
  EXPECT_DOUBLE_EQ(at_400.value(), 2.4e6);
  EXPECT_DOUBLE_EQ(at_150.value(), 0.9e6);
  EXPECT_DOUBLE_EQ(carbon_cost(at_400).value(), 192);
  const double saved = carbon_cost(at_400).value() - carbon_cost(at_150).value();
  EXPECT_DOUBLE_EQ(saved, 120);
  EXPECT_DOUBLE_EQ(saved * 8000, 960'000);
}

}  // namespace
}  // namespace tidewatt::carbon
