#include "tidewatt/devol/arbitrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace tidewatt::devol {
namespace {

using testing::HasSubstr;

TEST(Arbitrate, WithoutConflictTheFirstOptionThatKeepsAllIsTaken) {
  const std::vector<Claim> claims{{"a", "x", Tier::gold, 1, 1, {0, 1, 1}, 0},
                                  {"b", "y", Tier::bronze, 1, 1, {1, 1, 1}, 0}};
  const auto target = arbitrate(claims, 3);
  ASSERT_TRUE(target);
  EXPECT_EQ(target->option, 1U);
  EXPECT_TRUE(target->given_up.empty());
}

TEST(Arbitrate, GoldGoesBeforeBronzeAndTheLoserIsToldWhy) {
  const std::vector<Claim> claims{{"shop", "p99(latency_ms) <= 150 over 5m", Tier::gold, 1, 1, {0, 1}, 0},
                                  {"batch", "mean(jobs) >= 3/s over 1m", Tier::bronze, 3, 1, {1, 0}, 2}};
  const auto target = arbitrate(claims, 2);
  ASSERT_TRUE(target);
  EXPECT_EQ(target->option, 1U);
  ASSERT_EQ(target->given_up.size(), 1U);
  EXPECT_EQ(target->given_up[0].claim, 1U);
  EXPECT_TRUE(target->given_up[0].possible);
  EXPECT_THAT(target->given_up[0].why, HasSubstr("of shop (gold"));
  EXPECT_THAT(target->given_up[0].why, HasSubstr("2 rounds"));
}

TEST(Arbitrate, PriceAndWeightDecideWithinATier) {
  std::vector<Claim> claims{{"a", "x", Tier::silver, 2, 1, {1, 0}, 0},
                            {"b", "y", Tier::silver, 1, 3, {0, 1}, 0}};
  EXPECT_EQ(arbitrate(claims, 2)->option, 1U);
  claims[0].weight = 4;
  EXPECT_EQ(arbitrate(claims, 2)->option, 0U);
}

TEST(Arbitrate, WhatNoOptionKeepsIsSaidToBeImpossible) {
  const std::vector<Claim> claims{{"a", "x", Tier::gold, 1, 1, {0, 0}, 5}};
  const auto target = arbitrate(claims, 2);
  ASSERT_TRUE(target);
  ASSERT_EQ(target->given_up.size(), 1U);
  EXPECT_FALSE(target->given_up[0].possible);
}

TEST(Arbitrate, RefusesFlagsOfAnotherLengthAndNoOptions) {
  const std::vector<Claim> claims{{"a", "x", Tier::gold, 1, 1, {1}, 0}};
  EXPECT_FALSE(arbitrate(claims, 2));
  EXPECT_FALSE(arbitrate({}, 0));
}

// Whatever the claims, one that some option keeps is kept within a bounded number of rounds.
TEST(Arbitrate, NobodyStarvesForEver) {
  std::mt19937_64 random{7};
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t options = 2 + random() % 4;
    std::vector<Claim> claims(2 + random() % 5);
    for (auto& claim : claims) {
      claim.tier = static_cast<Tier>(random() % 3);
      claim.weight = 1 + static_cast<double>(random() % 1000);
      claim.price = 1 + static_cast<double>(random() % 1000);
      claim.satisfied.assign(options, 0);
      claim.satisfied[random() % options] = 1;
    }
    std::vector<std::size_t> longest(claims.size(), 0);
    for (int round = 0; round < 1000; ++round) {
      const auto target = arbitrate(claims, options);
      ASSERT_TRUE(target);
      age(claims, *target);
      for (std::size_t i = 0; i < claims.size(); ++i)
        longest[i] = std::max(longest[i], claims[i].rounds_given_up);
    }
    // 16 x 1000 x 1000 x 6 rivals is 1.25^83; rivals age as well, one option after the other.
    for (const auto rounds : longest) EXPECT_LE(rounds, 100U);
  }
}

}  // namespace
}  // namespace tidewatt::devol
