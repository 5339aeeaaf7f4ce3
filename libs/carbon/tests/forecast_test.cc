#include "tidewatt/carbon/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numbers>

namespace tidewatt::carbon {
namespace {

using std::chrono::sys_days;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr sys_days kStart = std::chrono::year{2023} / 1 / 2;

/// Numbers that look random and are the same everywhere.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_{seed} {}
  double uniform() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 11U) / 9007199254740992.0;
  }
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  std::uint64_t state_;
};

template <class F>
HourlySeries series_of(int days, F value) {
  HourlySeries series{kStart, {}};
  for (int hour = 0; hour < days * 24; ++hour) series.hours.emplace_back(value(hour));
  return series;
}

double day_cycle(int hour) { return 300 + 80 * std::sin(2 * std::numbers::pi * (hour % 24) / 24.0); }

/// A cycle times what wanders from day to day and hour to hour.
HourlySeries noisy(int days, std::uint64_t seed = 7) {
  Noise noise{seed};
  double wander = 0;
  return series_of(days, [&](int hour) {
    wander = 0.95 * wander + 0.05 * noise.normal();
    return day_cycle(hour) * std::exp(wander + 0.03 * noise.normal());
  });
}

Forecast forecast_of(const HourlySeries& series, const WeatherTable* weather = nullptr,
                     const ForecastOptions& options = {}) {
  auto fitted = Forecaster::fit(series, weather, options);
  EXPECT_TRUE(fitted.has_value()) << (fitted ? "" : fitted.error().to_string());
  auto said = fitted->predict();
  EXPECT_TRUE(said.has_value());
  return *said;
}

bool same(const Forecast& a, const Forecast& b) {
  if (a.points.size() != b.points.size()) return false;
  for (std::size_t i = 0; i < a.points.size(); ++i)
    if (a.points[i].expected != b.points[i].expected || a.points[i].p10 != b.points[i].p10 ||
        a.points[i].p90 != b.points[i].p90)
      return false;
  return true;
}

TEST(Forecaster, AFlatSeriesStaysFlat) {
  for (const int days : {9, 30, 120}) {
    const auto said = forecast_of(series_of(days, [](int) { return 250.0; }));
    for (const auto& point : said.points) {
      EXPECT_NEAR(point.expected.value(), 250, 0.5) << days;
      EXPECT_LE(point.p90.value() - point.p10.value(), 5) << days;
    }
  }
}

TEST(Forecaster, ASeriesOfZerosGivesNumbers) {
  for (const auto& point : forecast_of(series_of(90, [](int) { return 0.0; })).points)
    EXPECT_TRUE(point.expected.value() >= 0 && point.expected.value() < 0.1 &&
                std::isfinite(point.p90.value()));
}

TEST(Forecaster, APureDailyCycleGoesOn) {
  for (const int days : {12, 60, 200}) {
    const auto said = forecast_of(series_of(days, day_cycle));
    for (std::size_t h = 0; h < said.points.size(); ++h)
      EXPECT_NEAR(said.points[h].expected.value(), day_cycle(static_cast<int>(h)), 3) << days << " h " << h;
  }
}

TEST(Forecaster, IssuesAtTheEndOfTheHistoryAtAnyHour) {
  auto series = series_of(60, day_cycle);
  series.hours.resize(series.hours.size() - 7);
  const auto said = forecast_of(series);
  EXPECT_EQ(said.issued_at, start_of(series.end()));
  EXPECT_EQ(said.points.front().start, series.end());
  EXPECT_NEAR(said.points.front().expected.value(), day_cycle(17), 3);
}

TEST(Forecaster, GapsAnywhereAreBridged) {
  auto series = noisy(150);
  for (std::size_t i = 1000; i < 1100; ++i) series.hours[i].reset();
  for (std::size_t i = series.hours.size() - 5; i < series.hours.size(); ++i) series.hours[i].reset();
  for (const auto& point : forecast_of(series).points) {
    EXPECT_GT(point.expected.value(), 100);
    EXPECT_LT(point.expected.value(), 700);
  }
}

TEST(Forecaster, AStretchThatStandsStillIsNotLearntFrom) {
  auto series = noisy(150);
  const std::size_t end = series.hours.size();
  auto gap = series;
  for (std::size_t i = end - 60; i < end; ++i) series.hours[i] = 3.0;
  // But for the hours before a stretch can be told it reads as a gap does.
  for (std::size_t i = end - 60; i < end - 53; ++i) gap.hours[i] = 3.0;
  for (std::size_t i = end - 53; i < end; ++i) gap.hours[i].reset();
  EXPECT_TRUE(same(forecast_of(series), forecast_of(gap)));
}

TEST(Forecaster, TheBandIsInOrderAndWidensWithTheHorizon) {
  const auto said = forecast_of(noisy(200));
  double first = 0;
  double last = 0;
  for (std::size_t h = 0; h < said.points.size(); ++h) {
    const auto& point = said.points[h];
    EXPECT_LE(point.p10, point.p50);
    EXPECT_LE(point.p50, point.p90);
    const double width = point.p90 / point.p10;
    (h < 24 ? first : last) += h < 24 || h >= 72 ? width / 24 : 0;
  }
  EXPECT_GT(last, first);
}

TEST(Forecaster, TheSameInputGivesTheSameBytes) {
  EXPECT_TRUE(same(forecast_of(noisy(120)), forecast_of(noisy(120))));
}

TEST(Forecaster, WeatherBeyondWhatWasKnownIsNeverLookedAt) {
  const auto series = noisy(120);
  Noise noise{3};
  WeatherTable weather{series.begin, {"wind"}, {{}}};
  for (std::size_t i = 0; i < series.hours.size() + 96; ++i)
    weather.columns[0].emplace_back(5 + noise.normal());
  auto changed = weather;
  for (std::size_t i = series.hours.size() + 24; i < changed.columns[0].size(); ++i)
    changed.columns[0][i] = 99.0;
  EXPECT_TRUE(same(forecast_of(series, &weather), forecast_of(series, &changed)));
  auto known = weather;
  for (std::size_t i = series.hours.size(); i < series.hours.size() + 24; ++i) known.columns[0][i] = 9.0;
  EXPECT_FALSE(same(forecast_of(series, &weather), forecast_of(series, &known)));
  EXPECT_TRUE(same(forecast_of(series, &weather, {0}), forecast_of(series, &known, {0})));
}

TEST(Forecaster, WeatherThatDrivesTheSeriesHelps) {
  Noise noise{11};
  WeatherTable weather{UtcHour{kStart}, {"wind"}, {{}}};
  double wind = 0;
  const auto series = series_of(300, [&](int hour) {
    if (hour % 24 == 0) wind = noise.normal();
    weather.columns[0].emplace_back(8 + 2 * wind);
    return day_cycle(hour) * std::exp(-0.2 * wind);
  });
  const auto mape = [&](const WeatherTable* table) {
    const auto result =
        backtest(series, table, kStart + std::chrono::days{240}, kStart + std::chrono::days{290});
    EXPECT_TRUE(result.has_value());
    return *result->days[0].mape;
  };
  EXPECT_LT(mape(&weather), 0.5 * mape(nullptr));
}

TEST(Forecaster, RefusesWhatItCannotLearnFrom) {
  const auto error = [](const HourlySeries& series, const ForecastOptions& options = {}) {
    const auto fitted = Forecaster::fit(series, nullptr, options);
    return fitted ? std::string{} : fitted.error().to_string();
  };
  EXPECT_THAT(error(series_of(5, day_cycle)), HasSubstr("9 days"));
  EXPECT_THAT(error({}), HasSubstr("9 days"));
  auto holes = series_of(60, day_cycle);
  for (std::size_t i = 0; i < holes.hours.size(); ++i)
    if (i % 5 != 0) holes.hours[i].reset();
  EXPECT_THAT(error(holes), HasSubstr("more than half"));
  auto ended = series_of(60, day_cycle);
  for (std::size_t i = ended.hours.size() - 72; i < ended.hours.size(); ++i) ended.hours[i].reset();
  EXPECT_THAT(error(ended), HasSubstr("last 3 days"));
  EXPECT_THAT(error(series_of(60, day_cycle), {97}), HasSubstr("97 h"));
  const auto fitted = Forecaster::fit(series_of(60, day_cycle));
  EXPECT_FALSE(fitted->predict(0).has_value());
  EXPECT_FALSE(fitted->predict(97).has_value());
  EXPECT_EQ(fitted->predict(5)->points.size(), 5U);
}

TEST(Backtest, TheBandHoldsEightInTenHoursOfNoise) {
  const auto result =
      backtest(noisy(420), nullptr, kStart + std::chrono::days{220}, kStart + std::chrono::days{410});
  ASSERT_TRUE(result.has_value());
  for (const auto& day : result->days) {
    EXPECT_GT(*day.coverage_80, 0.74) << day.day;
    EXPECT_LT(*day.coverage_80, 0.86) << day.day;
  }
}

TEST(Backtest, BeatsTheBaselinesOnACycleWithNoise) {
  const auto result =
      backtest(noisy(400), nullptr, kStart + std::chrono::days{250}, kStart + std::chrono::days{390});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->issued, 141);
  for (std::size_t i = 0; i < result->days.size(); ++i) {
    EXPECT_LT(*result->days[i].mape, *result->daily_repeat[i]);
    EXPECT_LT(*result->days[i].mape, *result->persistence[i]);
  }
}

TEST(Backtest, ChangingTheFutureChangesNoForecast) {
  const auto series = noisy(260);
  const int issue = 230;
  const auto from = kStart + std::chrono::days{issue};
  // Day 1 alone is scored, so that only what is said matters; then everything from day 2 on is turned over.
  auto changed = series;
  Noise noise{99};
  for (std::size_t i = (issue + 1) * 24; i < changed.hours.size(); ++i)
    changed.hours[i] = i % 7 == 0 ? std::optional<double>{} : 1000 * noise.uniform();
  const auto a = backtest(series, nullptr, from, from, 24);
  const auto b = backtest(changed, nullptr, from, from, 24);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(*a->days[0].mape, *b->days[0].mape);
  EXPECT_EQ(*a->days[0].coverage_80, *b->days[0].coverage_80);
  // And a fit to the past alone says the same as a fit to a copy of it.
  auto past = series;
  past.hours.resize(issue * 24);
  auto past_of_changed = changed;
  past_of_changed.hours.resize(issue * 24);
  EXPECT_TRUE(same(forecast_of(past), forecast_of(past_of_changed)));
}

TEST(Backtest, SaysWhatAFitAtThatTimeWouldHaveSaid) {
  const auto series = noisy(260);
  const int issue = 230;
  auto past = series;
  past.hours.resize(issue * 24);
  const auto said = forecast_of(past);
  double mape = 0;
  for (std::size_t h = 0; h < 24; ++h) {
    const double actual = *series.hours[issue * 24 + h];
    mape += 100.0 / 24 * std::abs(said.points[h].expected.value() - actual) / actual;
  }
  const auto from = kStart + std::chrono::days{issue};
  const auto result = backtest(series, nullptr, from, from);
  ASSERT_TRUE(result.has_value());
  EXPECT_NEAR(*result->days[0].mape, mape, 1e-9);
}

TEST(Backtest, StartsAtMidnightWhereverTheSeriesStarts) {
  auto series = noisy(100);
  series.begin += std::chrono::hours{5};
  const auto result =
      backtest(series, nullptr, kStart + std::chrono::days{80}, kStart + std::chrono::days{85});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->issued, 6);
}

TEST(Backtest, AYoungSeriesGrowsUpOnTheWay) {
  const auto result =
      backtest(noisy(220), nullptr, kStart + std::chrono::days{20}, kStart + std::chrono::days{210});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->issued, 191);
  EXPECT_LT(*result->days[0].mape, *result->persistence[0]);
}

TEST(Backtest, HoursWithoutValueOrAtZeroAreNotScoredByMape) {
  auto series = noisy(100);
  const std::size_t at = 90 * 24;
  series.hours[at].reset();
  series.hours[at + 1] = 0.0;
  const auto day = kStart + std::chrono::days{90};
  const auto result = backtest(series, nullptr, day, day);
  ASSERT_TRUE(result.has_value());
  EXPECT_LT(*result->days[0].mape, 50);
  for (std::size_t i = at; i < at + 24; ++i) series.hours[i].reset();
  const auto unknown = backtest(series, nullptr, day, day);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(unknown.error().to_string(), HasSubstr("no hour of the test"));
}

TEST(Backtest, RefusesTestsOutsideTheSeries) {
  const auto series = noisy(60);
  EXPECT_FALSE(
      backtest(series, nullptr, kStart + std::chrono::days{3}, kStart + std::chrono::days{9}).has_value());
  EXPECT_FALSE(backtest(series, nullptr, kStart - std::chrono::days{30}, kStart).has_value());
  EXPECT_FALSE(
      backtest(series, nullptr, kStart + std::chrono::days{90}, kStart + std::chrono::days{95}).has_value());
  EXPECT_FALSE(
      backtest(series, nullptr, kStart + std::chrono::days{40}, kStart + std::chrono::days{30}).has_value());
}

}  // namespace
}  // namespace tidewatt::carbon
