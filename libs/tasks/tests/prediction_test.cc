#include "tidewatt/tasks/prediction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "epoch_kind.h"
#include "recursive_least_squares.h"
#include "student_t.h"

namespace tidewatt::tasks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Epoch> epochs_of(std::initializer_list<double> joules) {
  std::vector<Epoch> out;
  for (const double energy : joules)
    out.push_back({static_cast<std::int64_t>(out.size()) + 1, Joules{energy}, Seconds{energy / 10}});
  return out;
}

Prediction said(const std::vector<Epoch>& epochs, std::int64_t horizon, const PredictorOptions& how = {}) {
  auto prediction = predict_energy(epochs, horizon, how);
  EXPECT_TRUE(prediction) << prediction.error().to_string();
  return prediction ? *prediction : Prediction{};
}

TEST(Predict, SteadyEpochsGoOnAsTheyWere) {
  const auto next = said(epochs_of({100, 100, 100, 100, 100}), 50);
  EXPECT_NEAR(next.energy.value(), 5000, 0.01);
  EXPECT_NEAR(next.per_epoch().value(), 100, 1e-3);
  EXPECT_NEAR(next.seconds->value(), 500, 1e-3);
  EXPECT_EQ(next.fit.epochs_used, 5U);
}

TEST(Predict, TheFirstEpochIsWarmUpWhenItDisagrees) {
  for (const double first : {64.0, 92.0, 405.0}) {
    const auto next = said(epochs_of({first, 100, 100.2, 99.8, 100}), 10);
    EXPECT_EQ(next.fit.warm_up_epochs, 1U);
    EXPECT_NEAR(next.energy.value(), 1000, 1);
  }
}

TEST(Predict, ARampAtTheStartIsWarmUpAsFarAsItGoes) {
  const auto next = said(epochs_of({87.8, 89.5, 98.4, 100, 99.8}), 10);
  EXPECT_EQ(next.fit.warm_up_epochs, 3U);
  EXPECT_NEAR(next.energy.value(), 999, 1);
}

TEST(Predict, APreemptedEpochMovesNothingButTheInterval) {
  const auto calm = said(epochs_of({100, 100.1, 99.9, 100, 100.1, 99.9, 100}), 50);
  const auto disturbed = said(epochs_of({100, 100.1, 99.9, 160, 100.1, 99.9, 100}), 50);
  EXPECT_THAT(disturbed.fit.unusual, ElementsAre(4));
  EXPECT_NEAR(disturbed.energy.value(), calm.energy.value(), 0.001 * calm.energy.value());
  EXPECT_GT(disturbed.fit.spread, calm.fit.spread);
}

TEST(Predict, AfterAPowerCapOnlyTheNewLevelCounts) {
  const auto next = said(epochs_of({100, 100.2, 99.8, 100, 80.1, 79.9}), 10);
  EXPECT_EQ(next.fit.changed_at, 5);
  EXPECT_NEAR(next.energy.value(), 800, 2);
  EXPECT_GT(next.fit.refits, 0U);
}

TEST(Predict, OneLowEpochIsNoChangeOfLevel) {
  EXPECT_EQ(said(epochs_of({100, 100.2, 99.8, 100, 80}), 10).fit.changed_at, std::nullopt);
}

TEST(Predict, EvaluationThatComesBackIsCountedWhereItFalls) {
  // 4 and 8 evaluated; of the next ten, 9 to 18, that is 12 and 16: 10 x 100 + 2 x 40.
  const auto next = said(epochs_of({100, 100, 100, 140, 100, 100, 100, 140}), 10);
  ASSERT_TRUE(next.fit.evaluation);
  EXPECT_EQ(next.fit.evaluation->period, 4);
  EXPECT_EQ(next.fit.evaluation->remainder, 0);
  EXPECT_NEAR(next.fit.evaluation->extra_share, 0.4, 1e-3);
  EXPECT_NEAR(next.energy.value(), 1080, 0.5);
  EXPECT_NEAR(next.fit.steady_epoch.value(), 100, 0.1);
  EXPECT_NEAR(next.seconds->value(), 108, 0.1);
}

TEST(Predict, EvaluationGoesOnAfterAPowerCap) {
  // Half the power from epoch 9 on, none of the new epochs evaluated yet; 12 of 11..13 will be: 3 x 50 + 20.
  const auto next = said(epochs_of({100, 100, 100, 140, 100, 100, 100, 140, 50, 50}), 3);
  EXPECT_EQ(next.fit.changed_at, 9);
  EXPECT_NEAR(next.energy.value(), 170, 1);
}

TEST(Predict, HighEpochsWithoutAPeriodAreNoEvaluation) {
  EXPECT_EQ(said(epochs_of({100, 100, 140, 100, 100, 140, 100, 140, 100, 100}), 10).fit.evaluation,
            std::nullopt);
}

TEST(Predict, TheIntervalIsTheQuantileOfTOrTheFloor) {
  PredictorOptions how;
  how.forgetting = 1;
  how.earlier = {.epoch_spread = 0, .level_floor = 0, .drift_per_epoch = 0, .source = ""};
  // Mean 100, residuals -0.4, 0.4, 0.4, -0.4: squares of 0.64 over 3 + 2 degrees of freedom (the earlier runs
  // count for two). Variance of the sum of 10: 0.128 x (10^2 / 4 + 10) = 4.48. t(5) = 2.015.
  const auto free = said(epochs_of({99.6, 100.4, 100.4, 99.6}), 10, how);
  EXPECT_DOUBLE_EQ(free.fit.degrees, 5);
  EXPECT_NEAR(free.high.value() - free.energy.value(), 2.015 * std::sqrt(4.48), 0.01);
  EXPECT_FALSE(free.fit.floor_decides);
  how.earlier.level_floor = 0.1;
  how.earlier.drift_per_epoch = 0.01;
  const auto wide = said(epochs_of({99.6, 100.4, 100.4, 99.6}), 10, how);
  EXPECT_NEAR(wide.high.value() - wide.energy.value(), 0.2 * 1000, 0.1);
  EXPECT_TRUE(wide.fit.floor_decides);
}

TEST(Predict, NothingIsEverNegative) {
  const auto next = said(epochs_of({1, 0, 0, 0.001, 0, 3}), 1'000'000'000);
  EXPECT_GE(next.low.value(), 0);
  EXPECT_GE(next.energy.value(), next.low.value());
  EXPECT_EQ(said(epochs_of({0, 0, 0}), 5).energy.value(), 0);
}

TEST(Predict, HugeAndTinyEpochsStayFinite) {
  for (const double size : {1e18, 1e-6}) {
    const auto next = said(epochs_of({size, size, size}), 1'000'000'000);
    EXPECT_NEAR(next.energy.value() / size, 1e9, 1e4);
    EXPECT_TRUE(std::isfinite(next.high.value()));
  }
}

TEST(Predict, EpochsOfAllSizesTogetherStayFinite) {
  const auto next = said(epochs_of({1e-300, 1e18, 1e-300, 1e-9, 1e18, 1e-300, 1, 1e18}), 1'000'000'000);
  EXPECT_TRUE(std::isfinite(next.low.value()) && std::isfinite(next.high.value()));
  EXPECT_LE(next.low, next.high);
}

TEST(Predict, OneEpochIsTooFew) {
  const auto next = predict_energy(epochs_of({100}), 10);
  ASSERT_FALSE(next);
  EXPECT_THAT(next.error().to_string(), HasSubstr("1 epoch with energy: too few"));
}

TEST(Predict, AHorizonBelowOneIsRefused) { EXPECT_FALSE(predict_energy(epochs_of({100, 100}), 0)); }

TEST(Predict, UnknownEnergyIsLeftOut) {
  auto epochs = epochs_of({100, 100, 100, 100});
  epochs[2].energy.reset();
  epochs[1].seconds.reset();
  const auto next = said(epochs, 10);
  EXPECT_EQ(next.fit.epochs_known, 3U);
  EXPECT_NEAR(next.energy.value(), 1000, 0.01);
  EXPECT_NEAR(next.seconds->value(), 100, 0.01);
}

TEST(Predict, WithoutAnyTimeTheTimeIsUnknown) {
  auto epochs = epochs_of({100, 100, 100});
  for (auto& epoch : epochs) epoch.seconds.reset();
  EXPECT_EQ(said(epochs, 10).seconds, std::nullopt);
}

TEST(Predict, TheFitFollowsEveryKEpochsOnly) {
  EnergyPredictor predictor{{.update_every = 2}};
  const auto epochs = epochs_of({100, 100, 100, 50, 50});
  for (std::size_t i = 0; i < 3; ++i) predictor.observe(epochs[i]);
  EXPECT_EQ(predictor.predict(10)->fit.updates, 1U);
  predictor.observe(epochs[3]);
  EXPECT_EQ(predictor.predict(10)->fit.updates, 2U);
  predictor.observe(epochs[4]);
  EXPECT_EQ(predictor.predict(10)->fit.changed_at, std::nullopt);
  predictor.update();
  EXPECT_EQ(predictor.predict(10)->fit.changed_at, 4);
}

TEST(Predict, ALongRunKeepsABoundedWindow) {
  EnergyPredictor predictor;
  std::mt19937 random{7};
  std::normal_distribution<double> noise{100, 0.2};
  for (std::int64_t i = 1; i <= 1000; ++i)
    predictor.observe({i, Joules{i == 1 ? 300 : noise(random)}, std::nullopt});
  const auto next = predictor.predict(100);
  ASSERT_TRUE(next);
  EXPECT_NEAR(next->energy.value(), 10000, 30);
  EXPECT_EQ(next->fit.warm_up_epochs, 1U);
}

TEST(Predict, NinetyPercentOfIndependentRunsLieInside) {
  std::mt19937 random{11};
  int inside = 0;
  constexpr int kRuns = 1000;
  PredictorOptions how;
  how.earlier = {.epoch_spread = 0.01, .level_floor = 0, .drift_per_epoch = 0, .source = ""};
  for (int run = 0; run < kRuns; ++run) {
    std::normal_distribution<double> noise{100, 1};
    std::vector<Epoch> epochs;
    for (std::int64_t i = 1; i <= 12; ++i) epochs.push_back({i, Joules{noise(random)}, std::nullopt});
    double truth = 0;
    for (int i = 0; i < 25; ++i) truth += noise(random);
    const auto next = said(epochs, 25, how);
    inside += next.low.value() <= truth && truth <= next.high.value() ? 1 : 0;
  }
  EXPECT_GT(inside, 850);
  EXPECT_LT(inside, 950);
}

TEST(EarlierRuns, TheirErrorsMakeTheFloor) {
  // Both say 10 x 100; it came to 1000 / 1.01 and 1000 / 0.99: rms 1 %, t(2) = 2.92.
  std::vector<std::vector<Epoch>> runs{epochs_of({100, 100, 100}), epochs_of({100, 100, 100})};
  for (int i = 0; i < 10; ++i) {
    runs[0].push_back({4 + i, Joules{100 / 1.01}, std::nullopt});
    runs[1].push_back({4 + i, Joules{100 / 0.99}, std::nullopt});
  }
  const auto spread = spread_of(runs, 3, 10);
  ASSERT_TRUE(spread);
  EXPECT_NEAR(spread->floor_at(10), 0.0292, 1e-4);
  EXPECT_EQ(spread->source, "2 earlier runs");
}

TEST(EarlierRuns, TooShortOnesAreRefused) {
  const std::vector<std::vector<Epoch>> runs{epochs_of({1, 1, 1})};
  EXPECT_THAT(spread_of(runs, 3, 10).error().to_string(),
              HasSubstr("none of the 1 earlier runs has 13 epochs"));
}

TEST(RecursiveLeastSquares, EqualsTheWeightedLeastSquaresOfAll) {
  // y = 2 + 3x at x = 0, 1, 0, 1 with noise +-; weights 0.9^3, 0.9^2, 0.9, 1.
  constexpr double kForget = 0.9;
  const double x[] = {0, 1, 0, 1};
  const double y[] = {2.1, 5.2, 1.8, 4.9};
  RecursiveLeastSquares<2> fit{kForget};
  for (int i = 0; i < 4; ++i) fit.observe({1, x[i]}, y[i]);
  const double w[] = {0.729, 0.81, 0.9, 1};
  const double low = (w[0] * y[0] + w[2] * y[2]) / (w[0] + w[2]);
  const double high = (w[1] * y[1] + w[3] * y[3]) / (w[1] + w[3]);
  EXPECT_NEAR(fit.predict({1, 0}), low, 1e-4);
  EXPECT_NEAR(fit.predict({1, 1}), high, 1e-4);
  EXPECT_NEAR(fit.uncertainty({1, 0}), 1 / (w[0] + w[2]), 1e-4);
}

TEST(StudentT, IsWhatTheTablesSay) {
  EXPECT_NEAR(t_quantile_95(1), 6.314, 1e-3);
  EXPECT_NEAR(t_quantile_95(3), 2.353, 1e-3);
  EXPECT_NEAR(t_quantile_95(7), 1.895, 1e-3);
  EXPECT_NEAR(t_quantile_95(10), 1.812, 1e-3);
  EXPECT_NEAR(t_quantile_95(30), 1.697, 1e-3);
  EXPECT_NEAR(t_quantile_95(1e6), 1.645, 1e-3);
}

}  // namespace
}  // namespace tidewatt::tasks
