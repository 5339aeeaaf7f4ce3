#include "../src/point_cache.h"

#include <gtest/gtest.h>

namespace tidewatt::emma {
namespace {

const carbon::SeriesIdentity kSeries{"DE", carbon::SignalKind::average, carbon::SignalBoundary::life_cycle,
                                     carbon::SignalBasis::consumption};

carbon::SignalBook book() {
  carbon::SignalBook out{kSeries};
  carbon::SignalPoint point;
  point.start = *parse_rfc3339("2026-03-10T12:00:00Z");
  point.end = point.start + std::chrono::hours{1};
  point.series = kSeries;
  point.intensity = carbon::CarbonIntensity{280.125};
  point.cfe_share = 0.25;
  out.take({point}, "em", point.start);
  point.intensity = carbon::CarbonIntensity{281};
  out.take({point}, "em", point.end);
  point.quality = carbon::SignalQuality::forecast;
  point.issued_at = point.start;
  out.take({point}, "em", point.end);
  return out;
}

TEST(PointCache, WhatIsReadIsWhatWasWritten) {
  const auto text = cache_text(book());
  const auto points = parse_cache(text, kSeries);
  ASSERT_TRUE(points) << points.error().to_string();
  ASSERT_EQ(points->size(), 3U);
  carbon::SignalBook again{kSeries};
  for (const auto& point : *points) again.restore(point);
  EXPECT_EQ(cache_text(again), text);
}

TEST(PointCache, AnyCutOrForeignTextIsRefused) {
  const auto text = cache_text(book());
  for (std::size_t size = 0; size + 2 < text.size(); ++size)
    EXPECT_FALSE(parse_cache(text.substr(0, size), kSeries)) << size;
  auto other = kSeries;
  other.boundary = carbon::SignalBoundary::direct;
  EXPECT_FALSE(parse_cache(text, other));
  EXPECT_FALSE(parse_cache(R"({"points":[[1]]})", kSeries));
}

}  // namespace
}  // namespace tidewatt::emma
