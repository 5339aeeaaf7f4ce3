#include "tidewatt/inference/choice.h"

#include <gtest/gtest.h>

#include <set>

#include "models.h"
#include "tidewatt/inference/chance.h"
#include "tidewatt/inference/preferences.h"

namespace tidewatt::inference {
namespace {

using Flags = std::vector<std::uint8_t>;

TEST(Chooser, NeverLeavesTheMaskAndHoldsWhenNothingIsAllowed) {
  Chooser chooser{7, 0, 2};
  const std::vector<double> p{0.9, 0.05, 0.05};
  EXPECT_EQ(chooser.choose(p, Flags{0, 1, 0}).action, 1U);
  const auto held = chooser.choose(p, Flags{0, 0, 0});
  EXPECT_TRUE(held.held);
  EXPECT_EQ(held.action, 1U);                                        // what was done before
  EXPECT_EQ(Chooser(7, 0, 2).choose(p, Flags{0, 0, 0}).action, 2U);  // nothing before: the hold action
}

TEST(Chooser, BreaksTiesByItsSeedAlone) {
  const std::vector<double> p{0.25, 0.25, 0.25, 0.25 - 1e-12};
  std::set<std::size_t> seen;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    const auto once = Chooser{seed}.choose(p);
    EXPECT_EQ(once.tied, 4U);
    EXPECT_EQ(once.action, Chooser{seed}.choose(p).action);
    seen.insert(once.action);
  }
  EXPECT_EQ(seen.size(), 4U);
}

TEST(Chooser, KeepsItsActionUntilAnotherIsClearlyBetter) {
  Chooser chooser{1, 0.5};
  EXPECT_EQ(chooser.choose(std::vector{0.6, 0.4}).action, 0U);
  EXPECT_TRUE(chooser.choose(std::vector{0.45, 0.55}).kept);
  EXPECT_EQ(chooser.choose(std::vector{0.3, 0.7}).action, 1U);
  EXPECT_EQ(chooser.choose(std::vector{0.6, 0.4}, Flags{1, 0}).action, 0U);  // the mask is stronger
}

TEST(Chooser, SamplesAsOftenAsProbabilitiesSay) {
  Chooser chooser{3};
  int first = 0;
  for (int i = 0; i < 20000; ++i)
    first += chooser.sample(std::vector{0.2, 0.3, 0.5}, 1, Flags{1, 0, 1}).action == 0 ? 1 : 0;
  EXPECT_NEAR(first / 20000.0, 0.2 / 0.7, 0.01);
}

TEST(Choice, IsOverWholeActionsThatSomePolicyContains) {
  Model model = random_model(2);
  model.shape = {{2}, {2, 2}, {2, 2}, {{0, 1}}, {{0}, {1}}};
  model.a = {{0.9, 0.1, 0.1, 0.9, 0.1, 0.9, 0.9, 0.1}};
  model.b = {{1, 1, 0, 0, 0, 0, 1, 1}, {1, 1, 0, 0, 0, 0, 1, 1}};
  model.c = {{0, 0}};
  model.d = {{0.5, 0.5}, {0.5, 0.5}};
  model.policies = {2, 1, 2, {0, 1, 1, 0}};  // never both, never none
  Agent agent{model, exact_options()};
  agent.observe({});
  agent.plan();
  ASSERT_EQ(agent.action_count(), 2U);
  const auto action = agent.action(Chooser{0}.choose(agent.action_probabilities()).action);
  EXPECT_EQ(action[0] + action[1], 1U);
}

TEST(Preferences, FollowFromTheOddsThatAreAccepted) {
  EXPECT_NEAR(violation_preference(0.01), -4.595119850134589, 1e-12);
  EXPECT_EQ(violation_preference(0.5), 0);
  // one violation at 1 % weighs as much as 459.5 g when 100 g weigh one nat
  EXPECT_NEAR(grams_per_violation(0.01, 0.01), 459.5119850134589, 1e-9);
  const auto c = carbon_preferences(std::vector{0.0, 50.0}, 0.02, std::vector{1.0, 0.5});
  EXPECT_EQ(c, (std::vector{-0.0, -0.0, -1.0, -0.5}));
}

/// Two levels of power, seen by an SLO that is kept or violated; control 1 lowers the power.
Model capped_service(double scale) {
  Model model;
  model.shape = {{2}, {2}, {2}, {{0}}, {{0}}};
  model.a_counts = {{0.999 * scale, 0.5 * scale, 0.001 * scale, 0.5 * scale}};
  model.b = {{1, 0, 1, 0, 0, 1, 0, 1}};  // control decides the level
  model.c = {{0, 0}};
  model.d = {{1, 0}};
  model.policies = *all_policies(model.shape, 1, 4);
  return model;
}

TEST(ChanceMask, ExcludesWhatMayViolateAndAllowsWhatIsKnownToKeep) {
  auto model = capped_service(1e5);
  ChanceMask mask{model, {{0, {1}, 0.01, 0.95}}};
  Agent agent{model, exact_options()};
  agent.observe({});
  agent.plan();
  mask.evaluate(agent);
  EXPECT_EQ(Flags(mask.allowed_policies().begin(), mask.allowed_policies().end()), (Flags{1, 0}));
  EXPECT_NEAR(mask.bound(0, 0), 0.00117, 0.00005);  // the mean is 0.001
  EXPECT_NEAR(mask.bound(0, 1), 0.5, 0.01);
  std::vector<double> p(2);
  mask.masked_actions(agent, p);
  EXPECT_EQ(p, (std::vector{1.0, 0.0}));
}

TEST(ChanceMask, AColdModelAllowsNothing) {
  auto model = capped_service(1);  // the same mean, from one observation
  ChanceMask mask{model, {{0, {1}, 0.01, 0.95}}};
  Agent agent{model, exact_options()};
  agent.observe({});
  agent.plan();
  mask.evaluate(agent);
  // 95 % of Beta(0.001, 0.999) lies at 0, so the outcome alone would pass; a transition that was hardly seen
  // does not
  model.b_counts = {{1, 0.5, 1, 0.5, 0.5, 1, 0.5, 1}};
  ChanceMask cold{model, {{0, {1}, 0.01, 0.95}}};
  Agent unsure{model, exact_options()};
  unsure.observe({});
  unsure.plan();
  cold.evaluate(unsure);
  EXPECT_TRUE(cold.none_allowed());
  EXPECT_GE(cold.bound(0, 0), mask.bound(0, 0));
}

TEST(ChanceMask, BoundsAreNeverBelowTheMean) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const auto model = random_model(seed, {.counts = true});
    ChanceMask mask{model, {{0, {0}, 0.5, 0.95}}};
    Agent agent{model, exact_options()};
    agent.begin_episode();
    agent.observe({});
    agent.plan();
    mask.evaluate(agent);
    for (std::size_t p = 0; p < model.policies.count; ++p) {
      double kept = 1;
      for (const auto& step : agent.forecast(p).outcomes) kept = std::min(kept, 1 - step[0][0]);
      EXPECT_GE(mask.bound(0, p) + 1e-12, 1 - kept) << seed;  // the worst step alone
      EXPECT_LE(mask.bound(0, p), 1);
    }
  }
}

TEST(ScoreBound, CoversTheBetaQuantile) {
  for (const double n : {0.5, 1.0, 5.0, 50.0, 1e4})
    for (const double mean : {0.001, 0.02, 0.1, 0.3})
      EXPECT_GE(score_upper_bound(mean, n, 1.6448536) + 1e-3, beta_quantile(0.95, mean * n, (1 - mean) * n))
          << mean << " of " << n;
}

}  // namespace
}  // namespace tidewatt::inference
