#include "tidewatt/planning/thermal_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace tidewatt::planning {
namespace {

std::vector<ThermalLogRow> log_of(const ThermalModel& model, std::size_t rows, double noise) {
  std::mt19937 random{3};
  std::vector<ThermalLogRow> log;
  double heat = 200 + static_cast<double>(random() % 800);
  auto state = settled(model, heat, 10);
  for (std::size_t i = 0; i < rows; ++i) {
    const double wet = 10 + 3 * std::sin(static_cast<double>(i) / 900);
    if (i > 0 && i % 120 == 0) heat = 200 + static_cast<double>(random() % 800);
    const auto off = [&] { return noise * (static_cast<double>(random() % 2001) / 1000 - 1); };
    log.push_back({15.0 * static_cast<double>(i), heat, wet, state.loop_c + off(), state.chip_c + off()});
    state = advance(model, state, heat, wet, 15);
  }
  return log;
}

TEST(ThermalModel, TheChipFollowsWithinAMinuteTheLoopInTenMinutes) {
  const ThermalModel model;
  auto state = settled(model, 0, 10);
  state = advance(model, state, 1000, 10, 60);
  const auto end = settled(model, 1000, 10);
  EXPECT_GT(state.chip_c - state.loop_c, 0.8 * (end.chip_c - end.loop_c));
  EXPECT_LT(state.loop_c - settled(model, 0, 10).loop_c, 0.15 * (end.loop_c - settled(model, 0, 10).loop_c));
  state = advance(model, state, 1000, 10, 3600);
  EXPECT_NEAR(state.loop_c, end.loop_c, 0.1);
}

TEST(ThermalModel, LoopStepsAddUp) {
  const ThermalModel model;
  const auto from = settled(model, 100, 5);
  auto steps = from;
  for (int i = 0; i < 10; ++i) steps = advance(model, steps, 900, 15, 30);
  EXPECT_NEAR(steps.loop_c, advance(model, from, 900, 15, 300).loop_c, 1e-9);
}

TEST(ThermalModel, ALargerSiteIsntHotterAtItsRatedLoad) {
  for (const double rated : {100.0, 1000.0, 30000.0}) {
    const auto full = settled(typical_loop(rated), rated, 12);
    EXPECT_NEAR(full.loop_c, 12 + 4 + 10, 1e-9) << rated;
    EXPECT_NEAR(full.chip_c, full.loop_c + 10, 1e-9) << rated;
  }
  EXPECT_NEAR(typical_loop(1000).chip_c_per_kw, ThermalModel{}.chip_c_per_kw, 1e-12);
}

TEST(ThermalFit, FindsTheModelThatMadeTheLog) {
  ThermalModel model;
  model.chip_tau_s = 40;
  model.loop_tau_s = 700;
  const auto fit = fit_thermal(log_of(model, 3000, 0.1));
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_NEAR(fit->model.loop_tau_s, 700, 35);
  EXPECT_NEAR(fit->model.loop_c_per_kw, model.loop_c_per_kw, 0.02 * model.loop_c_per_kw);
  EXPECT_NEAR(fit->model.approach_c, model.approach_c, 0.1);
  EXPECT_NEAR(fit->model.chip_tau_s, 40, 10);
  EXPECT_NEAR(fit->model.chip_c_per_kw, model.chip_c_per_kw, 0.02 * model.chip_c_per_kw);
  EXPECT_LT(fit->loop_rmse_c, 0.1);
}

TEST(ThermalFit, RefusesWhatTeachesNothing) {
  auto log = log_of({}, 9, 0);
  EXPECT_FALSE(fit_thermal(log));
  log = log_of({}, 100, 0);  // one level of load
  EXPECT_FALSE(fit_thermal(log));
  log = log_of({}, 300, 0);
  EXPECT_TRUE(fit_thermal(log));
  log[20].at_s = log[19].at_s;
  EXPECT_FALSE(fit_thermal(log));
}

TEST(Pue, RisesWithTheWetBulbAndAtLowLoad) {
  const PueModel model;
  EXPECT_FALSE(pue_at(model, 0, 10));
  EXPECT_NEAR(pue_at(model, 1000, 10).value(), 1.02, 1e-12);
  EXPECT_NEAR(pue_at(model, 1000, 20).value(), 1.06, 1e-12);
  EXPECT_NEAR(pue_at(model, 100, 10).value(), 1.11, 1e-12);
  EXPECT_EQ(pue_at(model, 0.001, 10).value(), model.most);
}

}  // namespace
}  // namespace tidewatt::planning
