// One interval's energy over the spans active in it.
#include "tidewatt/traces/split.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace tidewatt::traces {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

SpanTime second(double s) {
  return SpanTime{Nanoseconds{static_cast<std::int64_t>(s * static_cast<double>(kSecond))}};
}
ActiveSpan span(double begin, double end, int parent = -1) { return {{second(begin), second(end)}, parent}; }

TEST(SplitInterval, ExampleOfTheDocumentation) {
  // 10 s, 1,000 J: A runs 0..6 with its child B 2..5, C runs 5..8.
  const std::vector<ActiveSpan> spans{span(0, 6), span(2, 5, 0), span(5, 8)};
  const auto weights = weights_of({second(0), second(10)}, spans);
  EXPECT_EQ(weights.busy, 8 * kSecond);
  EXPECT_EQ(weights.idle, 2 * kSecond);
  EXPECT_EQ(weights.self, (std::vector<std::int64_t>{3 * kSecond, 3 * kSecond, 3 * kSecond}));
  const auto shares = split(1'000'000'000, weights);
  EXPECT_EQ(shares.no_span, 200'000'000);
  // 800 J in three equal parts: the microjoules that are left go to the earlier ones.
  EXPECT_EQ(shares.spans, (std::vector<std::int64_t>{266'666'667, 266'666'667, 266'666'666}));
}

TEST(SplitInterval, TimeWithoutASpanIsNobodys) {
  const auto shares = split(7, weights_of({second(0), second(1)}, {}));
  EXPECT_TRUE(shares.spans.empty());
  EXPECT_EQ(shares.no_span, 7);
}

TEST(SplitInterval, ASpanCountsWhereItIsWithinTheInterval) {
  const std::vector<ActiveSpan> spans{span(-5, 2), span(9, 50)};
  const auto weights = weights_of({second(0), second(10)}, spans);
  EXPECT_EQ(weights.self, (std::vector<std::int64_t>{2 * kSecond, 1 * kSecond}));
  EXPECT_EQ(weights.idle, 7 * kSecond);
}

TEST(SplitInterval, ChildrenThatOverlapAreTakenOutOnce) {
  const std::vector<ActiveSpan> spans{span(0, 10), span(1, 5, 0), span(3, 7, 0), span(6, 20, 0)};
  EXPECT_EQ(weights_of({second(0), second(10)}, spans).self[0], 1 * kSecond);
}

TEST(SplitInterval, SpansOfNoLengthWeighNothing) {
  const std::vector<ActiveSpan> spans{span(4, 4), span(4, 5)};
  const auto shares = split(1'000, weights_of({second(0), second(10)}, spans));
  EXPECT_EQ(shares.spans, (std::vector<std::int64_t>{0, 100}));
  EXPECT_EQ(shares.no_span, 900);
}

TEST(SplitInterval, SpansThatAreEachOthersChildrenStillGetTheirTimesEnergy) {
  const std::vector<ActiveSpan> spans{span(0, 5, 1), span(0, 5, 0), span(0, 5, 2)};
  const auto shares = split(1'001, weights_of({second(0), second(10)}, spans));
  EXPECT_EQ(std::accumulate(shares.spans.begin(), shares.spans.end(), shares.no_span), 1'001);
}

TEST(SplitIntervalProperty, PartsAddUpAndNoPartIsNegative) {
  std::mt19937_64 rng{20261130};
  for (int round = 0; round < 2'000; ++round) {
    const auto length = std::int64_t{1} + static_cast<std::int64_t>(rng() % (3'600 * kSecond));
    const SpanRange interval{SpanTime{Nanoseconds{0}}, SpanTime{Nanoseconds{length}}};
    std::vector<ActiveSpan> spans(rng() % 40);
    for (auto& one : spans) {
      const auto begin = static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(2 * length)) - length;
      const auto duration = static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(length));
      one.range = {SpanTime{Nanoseconds{begin}}, SpanTime{Nanoseconds{begin + duration}}};
      one.parent = static_cast<int>(rng() % (spans.size() + 1)) - 1;
    }
    const auto weights = weights_of(interval, spans);
    ASSERT_EQ(weights.busy + weights.idle, length);
    for (const auto self : weights.self) ASSERT_GE(self, 0);
    const auto energy = static_cast<std::int64_t>(rng() % 9'000'000'000'000'000'000U) >> (rng() % 60);
    const auto shares = split(energy, weights);
    ASSERT_GE(shares.no_span, 0);
    for (const auto share : shares.spans) ASSERT_GE(share, 0);
    ASSERT_EQ(std::accumulate(shares.spans.begin(), shares.spans.end(), shares.no_span), energy);
  }
}

}  // namespace
}  // namespace tidewatt::traces
