// What exact mode promises, checked against brute force and identities rather than against another engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models.h"
#include "tidewatt/inference/dirichlet.h"

namespace tidewatt::inference {
namespace {

constexpr std::uint64_t kModels = 60;

/// Every joint state, as one state per factor.
std::vector<std::vector<std::size_t>> joint_states(const Shape& shape) {
  std::vector<std::vector<std::size_t>> all{{}};
  for (const auto n : shape.states) {
    std::vector<std::vector<std::size_t>> longer;
    for (const auto& one : all)
      for (std::size_t s = 0; s < n; ++s) {
        longer.push_back(one);
        longer.back().push_back(s);
      }
    all = std::move(longer);
  }
  return all;
}

std::size_t column_of(const Shape& shape, const std::vector<std::size_t>& factors,
                      const std::vector<std::size_t>& s) {
  std::size_t column = 0;
  for (const auto f : factors) column = column * shape.states[f] + s[f];
  return column;
}
double emits(const Model& model, std::size_t m, std::size_t o, const std::vector<std::size_t>& s) {
  return model.a[m][o * model.shape.seen_states(m) + column_of(model.shape, model.shape.sees[m], s)];
}
double moves(const Model& model, const std::vector<std::size_t>& from, const std::vector<std::size_t>& to,
             const std::vector<std::size_t>& controls) {
  double p = 1;
  for (std::size_t f = 0; f < to.size(); ++f)
    p *= model.b[f][(to[f] * model.shape.driver_states(f) +
                     column_of(model.shape, model.shape.drivers[f], from)) *
                        model.shape.controls[f] +
                    controls[f]];
  return p;
}

/// Bayes' rule by enumeration.
struct BruteForce {
  const Model& model;
  std::vector<std::vector<std::size_t>> states = joint_states(model.shape);
  std::vector<double> belief{};

  std::vector<double> push(const std::vector<double>& from, const std::vector<std::size_t>& controls) const {
    std::vector<double> to(states.size(), 0.0);
    for (std::size_t i = 0; i < states.size(); ++i)
      for (std::size_t k = 0; k < states.size(); ++k)
        to[k] += from[i] * moves(model, states[i], states[k], controls);
    return to;
  }
  void begin() {
    belief.assign(states.size(), 1.0);
    for (std::size_t i = 0; i < states.size(); ++i)
      for (std::size_t f = 0; f < model.shape.factors(); ++f) belief[i] *= model.d[f][states[i][f]];
  }
  /// @return -ln P(observations)
  double see(const std::vector<Observation>& observations) {
    double sum = 0;
    for (std::size_t i = 0; i < states.size(); ++i) {
      for (std::size_t m = 0; m < observations.size(); ++m)
        if (observations[m].outcome) belief[i] *= emits(model, m, *observations[m].outcome, states[i]);
      sum += belief[i];
    }
    for (double& p : belief) p /= sum;
    return -std::log(sum);
  }
  /// Utility and information about the joint state of all outcomes jointly, by enumerating outcomes.
  std::pair<double, double> weigh(const std::vector<double>& p) const {
    std::vector<std::size_t> o(model.shape.modalities(), 0);
    double utility = 0, information = 0;
    for (;;) {
      double marginal = 0, joint = 0;
      for (std::size_t i = 0; i < states.size(); ++i) {
        double likelihood = 1;
        for (std::size_t m = 0; m < o.size(); ++m) likelihood *= emits(model, m, o[m], states[i]);
        marginal += p[i] * likelihood;
        if (likelihood > 0) joint += p[i] * likelihood * std::log(likelihood);
      }
      if (marginal > 0) information += joint - marginal * std::log(marginal);
      for (std::size_t m = 0; m < o.size(); ++m)
        utility += marginal * (model.c[m][o[m]] - log_sum_exp(model.c[m]));
      std::size_t m = 0;
      while (m < o.size() && ++o[m] == model.shape.outcomes[m]) o[m++] = 0;
      if (m == o.size()) break;
    }
    return {utility, information};
  }
};

TEST(ExactInference, IsBayesRuleOverSeveralSteps) {
  for (std::uint64_t seed = 0; seed < kModels; ++seed) {
    const auto model = random_model(seed, {.interacting = true});
    Agent agent{model, exact_options()};
    BruteForce truth{model};
    Dice dice{seed + 1000};
    agent.begin_episode();
    truth.begin();
    for (int t = 0; t < 4; ++t) {
      const auto seen = random_observations(dice, model.shape);
      agent.observe(seen);
      EXPECT_NEAR(agent.free_energy(), truth.see(seen), 1e-10) << seed;
      for (std::size_t i = 0; i < truth.belief.size(); ++i)
        EXPECT_NEAR(agent.joint()[i], truth.belief[i], 1e-12) << seed;
      std::vector<std::size_t> controls;
      for (const auto n : model.shape.controls) controls.push_back(dice.below(n));
      agent.act(controls);
      truth.belief = truth.push(truth.belief, controls);
    }
  }
}

TEST(ExactPlanning, IsExpectedPreferencePlusMutualInformationByEnumeration) {
  for (std::uint64_t seed = 0; seed < kModels; ++seed) {
    const auto model = random_model(seed, {.sparse = seed % 2 == 0, .interacting = true});
    Agent agent{model, exact_options()};
    BruteForce truth{model};
    Dice dice{seed};
    agent.begin_episode();
    agent.observe(random_observations(dice, model.shape));
    agent.plan();
    for (std::size_t p = 0; p < model.policies.count; p += 1 + model.policies.count / 5) {
      std::vector<double> belief(agent.joint().begin(), agent.joint().end());
      double utility = 0, information = 0;
      for (std::size_t step = 0; step < model.policies.length; ++step) {
        std::vector<std::size_t> controls;
        for (std::size_t f = 0; f < model.shape.factors(); ++f)
          controls.push_back(model.policies.control(p, step, f));
        belief = truth.push(belief, controls);
        const auto [u, i] = truth.weigh(belief);
        utility += u;
        information += i;
      }
      EXPECT_NEAR(agent.term(Term::utility, p), utility, 1e-10) << seed;
      EXPECT_NEAR(agent.term(Term::state_information, p), information, 1e-10) << seed;
      EXPECT_NEAR(agent.values()[p], utility + information, 1e-10) << seed;
    }
  }
}

TEST(ExactPlanning, InformationIsNeverMoreThanThereIsToKnow) {
  for (std::uint64_t seed = 0; seed < kModels; ++seed) {
    const auto model = random_model(seed, {.sparse = true, .sharpness = 6, .length = 1});
    Agent agent{model, exact_options()};
    agent.begin_episode();
    agent.observe({});
    agent.plan();
    for (std::size_t p = 0; p < model.policies.count; ++p) {
      double most = 0;
      const auto forecast = agent.forecast(p);
      for (const auto& q : forecast.states[0]) most += entropy(q);
      EXPECT_GE(agent.term(Term::state_information, p), 0) << seed;
      EXPECT_LE(agent.term(Term::state_information, p), most + 1e-12) << seed;
    }
  }
}

TEST(ExactPlanning, TwoSensorsOfOneStateTellAtMostItsEntropy) {
  Model model;
  model.shape = {{2, 2}, {2}, {1}, {{0}, {0}}, {{0}}};
  model.a = {{1, 0, 0, 1}, {1, 0, 0, 1}};
  model.b = {{1, 0, 0, 1}};
  model.c = {{0, 0}, {0, 0}};
  model.d = {{0.5, 0.5}};
  model.policies = *all_policies(model.shape, 1, 1);
  Agent agent{model, exact_options()};
  agent.begin_episode();
  agent.observe({});
  agent.plan();
  EXPECT_NEAR(agent.term(Term::state_information, 0), std::log(2.0), 1e-14);
}

TEST(ExactPlanning, InformationIsCappedWhereOutcomesAreNotJoined) {
  auto model = random_model(5, {.sharpness = 8, .length = 1});
  while (model.shape.modalities() < 3)
    model = random_model(model.policies.count + 77, {.sharpness = 8, .length = 1});
  auto options = exact_options();
  options.outcome_table_limit = 1;
  Agent apart{model, options};
  Agent joined{model, exact_options()};
  for (auto* agent : {&apart, &joined}) {
    agent->begin_episode();
    agent->observe({});
    agent->plan();
  }
  for (std::size_t p = 0; p < model.policies.count; ++p)
    EXPECT_GE(apart.term(Term::state_information, p) + 1e-12, joined.term(Term::state_information, p));
}

TEST(ExactPlanning, NoveltyIsTheExpectedDivergenceOfTheCounts) {
  for (std::uint64_t seed = 0; seed < kModels; ++seed) {
    const auto model = random_model(seed, {.interacting = true, .counts = true, .length = 1});
    Agent agent{model, exact_options()};
    BruteForce truth{model};
    agent.begin_episode();
    agent.observe({});
    agent.plan();
    const auto column = [](const Table& counts, std::size_t rows, std::size_t j) {
      Table one;
      for (std::size_t i = 0; i < rows; ++i) one.push_back(counts[i * (counts.size() / rows) + j]);
      return one;
    };
    const auto expected = [&](const Table& counts, std::size_t rows, std::size_t j) {
      const auto prior = column(counts, rows, j);
      double sum = 0, total = 0;
      for (const double a : prior) total += a;
      for (std::size_t i = 0; i < rows; ++i) {
        if (prior[i] == 0) continue;
        auto posterior = prior;
        posterior[i] += 1;
        sum += prior[i] / total * dirichlet_divergence(posterior, prior);
      }
      return sum;
    };
    const auto& shape = model.shape;
    const std::vector<double> now(agent.joint().begin(), agent.joint().end());
    for (std::size_t p = 0; p < std::min<std::size_t>(model.policies.count, 6); ++p) {
      std::vector<std::size_t> controls;
      for (std::size_t f = 0; f < shape.factors(); ++f) controls.push_back(model.policies.control(p, 0, f));
      const auto next = truth.push(now, controls);
      double a = 0, b = 0;
      for (std::size_t i = 0; i < next.size(); ++i) {
        for (std::size_t m = 0; m < shape.modalities(); ++m)
          a += next[i] * expected(model.a_counts[m], shape.outcomes[m],
                                  column_of(shape, shape.sees[m], truth.states[i]));
        for (std::size_t f = 0; f < shape.factors(); ++f)
          b += now[i] * expected(model.b_counts[f], shape.states[f],
                                 column_of(shape, shape.drivers[f], truth.states[i]) * shape.controls[f] +
                                     controls[f]);
      }
      EXPECT_NEAR(agent.term(Term::a_information, p), a, 1e-10) << seed;
      EXPECT_NEAR(agent.term(Term::b_information, p), b, 1e-10) << seed;
    }
  }
}

TEST(CoordinateDescent, NeverRaisesTheFreeEnergyAndBoundsSurprise) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto model = random_model(seed, {.sparse = seed % 3 == 0, .sharpness = 6, .length = 1});
    auto options = exact_options();
    options.joint_limit = 0;
    Agent agent{model, options};
    Agent exact{model, exact_options()};
    Dice dice{seed};
    const auto seen = random_observations(dice, model.shape);
    for (auto* one : {&agent, &exact}) {
      one->begin_episode();
      one->observe(seen);
    }
    const auto trace = agent.free_energy_trace();
    for (std::size_t i = 1; i < trace.size(); ++i) EXPECT_LE(trace[i], trace[i - 1] + 1e-12) << seed;
    if (!exact.contradicted()) {
      EXPECT_GE(agent.free_energy(), exact.free_energy() - 1e-9) << seed;
    }
  }
}

TEST(TablePlanner, AgreesWithTheJointWhereFactorsAreIndependent) {
  for (std::uint64_t seed = 0; seed < kModels; ++seed) {
    const auto model = random_model(seed, {.counts = seed % 2 == 0});
    auto options = exact_options();
    Agent joint{model, options};
    options.joint_limit = 0;
    Agent factors{model, options};
    for (auto* agent : {&joint, &factors}) {
      agent->begin_episode();
      agent->observe({});
      agent->plan();
    }
    for (std::size_t p = 0; p < model.policies.count; ++p)
      EXPECT_NEAR(joint.values()[p], factors.values()[p], 1e-10) << seed;
  }
}

TEST(Identity, UtilityPlusInformationIsMinusRiskAndAmbiguity) {
  for (std::uint64_t seed = 0; seed < kModels; ++seed) {
    auto model = random_model(seed, {.length = 1});
    model.shape.outcomes.resize(1);
    model.shape.sees.resize(1);
    model.a.resize(1);
    model.c.resize(1);
    Agent agent{model, exact_options()};
    BruteForce truth{model};
    agent.begin_episode();
    agent.observe({});
    agent.plan();
    const auto forecast = agent.forecast(0);
    const auto& expected = forecast.outcomes[0][0];
    double risk = 0, ambiguity = 0;
    for (std::size_t o = 0; o < expected.size(); ++o)
      risk += expected[o] * (std::log(expected[o]) - (model.c[0][o] - log_sum_exp(model.c[0])));
    std::vector<std::size_t> controls;
    for (std::size_t f = 0; f < model.shape.factors(); ++f)
      controls.push_back(model.policies.control(0, 0, f));
    const auto next = truth.push({agent.joint().begin(), agent.joint().end()}, controls);
    for (std::size_t i = 0; i < next.size(); ++i)
      for (std::size_t o = 0; o < expected.size(); ++o) {
        const double p = emits(model, 0, o, truth.states[i]);
        ambiguity -= next[i] * p * std::log(p);
      }
    EXPECT_NEAR(agent.values()[0], -risk - ambiguity, 1e-10) << seed;
  }
}

}  // namespace
}  // namespace tidewatt::inference
