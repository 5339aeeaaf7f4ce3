#include "tidewatt/carbon/signal_chain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tidewatt/carbon/forecast_scores.h"
#include "tidewatt/carbon/onsite.h"

namespace tidewatt::carbon {
namespace {

using namespace std::chrono_literals;

constexpr Milliseconds kTtl = 1h;
const UtcTime kNow = *parse_rfc3339("2026-03-10T12:20:00Z");
const UtcTime kHourStart = *parse_rfc3339("2026-03-10T12:00:00Z");
const SeriesIdentity kSeries{"DE", SignalKind::average, SignalBoundary::life_cycle, SignalBasis::consumption};

SignalPoint point(UtcTime start, double grams, SignalQuality quality = SignalQuality::measured,
                  Milliseconds length = 1h) {
  SignalPoint out;
  out.start = start;
  out.end = start + length;
  out.intensity = CarbonIntensity{grams};
  out.quality = quality;
  out.series = kSeries;
  return out;
}

/// Hours of history that end with the hour before `end`, of 100 + hour of day.
SignalBook book_with(int hours, UtcTime end) {
  SignalBook book{kSeries};
  for (int back = hours; back >= 1; --back) {
    const UtcTime at = end - back * std::chrono::hours{1};
    book.take({point(at, 100 + static_cast<double>(at.time_since_epoch() / 1h % 24))}, "em", at);
  }
  return book;
}

TEST(Decide, TheValueOfThisSlotComesFirst) {
  auto book = book_with(300, kHourStart);
  book.take({point(kHourStart, 250)}, "em", kNow - 5min);
  book.take({point(kHourStart, 999, SignalQuality::forecast)}, "em", kNow);
  const auto got = decide(book, nullptr, kNow, kTtl, "");
  EXPECT_EQ(got.step, ChainStep::latest);
  EXPECT_EQ(got.value->point.intensity.value(), 250);
  EXPECT_EQ(got.age, 5min);
  EXPECT_EQ(got.degraded_reason, "");
  EXPECT_FALSE(got.stale);
}

TEST(Decide, AValueEndsWithItsSlotAndIsShownAsStaleUpToTheTtl) {
  SignalBook book{kSeries};
  book.take({point(kHourStart - 1h, 250)}, "em", kHourStart - 1h);
  const auto at_its_end = decide(book, nullptr, kHourStart, kTtl, "");
  EXPECT_EQ(at_its_end.step, ChainStep::off);
  ASSERT_TRUE(at_its_end.stale);
  EXPECT_EQ(at_its_end.stale->point.intensity.value(), 250);
  EXPECT_FALSE(decide(book, nullptr, kHourStart + kTtl, kTtl, "").stale);
  EXPECT_EQ(decide(book, nullptr, kHourStart - 1ms, kTtl, "").step, ChainStep::latest);
}

TEST(Decide, AForecastThatCoversNowComesSecondAndSaysSoWhenItIsOld) {
  auto book = book_with(300, kHourStart);
  book.take({point(kHourStart, 333, SignalQuality::forecast)}, "em", kNow - 2h);
  const auto old = decide(book, nullptr, kNow, kTtl, "em: timed_out");
  EXPECT_EQ(old.step, ChainStep::cached_forecast);
  EXPECT_EQ(old.value->point.intensity.value(), 333);
  EXPECT_NE(old.degraded_reason.find("em: timed_out"), std::string::npos);
  book.take({point(kHourStart, 334, SignalQuality::forecast)}, "em", kNow);
  EXPECT_EQ(decide(book, nullptr, kNow, kTtl, "").degraded_reason, "");
}

TEST(Decide, OurOwnForecastComesThirdAndTheProfileFourth) {
  const auto book = book_with(24 * 8, kHourStart - 30h);
  Forecast own{kHourStart - 30h, {}};
  for (int hour = 0; hour < 96; ++hour)
    own.points.push_back({own.issued_at + hour * std::chrono::hours{1}, GramsPerKwh{400}, GramsPerKwh{390},
                          GramsPerKwh{400}, GramsPerKwh{410}});
  const auto by_own = decide(book, &own, kNow, kTtl, "");
  EXPECT_EQ(by_own.step, ChainStep::own_forecast);
  EXPECT_EQ(by_own.value->point.intensity.value(), 400);
  EXPECT_EQ(by_own.value->point.quality, SignalQuality::forecast);
  EXPECT_EQ(by_own.age, kNow - own.issued_at);
  const auto by_profile = decide(book, nullptr, kNow, kTtl, "");
  EXPECT_EQ(by_profile.step, ChainStep::profile);
  EXPECT_EQ(by_profile.value->point.quality, SignalQuality::heuristic);
  EXPECT_EQ(by_profile.value->point.intensity.value(), 112);
  EXPECT_NE(by_profile.degraded_reason, "");
}

TEST(Decide, LessThanSevenDaysOfHistoryAreNoProfile) {
  EXPECT_EQ(decide(book_with(24 * 7 - 1, kHourStart - 2h), nullptr, kNow, kTtl, "").step, ChainStep::off);
  EXPECT_EQ(decide(book_with(24 * 7, kHourStart - 2h), nullptr, kNow, kTtl, "").step, ChainStep::profile);
  EXPECT_EQ(decide(book_with(24 * 7, kHourStart - 24h * 40), nullptr, kNow, kTtl, "").step, ChainStep::off);
}

TEST(Decide, WithoutAnythingCarbonAwarenessIsOffAndNoNumberIsMade) {
  const auto got = decide(SignalBook{kSeries}, nullptr, kNow, kTtl, "em: forbidden");
  EXPECT_EQ(got.step, ChainStep::off);
  EXPECT_FALSE(got.value);
  EXPECT_FALSE(got.age);
  EXPECT_NE(got.degraded_reason.find("off"), std::string::npos);
}

TEST(NextFetch, IsTheSlotsEndAndAMinuteWhenNoSlotHoldsNow) {
  SignalBook book{kSeries};
  EXPECT_EQ(next_fetch(book, kNow, kTtl), kNow + 1min);
  book.take({point(kHourStart, 250)}, "em", kNow);
  EXPECT_EQ(next_fetch(book, kNow, kTtl), kHourStart + 1h);
  EXPECT_EQ(next_fetch(book, kNow, 10min), kNow + 10min);
}

TEST(NextFetch, AStaticFactorDoesNotKeepTheOthersFromBeingTried) {
  SignalBook book{kSeries};
  book.take({point(kHourStart, 250, SignalQuality::fixed)}, "static", kNow);
  EXPECT_EQ(next_fetch(book, kNow, kTtl), kNow + 1min);
}

TEST(SignalBook, RestatedHistoryKeepsWhatWasUsedWithItsRevision) {
  SignalBook book{kSeries};
  EXPECT_EQ(book.take({point(kHourStart, 250, SignalQuality::estimated)}, "em", kNow).fresh, 1U);
  EXPECT_EQ(book.take({point(kHourStart, 250, SignalQuality::estimated)}, "em", kNow + 1h).restated, 0U);
  EXPECT_EQ(book.take({point(kHourStart, 262)}, "em", kNow + 24h).restated, 1U);
  const UtcRange all{kHourStart, kHourStart + 1h};
  const auto revisions = book.history(all, true);
  ASSERT_EQ(revisions.size(), 2U);
  EXPECT_EQ(revisions[0].point.intensity.value(), 250);
  EXPECT_EQ(revisions[0].revision, 1);
  EXPECT_EQ(revisions[1].revision, 2);
  ASSERT_EQ(book.history(all).size(), 1U);
  EXPECT_EQ(book.history(all)[0].point.intensity.value(), 262);
}

TEST(SignalBook, AnotherProviderDoesNotRestateWhatTheFirstSaid) {
  SignalBook book{kSeries};
  book.take({point(kHourStart, 250)}, "em", kNow);
  EXPECT_EQ(book.take({point(kHourStart, 300)}, "csv", kNow + 1h).restated, 0U);
  EXPECT_EQ(book.known_at(kNow)->point.intensity.value(), 250);
}

TEST(SignalBook, AStaticFactorGivesWayAndIsNoHistory) {
  SignalBook book{kSeries};
  book.take({point(kHourStart, 400, SignalQuality::fixed)}, "static", kNow);
  EXPECT_TRUE(book.hourly(kNow + 1h).hours.empty());
  book.take({point(kHourStart, 250)}, "em", kNow + 1min);
  EXPECT_EQ(book.known_at(kNow)->provider, "em");
}

TEST(SignalBook, SeriesThatDifferInKindBoundaryOrBasisAreNeverJoined) {
  for (auto change : {+[](SeriesIdentity& id) { id.kind = SignalKind::marginal; },
                      +[](SeriesIdentity& id) { id.boundary = SignalBoundary::direct; },
                      +[](SeriesIdentity& id) { id.basis = SignalBasis::production; }}) {
    SignalBook book{kSeries};
    auto other = point(kHourStart, 250);
    change(other.series);
    EXPECT_EQ(book.take({other}, "em", kNow).foreign, 1U);
    EXPECT_FALSE(book.known_at(kNow));
  }
}

TEST(SignalBook, AbsurdPointsAreNotTaken) {
  SignalBook book{kSeries};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(book.take({point(kHourStart, nan), point(kHourStart, -1), point(kHourStart, 2e5),
                       point(kHourStart, 1, SignalQuality::measured, 0ms),
                       point(kHourStart, 1, SignalQuality::measured, 24h * 365)},
                      "em", kNow)
                .unusable,
            5U);
}

TEST(SignalBook, ShortSlotsBecomeMeansOfHoursAndHalfKnownHoursCount) {
  SignalBook book{kSeries};
  for (int i = 0; i < 6; ++i)
    book.take({point(kHourStart + i * 10min, 100 + 10 * i, SignalQuality::measured, 10min)}, "em", kNow);
  book.take({point(kHourStart + 1h, 500, SignalQuality::measured, 10min)}, "em", kNow);
  const auto series = book.hourly(kHourStart + 3h);
  ASSERT_EQ(series.hours.size(), 1U);
  EXPECT_DOUBLE_EQ(*series.hours[0], 125);
}

TEST(ForecastScores, TheForecasterThatDidBetterIsUsed) {
  ForecastScores scores;
  std::vector<SaidPoint> good;
  std::vector<SaidPoint> bad;
  for (int hour = 0; hour < 96; ++hour) {
    const UtcTime at = kHourStart + hour * std::chrono::hours{1};
    good.push_back({at, at + 1h, 110});
    bad.push_back({at, at + 1h, hour < 24 ? 105.0 : 150.0});
  }
  scores.said("own", kHourStart, good);
  scores.said("em", kHourStart, bad);
  EXPECT_EQ(scores.better("em", "own", 1, "em"), "em");
  for (int hour = 0; hour < 96; ++hour) scores.came(kHourStart + hour * std::chrono::hours{1}, 100);
  scores.came(kHourStart, 1e9);
  EXPECT_EQ(scores.better("em", "own", 1, "own"), "em");
  EXPECT_EQ(scores.better("em", "own", 2, "em"), "own");
  EXPECT_NEAR(scores.record("own", 4)->error, 0.10, 1e-9);
  EXPECT_FALSE(scores.record("own", 5));
}

TEST(SiteIntensity, IsTheMeanOfWhatFlowedByPower) {
  const SiteFlows flows{Watts{30'000}, Watts{0}, Watts{10'000}, Watts{60'000}};
  const SiteFactors factors{CarbonIntensity{400}, CarbonIntensity{100}, CarbonIntensity{0},
                            CarbonIntensity{0}};
  // 60 % of 400 and 10 % of 100.
  EXPECT_DOUBLE_EQ(site_intensity(flows, factors)->value(), 250);
}

TEST(SiteIntensity, IsUnknownWhereAFlowsIntensityIs) {
  EXPECT_FALSE(site_intensity({Watts{1}, Watts{0}, Watts{0}, Watts{1}}, {}));
  EXPECT_EQ(site_intensity({Watts{1}, Watts{0}, Watts{0}, Watts{0}}, {})->value(), 0);
  EXPECT_FALSE(site_intensity({}, {CarbonIntensity{400}, {}, {}, {}}));
}

}  // namespace
}  // namespace tidewatt::carbon
