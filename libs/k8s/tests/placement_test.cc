#include "tidewatt/k8s/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tidewatt::k8s {
namespace {

using Scores = std::vector<int>;

Candidate node(std::optional<double> grams, std::optional<double> power_left = 0.5) {
  return {grams ? std::optional{GramsPerKwh{*grams}} : std::nullopt, power_left};
}
Scores relative(const std::vector<Candidate>& nodes, std::optional<Tolerance> tolerance) {
  return scores(nodes, {}, tolerance);
}
Scores fixed(const std::vector<Candidate>& nodes, std::optional<Tolerance> tolerance) {
  ScoreRules rules;
  rules.mode = ScoreMode::fixed;
  return scores(nodes, rules, tolerance);
}

TEST(Placement, RelativeIsCarbonAndPowerByFlexibility) {
  // monthly: 10 x (0.6 carbon + 0.4 power)
  EXPECT_EQ(relative({node(100, 0.5), node(450, 0.5), node(800, 0.5)}, Tolerance::monthly),
            (Scores{8, 5, 2}));
  // daily: 0.48 and 0.52
  EXPECT_EQ(relative({node(100, 1.0), node(800, 1.0)}, Tolerance::daily), (Scores{10, 5}));
  // says nothing: 0.3 and 0.7
  EXPECT_EQ(relative({node(100, 0.5), node(800, 0.5)}, std::nullopt), (Scores{7, 4}));
}

TEST(Placement, ImmediateWorkLooksAtPowerAlone) {
  EXPECT_EQ(relative({node(100, 0.2), node(800, 0.9)}, Tolerance::immediate), (Scores{2, 9}));
  EXPECT_EQ(relative({node(100, 0.5), node(130, 0.5)}, Tolerance::immediate), (Scores{5, 5}));
}

TEST(Placement, FixedIsASumOfThreeParts) {
  // carbon 1 and 0, flexibility 1: 4 + 1.5 + 3 and 1.5 + 3
  EXPECT_EQ(fixed({node(20), node(800)}, Tolerance::monthly), (Scores{9, 5}));
  EXPECT_EQ(fixed({node(5, 1.0)}, Tolerance::monthly), (Scores{10}));
  // 10 x (0.4 x (1 - 180/780) + 0.3 x 0.25 + 0.3 x 0.5) = 5.33
  EXPECT_EQ(fixed({node(200, 0.25)}, Tolerance::immediate), (Scores{5}));
  EXPECT_EQ(fixed({node(200, 0.25)}, std::nullopt), (Scores{5}));
  EXPECT_EQ(fixed({node(200, 0.25)}, Tolerance::daily), (Scores{6}));
}

TEST(Placement, CleanerNodesOfEqualPowerNeverTie) {
  for (int percent = 0; percent <= 100; ++percent)
    for (const auto tolerance : {std::optional<Tolerance>{}, std::optional{Tolerance::daily},
                                 std::optional{Tolerance::weekly}, std::optional{Tolerance::monthly}}) {
      const double left = percent / 100.0;
      const auto two = fixed({node(100, left), node(130, left)}, tolerance);
      EXPECT_GT(two[0], two[1]) << percent;
      // A third one, far dirtier, leaves little between the two.
      for (const auto& three : {fixed({node(130, left), node(100, left), node(900, left)}, tolerance),
                                relative({node(130, left), node(100, left), node(900, left)}, tolerance)}) {
        EXPECT_GT(three[1], three[0]) << percent;
        EXPECT_GT(three[0], three[2]) << percent;
      }
    }
  EXPECT_EQ(fixed({node(100), node(130)}, Tolerance::immediate), (Scores{7, 6}));
}

TEST(Placement, UnknownPowerIsKnownPowerOfHalfTheBudgetNeverNone) {
  EXPECT_EQ(relative({node(100, std::nullopt), node(100, 0.5)}, Tolerance::daily), (Scores{7, 7}));
  EXPECT_EQ(relative({node(100, 1.0), node(100, std::nullopt), node(100, 0.0)}, Tolerance::immediate),
            (Scores{10, 5, 0}));
}

TEST(Placement, WithoutAnyIntensityPowerDecidesAlone) {
  const std::vector<Candidate> nodes{node(std::nullopt, 0.1), node(std::nullopt, 0.94),
                                     node(std::nullopt, std::nullopt)};
  EXPECT_EQ(relative(nodes, Tolerance::monthly), (Scores{1, 9, 5}));
  EXPECT_EQ(fixed(nodes, Tolerance::monthly), (Scores{1, 9, 5}));
}

TEST(Placement, OneNodeWithoutIntensityStandsBetweenCleanAndDirty) {
  EXPECT_EQ(relative({node(100), node(std::nullopt), node(800)}, Tolerance::monthly), (Scores{8, 5, 2}));
}

TEST(Placement, ManyIntensitiesKeepTheirOrder) {
  std::vector<Candidate> nodes;
  for (int i = 0; i < 5'000; ++i) nodes.push_back(node(20 + i % 300, 0.5));
  const auto all = relative(nodes, Tolerance::monthly);
  EXPECT_EQ(all.size(), 5'000U);
  for (std::size_t i = 1; i < 300; ++i) EXPECT_LE(all[i], all[i - 1]);
  EXPECT_EQ(*std::max_element(all.begin(), all.end()), 8);
  EXPECT_EQ(*std::min_element(all.begin(), all.end()), 2);
}

TEST(Placement, ElevenIntensitiesTakeAllScoresWhereTheyMust) {
  std::vector<Candidate> nodes;
  for (int i = 0; i < 11; ++i) nodes.push_back(node(300 + i, 0.0));
  EXPECT_EQ(fixed(nodes, Tolerance::immediate), (Scores{10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}));
}

TEST(Placement, MorePowerLeftNeverScoresLower) {
  for (const bool is_fixed : {false, true})
    for (int percent = 1; percent <= 100; ++percent) {
      const std::vector<Candidate> nodes{node(100, percent / 100.0), node(100, (percent - 1) / 100.0),
                                         node(110, 0.5), node(120, 0.5), node(700, 0.5)};
      const auto all = is_fixed ? fixed(nodes, Tolerance::daily) : relative(nodes, Tolerance::daily);
      EXPECT_GE(all[0], all[1]) << percent;
    }
}

TEST(Placement, NoNodesNoScoresAndOneNodeIsTheCleanest) {
  EXPECT_TRUE(relative({}, Tolerance::daily).empty());
  EXPECT_EQ(relative({node(900, 1.0)}, Tolerance::daily), (Scores{10}));
}

TEST(Tolerance, IsReadWhateverItsCase) {
  EXPECT_EQ(tolerance_from("Weekly"), Tolerance::weekly);
  EXPECT_EQ(tolerance_from("immediate"), Tolerance::immediate);
  for (const char* other : {"", "dail", "daily ", "yearly", "dailyy"})
    EXPECT_EQ(tolerance_from(other), std::nullopt) << other;
  EXPECT_EQ(slack_of(Tolerance::immediate), Milliseconds{0});
  EXPECT_EQ(slack_of(Tolerance::weekly), Milliseconds{7LL * 24 * 3600 * 1000});
}

}  // namespace
}  // namespace tidewatt::k8s
