#include "tidewatt/k8s/cluster_view.h"

#include <gtest/gtest.h>

namespace tidewatt::k8s {
namespace {

ClusterView view() {
  ClusterRules rules;
  rules.node_budget = Watts{1'000};
  rules.node_budgets = {{"big", Watts{10'000}}};
  rules.zone_of = {{"eu-central-1a", "DE"}, {"us-west", "US-CAL-CISO"}};
  return ClusterView{rules,
                     {{"a", Watts{250}, "eu-central-1a", ""},
                      {"b", std::nullopt, "", "us-west"},
                      {"full", Watts{1'000}, "", ""},
                      {"big", Watts{2'500}, "FR", ""}},
                     {{"DE", GramsPerKwh{380}}, {"US-CAL-CISO", std::nullopt}, {"FR", GramsPerKwh{40}}}};
}

TEST(ClusterView, PowerLeftIsWhatTheBudgetAllowsBeyondWhatIsMeasured) {
  EXPECT_DOUBLE_EQ(*view().candidate("a", {}).power_left, 0.75);
  EXPECT_DOUBLE_EQ(*view().candidate("big", {}).power_left, 0.75);
  EXPECT_DOUBLE_EQ(*view().candidate("full", {}).power_left, 0);
}

TEST(ClusterView, UnknownPowerOfANodeStaysUnknown) {
  EXPECT_FALSE(view().candidate("b", {}).power_left);
  EXPECT_FALSE(view().candidate("never-heard-of", {}).power_left);
}

TEST(ClusterView, WithoutABudgetPowerSaysNothing) {
  const ClusterView none{{}, {{"a", Watts{250}, "", ""}}, {}};
  EXPECT_FALSE(none.candidate("a", {}).power_left);
  EXPECT_FALSE(none.refusal("a"));
}

TEST(ClusterView, TheSchedulersLabelsWinOverTheAgents) {
  EXPECT_EQ(view().candidate("a", {}).intensity, GramsPerKwh{380});
  EXPECT_EQ(view().candidate("a", {"FR", ""}).intensity, GramsPerKwh{40});
  EXPECT_EQ(view().candidate("new", {"nowhere", "eu-central-1a"}).intensity, GramsPerKwh{380});
  // The label names a zone whose signal is degraded: the agent's zone is no stand-in.
  EXPECT_EQ(view().candidate("a", {"us-west", ""}).intensity, std::nullopt);
}

TEST(ClusterView, NodesAtTheirBudgetAreRefusedWithBothFigures) {
  EXPECT_EQ(view().refusal("full"), "power budget reached: 1000 W of 1000 W");
  for (const char* node : {"a", "b", "big", "never-heard-of"}) EXPECT_FALSE(view().refusal(node)) << node;
}

TEST(ClusterView, CarbonZonesAreFoundByTheMapOrByTheirOwnName) {
  EXPECT_EQ(view().carbon_zone("us-west"), "US-CAL-CISO");
  EXPECT_EQ(view().carbon_zone("FR"), "FR");
  EXPECT_EQ(view().carbon_zone("mars"), std::nullopt);
  EXPECT_EQ(view().carbon_zone(""), std::nullopt);
}

}  // namespace
}  // namespace tidewatt::k8s
