#include "tidewatt/inference/agent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include "models.h"
#include "tidewatt/inference/choice.h"

namespace tidewatt::inference {
namespace {

Options options_of(Mode mode) {
  auto options = exact_options();
  options.mode = mode;
  return options;
}

TEST(Observation, AMissingModalityLeavesItsLikelihoodOut) {
  for (const auto mode : {Mode::compat, Mode::exact})
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      auto model = random_model(seed);
      Dice dice{seed};
      auto seen = random_observations(dice, model.shape);
      seen[0] = {};
      Agent with_gap{model, options_of(mode)};
      auto flat = model;  // a sensor that tells nothing
      std::fill(flat.a[0].begin(), flat.a[0].end(), 1.0 / static_cast<double>(model.shape.outcomes[0]));
      Agent with_blind_sensor{flat, options_of(mode)};
      with_gap.observe(seen);
      seen[0].outcome = 0;
      with_blind_sensor.observe(seen);
      for (std::size_t f = 0; f < model.shape.factors(); ++f)
        for (std::size_t s = 0; s < model.shape.states[f]; ++s)
          EXPECT_NEAR(with_gap.posterior(f)[s], with_blind_sensor.posterior(f)[s], 1e-3) << seed;
    }
}

TEST(Observation, ASensorsSureDistributionIsItsOutcome) {
  for (const auto soft : {SoftEvidence::sensor, SoftEvidence::message}) {
    const auto model = random_model(3);
    auto options = options_of(Mode::exact);
    options.soft = soft;
    Agent hard{model, options};
    Agent softly{model, options};
    Table sure(model.shape.outcomes[0], 0.0);
    sure[1] = 1;
    std::vector<Observation> a(model.shape.modalities()), b(model.shape.modalities());
    a[0].outcome = 1;
    b[0].distribution = sure;
    hard.observe(a);
    softly.observe(b);
    for (std::size_t j = 0; j < hard.joint().size(); ++j)
      EXPECT_NEAR(hard.joint()[j], softly.joint()[j], 1e-14);
  }
}

TEST(Observation, SoftEvidenceIsALikelihoodOrAMessageAsAsked) {
  Model model;
  model.shape = {{2}, {2}, {1}, {{0}}, {{0}}};
  model.a = {{0.9, 0.2, 0.1, 0.8}};
  model.b = {{1, 0, 0, 1}};
  model.c = {{0, 0}};
  model.d = {{0.5, 0.5}};
  model.policies = *all_policies(model.shape, 1, 1);
  const Table y{0.75, 0.25};
  const std::vector<Observation> seen{{std::nullopt, y}};
  auto options = exact_options();
  options.soft = SoftEvidence::sensor;
  Agent sensor{model, options};
  sensor.observe(seen);
  EXPECT_NEAR(sensor.posterior(0)[0], 0.7 / (0.7 + 0.35),
              1e-14);  // 0.75 x 0.9 + 0.25 x 0.1 against 0.75 x 0.2 + 0.25 x 0.8
  options.soft = SoftEvidence::message;
  Agent message{model, options};
  message.observe(seen);
  const double first = std::pow(0.9, 0.75) * std::pow(0.1, 0.25);
  const double second = std::pow(0.2, 0.75) * std::pow(0.8, 0.25);
  EXPECT_NEAR(message.posterior(0)[0], first / (first + second), 1e-12);
}

TEST(Observation, WhatTheModelHoldsForImpossibleIsSaidAndGivesNumbers) {
  Model model;
  model.shape = {{2, 2}, {2}, {1}, {{0}, {0}}, {{0}}};
  model.a = {{1, 0, 0, 1}, {1, 0, 0, 1}};
  model.b = {{1, 0, 0, 1}};
  model.c = {{0, 0}, {0, 0}};
  model.d = {{0.9, 0.1}};
  model.policies = *all_policies(model.shape, 1, 1);
  Agent agent{model, exact_options()};
  agent.observe(std::vector<Observation>{{0, {}}, {1, {}}});
  EXPECT_TRUE(agent.contradicted());
  EXPECT_NEAR(agent.posterior(0)[0], 0.9, 1e-12);  // the sensors cancel out
  EXPECT_GT(agent.free_energy(), 30);
}

TEST(Observation, WhatCannotBeIsLeftOutAndCounted) {
  const auto model = random_model(9);
  Agent agent{model, exact_options()};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Table wrong_length(17, 0.1), negative{-1, 2}, not_numbers(model.shape.outcomes[0], nan),
      empty_mass(model.shape.outcomes[0], 0.0);
  for (const Observation bad :
       {Observation{99, {}}, Observation{std::nullopt, wrong_length}, Observation{std::nullopt, not_numbers},
        Observation{std::nullopt, empty_mass}}) {
    agent.begin_episode();
    agent.observe(std::vector<Observation>{bad});
    EXPECT_EQ(agent.refused_observations(), 1U);
    for (std::size_t s = 0; s < model.shape.states[0]; ++s)
      EXPECT_NEAR(agent.posterior(0)[s], model.d[0][s], 1e-12);
  }
}

/// Observations as a broken fleet sends them.
std::vector<Observation> broken_observations(Dice& dice, const Shape& shape, std::vector<Table>& storage) {
  std::vector<Observation> all;
  storage.clear();
  storage.reserve(shape.modalities());
  for (const auto n : shape.outcomes) {
    const auto kind = dice.below(6);
    if (kind == 0)
      all.push_back({});
    else if (kind == 1)
      all.push_back({n + dice.below(5), {}});
    else if (kind == 2) {
      Table y;
      const double scales[] = {0, 1e-300, 1, 1e12, -1, std::numeric_limits<double>::infinity(), std::nan("")};
      for (std::size_t o = 0; o < n; ++o) y.push_back(dice.uniform() * scales[dice.below(7)]);
      storage.push_back(y);
      all.push_back({std::nullopt, storage.back()});
    } else
      all.push_back({dice.below(n), {}});
  }
  return all;
}

TEST(Agent, StaysNumericAndLegalUnderBrokenTelemetry) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto model =
        random_model(seed, {.sparse = true, .interacting = true, .counts = seed % 2 == 0, .sharpness = 12});
    for (const auto mode : {Mode::compat, Mode::exact})
      for (const std::size_t limit : {std::size_t{0}, std::size_t{4096}}) {
        auto options = options_of(mode);
        options.joint_limit = limit;
        options.use_parameter_information = true;
        options.learn_a = options.learn_b = options.learn_d = seed % 2 == 0;
        options.memory = 0.9;
        Agent agent{model, options};
        Chooser chooser{seed};
        Dice dice{seed};
        std::vector<Table> storage;
        agent.begin_episode();
        for (int t = 0; t < 25; ++t) {
          if (t % 10 == 9) {
            agent.end_episode();
            agent.begin_episode();
          }
          agent.observe(broken_observations(dice, model.shape, storage));
          agent.learn();
          agent.plan();
          ASSERT_TRUE(std::isfinite(agent.free_energy())) << seed;
          for (std::size_t f = 0; f < model.shape.factors(); ++f) {
            const auto q = agent.posterior(f);
            const double sum = std::accumulate(q.begin(), q.end(), 0.0);
            ASSERT_NEAR(sum, 1, 1e-12) << seed << " " << t;
            for (const double p : q) ASSERT_GE(p, 0);
          }
          const auto q = agent.policy_probabilities();
          ASSERT_NEAR(std::accumulate(q.begin(), q.end(), 0.0), 1, 1e-12) << seed << " " << t;
          std::vector<std::uint8_t> allowed(agent.action_count());
          for (auto& one : allowed) one = dice.below(2) == 0 ? 1 : 0;
          const auto choice = chooser.choose(agent.action_probabilities(), allowed);
          ASSERT_TRUE(choice.held || allowed[choice.action] != 0);
          agent.act(agent.action(choice.held ? 0 : choice.action));
        }
      }
  }
}

std::uint64_t walk(std::uint64_t seed) {
  const auto model = random_model(seed, {.interacting = true, .counts = true});
  auto options = options_of(seed % 2 == 0 ? Mode::compat : Mode::exact);
  options.learn_a = options.learn_b = true;
  options.use_parameter_information = true;
  Agent agent{model, options};
  Dice dice{seed};
  std::uint64_t all = 0;
  for (int t = 0; t < 12; ++t) {
    agent.observe(random_observations(dice, model.shape));
    agent.learn();
    agent.plan();
    agent.act(agent.action(dice.below(agent.action_count())));
    all = all * 31 + agent.fingerprint();
  }
  return all;
}

TEST(Bits, AreTheSameForEveryCompilerOptimisationAndMachine) {
  std::uint64_t all = 0;
  for (std::uint64_t seed = 0; seed < 16; ++seed) all = all * 31 + walk(seed);
  EXPECT_EQ(all, 6392165523248272369ULL) << "if arithmetic was changed on purpose, this is the new value";
}

TEST(Bits, AreTheSameInOneThreadAndInTwo) {
  std::vector<std::uint64_t> alone(16), together(16);
  for (std::uint64_t seed = 0; seed < 16; ++seed) alone[seed] = walk(seed);
  std::thread even{[&] {
    for (std::uint64_t seed = 0; seed < 16; seed += 2) together[seed] = walk(seed);
  }};
  std::thread odd{[&] {
    for (std::uint64_t seed = 1; seed < 16; seed += 2) together[seed] = walk(seed);
  }};
  even.join();
  odd.join();
  EXPECT_EQ(alone, together);
}

TEST(Episode, BeginsFromDWhateverWasDoneBefore) {
  for (const auto mode : {Mode::compat, Mode::exact}) {
    const auto model = random_model(4);
    Agent agent{model, options_of(mode)};
    Dice dice{4};
    agent.observe(random_observations(dice, model.shape));
    agent.act(std::vector<std::size_t>(model.shape.factors(), 0));
    agent.begin_episode();
    agent.observe({});
    for (std::size_t s = 0; s < model.shape.states[0]; ++s)
      EXPECT_NEAR(agent.prior(0)[s], model.d[0][s], 1e-15);
  }
}

TEST(Agent, RefusesAnUnsoundModelInWords) {
  auto model = random_model(1);
  model.a[0][0] += 0.5;
  try {
    Agent agent{model, exact_options()};
    FAIL();
  } catch (const std::invalid_argument& fault) {
    EXPECT_NE(std::string{fault.what()}.find("A[0] column 0 adds up to"), std::string::npos) << fault.what();
  }
}

}  // namespace
}  // namespace tidewatt::inference
