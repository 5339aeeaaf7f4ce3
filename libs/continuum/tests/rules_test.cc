#include "tidewatt/continuum/rules.h"

#include <gtest/gtest.h>

namespace tidewatt::continuum {
namespace {

const UtcTime kStart{Milliseconds{1'800'000'000'000}};
UtcTime minute(int m) { return kStart + Milliseconds{60'000 * m}; }
using Signals = std::map<std::string, std::optional<double>>;
using Levels = std::vector<std::size_t>;

TEST(Rules, ReadAConditionAndSayWhatIsWrongWithOne) {
  const auto condition = parse_condition("load.shop < 10 for 30m");
  ASSERT_TRUE(condition);
  EXPECT_EQ(condition->signal, "load.shop");
  EXPECT_FALSE(condition->above);
  EXPECT_EQ(condition->lasting, Milliseconds{1'800'000});
  EXPECT_EQ(parse_condition("ci_g_per_kwh > 400")->lasting, Milliseconds{0});
  for (const char* text :
       {"", "x", "x = 1", "x < many", "x < 1 during 5m", "x < 1 for", "x < 1 for 5", "x < 1 for 5m more"}) {
    const auto wrong = parse_condition(text);
    ASSERT_FALSE(wrong) << text;
    EXPECT_FALSE(wrong.error().hint.empty());
  }
}

TEST(Rules, AllConditionsForTheirWholeTimeAndABreakBeginsAnew) {
  RuleBook book{{{{*parse_condition("load < 10 for 5m"), *parse_condition("ci > 400")}, {{1, 0}}}}};
  const Levels now{2, 2};
  EXPECT_FALSE(book.step({{"load", 3}, {"ci", 500}}, minute(0), now));
  EXPECT_FALSE(book.step({{"load", 3}, {"ci", 500}}, minute(4), now));
  EXPECT_EQ(book.step({{"load", 3}, {"ci", 500}}, minute(5), now), (Levels{2, 0}));
  EXPECT_FALSE(book.step({{"load", 3}, {"ci", 300}}, minute(6), now));
  EXPECT_EQ(book.step({{"load", 3}, {"ci", 500}}, minute(7), now), (Levels{2, 0}));
  EXPECT_FALSE(book.step({{"load", 11}, {"ci", 500}}, minute(8), now));
  EXPECT_FALSE(book.step({{"load", 3}, {"ci", 500}}, minute(9), now));
}

TEST(Rules, AnUnknownSignalFulfilsNothingAndTheFirstRuleWins) {
  RuleBook book{{{{*parse_condition("ci > 400")}, {{0, 0}}}, {{*parse_condition("ci > 100")}, {{0, 1}}}}};
  const Levels now{2};
  EXPECT_FALSE(book.step({{"ci", std::nullopt}}, minute(0), now));
  EXPECT_FALSE(book.step(Signals{}, minute(1), now));
  EXPECT_EQ(book.step({{"ci", 500}}, minute(2), now), Levels{0});
  EXPECT_EQ(book.step({{"ci", 200}}, minute(3), now), Levels{1});
}

}  // namespace
}  // namespace tidewatt::continuum
