#include "tidewatt/continuum/brain.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support.h"

namespace tidewatt::continuum {
namespace {

using devol::State;

/// Decides and does what was decided, `periods` times.
Decision run(Brain& brain, Senses& senses, int periods) {
  Decision last;
  for (int i = 0; i < periods; ++i) {
    last = brain.decide(senses);
    brain.acted(last.levels);
    senses.levels = last.levels;
    senses.power_bin = last.levels[0] * 2;
  }
  return last;
}

TEST(Brain, SavesAtLowLoadWhereCarbonWeighsAndTheTermsAddUp) {
  auto setup = small_setup();
  setup.grams_per_violation = 0.5;
  ASSERT_TRUE(check(setup));
  Brain brain{setup};
  auto senses = well(2, 0, 600);
  const auto decision = run(brain, senses, 30);
  EXPECT_EQ(decision.levels[0], 0U);
  EXPECT_LT(decision.power_w, 40);
  const auto& t = decision.chosen.terms;
  EXPECT_NEAR(t.promises + t.carbon + t.cost, t.sum(), 1e-12);
}

TEST(Brain, GivesBackWhenLoadRises) {
  Brain brain{small_setup()};
  auto senses = well(2, 0, 600);
  run(brain, senses, 30);
  senses.load_bins = {2};
  const auto decision = run(brain, senses, 10);
  EXPECT_GT(decision.levels[0], 0U);
}

TEST(Brain, AnUnknownIntensityGivesNoReasonToSave) {
  Brain brain{small_setup()};
  auto senses = well(2, 2);
  senses.ci_g_per_kwh.reset();
  const auto decision = run(brain, senses, 10);
  EXPECT_EQ(decision.levels[0], 2U);
}

TEST(Brain, AChangeThatBreaksAPromiseIsRolledBackAndNotTriedAgain) {
  Brain brain{small_setup()};
  auto senses = well(2, 0, 600);
  auto decision = brain.decide(senses);
  while (!decision.change) {
    brain.acted(decision.levels);
    decision = brain.decide(senses);
  }
  const auto tried = decision.levels;
  brain.acted(tried);
  senses.levels = tried;
  senses.objectives = {State::violated};
  decision = brain.decide(senses);
  EXPECT_EQ(decision.by, By::roll_back);
  EXPECT_EQ(decision.levels, (std::vector<std::size_t>{2}));
  EXPECT_EQ(decision.broke, 0U);
  brain.acted(decision.levels);
  senses = well(2, 0, 600);
  for (int i = 0; i < 40; ++i) {
    decision = brain.decide(senses);
    EXPECT_NE(decision.levels, tried) << i;
    brain.acted(senses.levels);
  }
}

TEST(Brain, NothingNewIsTriedWhileAChangeIsWatched) {
  Brain brain{small_setup()};
  brain.decide(well(2, 0, 600));
  const std::size_t down[] = {1};
  brain.acted(down);
  const auto decision = brain.decide(well(1, 0, 600));
  EXPECT_EQ(decision.by, By::guard);
  EXPECT_FALSE(decision.change);
}

TEST(Brain, AHardPromiseColdHoldsAndARuleMayStandIn) {
  auto setup = small_setup();
  setup.objectives[0].hard = true;
  setup.delta = 0.001;
  Brain brain{setup};
  auto senses = well(2, 1, 600);
  auto decision = brain.decide(senses);
  EXPECT_TRUE(decision.none_allowed);
  EXPECT_EQ(decision.by, By::hold);
  EXPECT_FALSE(decision.change);
  ASSERT_TRUE(decision.bound);
  EXPECT_GT(*decision.bound, 0.001);
  brain.acted(decision.levels);
  senses.rules = std::vector<std::size_t>{1};
  decision = brain.decide(senses);
  EXPECT_EQ(decision.by, By::rules);
  EXPECT_EQ(decision.levels[0], 1U);
}

TEST(Brain, LearnsThatAKnobDoesNotObey) {
  Brain brain{small_setup()};
  const auto before = brain.counts().b[1];
  for (int i = 0; i < 20; ++i) {
    brain.decide(well(2));
    const std::size_t down[] = {0};
    brain.acted(down);
  }
  const auto after = brain.counts().b[1];
  const std::size_t stuck = (2 * 3 + 2) * 3 + 0;  // next 2, now 2, control 0
  EXPECT_GT(after[stuck], before[stuck] + 10);
}

TEST(Brain, WhatNothingKeepsIsGivenUpAndSaid) {
  Brain brain{small_setup()};
  auto senses = well(2, 2);
  senses.objectives = {State::violated};
  Decision decision;
  for (int i = 0; i < 60; ++i) {
    senses.levels = {static_cast<std::size_t>(i % 3)};
    decision = brain.decide(senses);
    brain.acted(senses.levels);
  }
  ASSERT_EQ(decision.given_up.size(), 1U);
  EXPECT_FALSE(decision.given_up[0].possible);
}

TEST(Setup, RefusesWhatIsOutOfBounds) {
  auto setup = small_setup();
  setup.knobs[0].levels = 1;
  EXPECT_FALSE(check(setup));
  setup = small_setup();
  setup.power_w = {5, 1};
  EXPECT_FALSE(check(setup));
  setup = small_setup();
  setup.knobs.assign(6, {"k", 8, {0}, 0});
  EXPECT_FALSE(check(setup));
}

TEST(Setup, TheExchangeRateIsWhatWasAskedFor) {
  const auto setup = small_setup();
  EXPECT_NEAR(exchange_grams(setup, 0), 2, 1e-12);
}

}  // namespace
}  // namespace tidewatt::continuum
