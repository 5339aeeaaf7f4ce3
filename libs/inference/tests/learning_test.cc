#include <gtest/gtest.h>

#include <cmath>

#include "models.h"

namespace tidewatt::inference {
namespace {

/// A lamp that is seen exactly; control 1 switches it, if the switch works.
Model lamp() {
  Model model;
  model.shape = {{2}, {2}, {2}, {{0}}, {{0}}};
  model.a = {{1, 0, 0, 1}};
  model.b_counts = {{3, 1, 0.5, 3, 1, 3, 3.5, 1}};  // [next][now][control]
  model.c = {{0, 1}};
  model.d = {{1, 0}};
  model.policies = *all_policies(model.shape, 1, 4);
  return model;
}

Options learning() {
  auto options = exact_options();
  options.learn_b = true;
  return options;
}

TEST(Learning, AFailedActuationLowersTheBeliefInTheAction) {
  Agent agent{lamp(), learning()};
  const auto works = [&] { return agent.model().b[0][(1 * 2 + 0) * 2 + 1]; };  // P(on | off, switch)
  const double before = works();
  agent.observe(std::vector<Observation>{{0, {}}});
  agent.act(std::vector<std::size_t>{1});
  agent.observe(std::vector<Observation>{{0, {}}});  // still off
  agent.learn();
  EXPECT_LT(works(), before);
  EXPECT_DOUBLE_EQ(agent.model().b_counts[0][(0 * 2 + 0) * 2 + 1], 2);  // one transition more
}

TEST(Learning, CountsTransitionsFromThePairwisePosterior) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto model = random_model(seed, {.interacting = true, .counts = true});
    auto options = learning();
    Agent agent{model, options};
    Dice dice{seed};
    agent.observe(random_observations(dice, model.shape));
    std::vector<std::size_t> controls(model.shape.factors(), 0);
    agent.act(controls);
    agent.observe(random_observations(dice, model.shape));
    agent.learn();
    for (std::size_t f = 0; f < model.shape.factors(); ++f) {
      double added = 0;
      std::vector<double> arrived(model.shape.states[f], 0.0);
      for (std::size_t i = 0; i < model.b_counts[f].size(); ++i) {
        const double more = agent.model().b_counts[f][i] - model.b_counts[f][i];
        EXPECT_GE(more, -1e-12);
        added += more;
        arrived[i / (model.b_counts[f].size() / model.shape.states[f])] += more;
      }
      EXPECT_NEAR(added, 1, 1e-9) << seed;  // exactly one transition happened
      for (std::size_t s = 0; s < arrived.size(); ++s)
        EXPECT_NEAR(arrived[s], agent.posterior(f)[s], 1e-9) << seed;
    }
  }
}

TEST(Learning, StructuralZerosStayZero) {
  for (const auto mode : {Mode::compat, Mode::exact}) {
    const auto model = random_model(12, {.sparse = true, .counts = true});
    auto options = learning();
    options.mode = mode;
    options.learn_a = options.learn_d = true;
    Agent agent{model, options};
    Dice dice{1};
    for (int t = 0; t < 10; ++t) {
      agent.observe(random_observations(dice, model.shape));
      agent.learn();
      agent.act(std::vector<std::size_t>(model.shape.factors(), 0));
    }
    agent.end_episode();
    const auto kept = [](const std::vector<Table>& before, const std::vector<Table>& after) {
      for (std::size_t i = 0; i < before.size(); ++i)
        for (std::size_t k = 0; k < before[i].size(); ++k)
          if (before[i][k] == 0) {
            EXPECT_EQ(after[i][k], 0);
          }
    };
    kept(model.a_counts, agent.model().a_counts);
    kept(model.b_counts, agent.model().b_counts);
    kept(model.d_counts, agent.model().d_counts);
  }
}

TEST(Learning, ForgettingBoundsTheCounts) {
  auto options = learning();
  options.memory = 0.9;  // an effective memory of 10 transitions
  Agent agent{lamp(), options};
  for (int t = 0; t < 500; ++t) {
    agent.observe(std::vector<Observation>{{0, {}}});
    agent.learn();
    agent.act(std::vector<std::size_t>{1});
  }
  EXPECT_NEAR(agent.model().b_counts[0][(0 * 2 + 0) * 2 + 1], 1 + 10, 1e-6);
}

TEST(Learning, OnlyChosenModalitiesAndFactorsLearn) {
  const auto model = random_model(21, {.counts = true});
  auto options = learning();
  options.learn_a = true;
  options.learned_modalities.assign(model.shape.modalities(), false);
  options.learned_factors.assign(model.shape.factors(), false);
  Agent agent{model, options};
  Dice dice{2};
  for (int t = 0; t < 3; ++t) {
    agent.observe(random_observations(dice, model.shape));
    agent.learn();
    agent.act(std::vector<std::size_t>(model.shape.factors(), 0));
  }
  EXPECT_EQ(agent.model().a_counts, model.a_counts);
  EXPECT_EQ(agent.model().b_counts, model.b_counts);
}

}  // namespace
}  // namespace tidewatt::inference
