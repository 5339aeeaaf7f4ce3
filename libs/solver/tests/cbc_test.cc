#include "tidewatt/solver/cbc.h"

#include <gtest/gtest.h>

namespace tidewatt::solver {
namespace {

using planning::MipModel;

/// The most worth in a knapsack of 10: weights 6, 5, 5, worth 9, 7, 7; the two of 5 win, the relaxation would
/// cut.
MipModel knapsack() {
  MipModel model;
  model.columns = {{0, 1, -9, true}, {0, 1, -7, true}, {0, 1, -7, true}};
  model.rows = {{0, 10, {{0, 6}, {1, 5}, {2, 5}}}};
  return model;
}

TEST(Cbc, FindsAndProvesTheBestWholeSolution) {
  const auto answer = make_cbc_solver()->solve(knapsack(), 1000, {});
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->found);
  EXPECT_TRUE(answer->proved);
  EXPECT_NEAR(answer->cost, -14, 1e-6);
  EXPECT_NEAR(answer->bound, -14, 1e-6);
}

TEST(Cbc, SaysWhenThereIsNoSolution) {
  auto model = knapsack();
  model.rows.push_back({3.5, 4, {{0, 1}, {1, 1}, {2, 1}}});
  const auto answer = make_cbc_solver()->solve(model, 1000, {});
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->found);
}

TEST(Cbc, GivesTheSameAnswerTwice) {
  const auto solver = make_cbc_solver();
  EXPECT_EQ(solver->solve(knapsack(), 1000, {})->values, solver->solve(knapsack(), 1000, {})->values);
}

}  // namespace
}  // namespace tidewatt::solver
