#include "tidewatt/devol/objective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidewatt::devol {
namespace {

using testing::HasSubstr;

TEST(Objective, ReadsTheThreeOfTheDocumentation) {
  const auto latency = parse_objective("p99(latency_ms) <= 150 over 5m weight 3 tier gold");
  ASSERT_TRUE(latency) << latency.error().to_string();
  EXPECT_EQ(latency->statistic, Statistic::percentile);
  EXPECT_EQ(latency->percentile, 99);
  EXPECT_EQ(latency->metric, "latency_ms");
  EXPECT_EQ(latency->relation, Relation::at_most);
  EXPECT_EQ(latency->threshold, 150);
  EXPECT_EQ(latency->window, Milliseconds{300'000});
  EXPECT_EQ(latency->weight, 3);
  EXPECT_EQ(latency->tier, Tier::gold);

  const auto stalls = parse_objective("rate(stalls) < 0.1% over 5m");
  ASSERT_TRUE(stalls);
  EXPECT_EQ(stalls->statistic, Statistic::rate);
  EXPECT_EQ(stalls->unit, ThresholdUnit::percent);
  EXPECT_EQ(stalls->relation, Relation::below);
  EXPECT_EQ(stalls->tier, Tier::silver);

  const auto throughput = parse_objective("mean(throughput) >= 100/s over 1m");
  ASSERT_TRUE(throughput);
  EXPECT_EQ(throughput->unit, ThresholdUnit::per_second);
  EXPECT_EQ(throughput->relation, Relation::at_least);
}

TEST(Objective, TextReadsBackAsTheSame) {
  for (const char* text :
       {"p99.9(a.b_c) > -2.5 over 90s weight 0.0000001 tier bronze", "min(x) >= 1e-12 over 31d",
        "  max( x )<5over 2h tier gold weight 7 ", "rate(x) <= 3/s over 1s"}) {
    const auto objective = parse_objective(text);
    ASSERT_TRUE(objective) << text << ": " << objective.error().to_string();
    const auto again = parse_objective(to_text(*objective));
    ASSERT_TRUE(again) << to_text(*objective);
    EXPECT_EQ(*again, *objective) << to_text(*objective);
  }
}

struct Mistake {
  const char* text;
  const char* position;
  const char* what_to_write;
};

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, NameThePlaceAndWhatToWrite) {
  const auto& [text, position, what_to_write] = GetParam();
  const auto objective = parse_objective(text);
  ASSERT_FALSE(objective) << text;
  EXPECT_THAT(objective.error().message, testing::StartsWith(std::string{position} + ":")) << text;
  EXPECT_THAT(objective.error().hint, HasSubstr(what_to_write)) << text;
}

INSTANTIATE_TEST_SUITE_P(Objective, Mistakes,
                         testing::Values(Mistake{"latency_ms <= 150 over 5m", "column 1", "p99(latency_ms)"},
                                         Mistake{"p99(latency_ms) <= 150", "column 23", "over 5m"},
                                         Mistake{"median(x) <= 1 over 5m", "column 1", "percentiles"},
                                         Mistake{"p0(x) <= 1 over 5m", "column 1", "p1 to p100"},
                                         Mistake{"p99() <= 1 over 5m", "column 5", "spec"},
                                         Mistake{"p99(x <= 1 over 5m", "column 7", "write )"},
                                         Mistake{"p99(x) = 1 over 5m", "column 8", "<="},
                                         Mistake{"p99(x) <= many over 5m", "column 11", "150"},
                                         Mistake{"p99(x) <= 150ms over 5m", "column 14", "metric's name"},
                                         Mistake{"rate(x) <= 1 over 5m", "column 13", "/s"},
                                         Mistake{"rate(x) <= 101% over 5m", "column 12", "100"},
                                         Mistake{"p99(x) <= 1 over 5", "column 18", "5m"},
                                         Mistake{"p99(x) <= 1 over 10ms", "column 18", "5m"},
                                         Mistake{"p99(x) <= 1 over 5m weight 0", "column 28", "weight 3"},
                                         Mistake{"p99(x) <= 1 over 5m tier iron", "column 26", "bronze"},
                                         Mistake{"p99(x) <= 1 over 5m tier gold tier gold", "column 31",
                                                 "once"},
                                         Mistake{"p99(x) <= 1 over 5m please", "column 21", "weight N"},
                                         Mistake{"", "column 1", "p99(latency_ms)"}));

TEST(Objective, TooLongIsRefused) { EXPECT_FALSE(parse_objective(std::string(kLongestObjective + 1, 'a'))); }

}  // namespace
}  // namespace tidewatt::devol
