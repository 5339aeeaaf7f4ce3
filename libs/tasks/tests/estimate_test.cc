#include "tidewatt/tasks/estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tidewatt::tasks {
namespace {

using testing::HasSubstr;

Resources eight_h100() {
  Resources r;
  r.card_model = "NVIDIA H100 80GB HBM3";
  r.cards = 8;
  r.node_cards = 8;
  r.cores = 64;
  r.node_cores = 128;
  r.duration = Seconds{3600};
  return r;
}

TEST(Estimate, AlikeTasksGiveMedianAndNinetiethPercentile) {
  // 100, 200 .. 500 J: median 300; 0.9 x 4 = 3.6 of the way: 460.
  std::vector<PastTask> alike;
  for (const double joules : {500.0, 100.0, 300.0, 200.0, 400.0})
    alike.push_back({Joules{joules}, Seconds{joules / 10}});
  const auto got = estimate_task(alike, {});
  ASSERT_TRUE(got);
  EXPECT_DOUBLE_EQ(got->median.value(), 300);
  EXPECT_DOUBLE_EQ(got->p90.value(), 460);
  EXPECT_DOUBLE_EQ(got->duration.value(), 30);
  EXPECT_EQ(got->how, "median and 90th percentile of 5 alike tasks");
}

TEST(Estimate, WithoutHistoryResourcesAreAddedUp) {
  // Median: 8 x 490 + 64 x 12 + 200 x max(1, 0.5) = 4888 W; p90: 8 x 700 + 768 + 200 = 6568 W.
  const auto got = estimate_task({}, eight_h100());
  ASSERT_TRUE(got);
  EXPECT_DOUBLE_EQ(got->median.value(), 4888.0 * 3600);
  EXPECT_DOUBLE_EQ(got->p90.value(), 6568.0 * 3600);
  EXPECT_THAT(got->how, HasSubstr("8 cards at 0.7 to 1 of 700 W, 64 cores at 12 W, 100 % of 200 W"));
}

TEST(Estimate, WhatTheModelDrewBeforeReplacesTheLimit) {
  auto r = eight_h100();
  r.cards_before = CardHistory{Watts{300}, Watts{500}};
  const auto got = estimate_task({}, r);
  EXPECT_DOUBLE_EQ(got->median.value(), (8 * 300 + 968) * 3600.0);
  EXPECT_DOUBLE_EQ(got->p90.value(), (8 * 500 + 968) * 3600.0);
}

TEST(Estimate, EightHoursByDefaultAndSharesOfANode) {
  // 4 of 16 cores: 48 W + 200 x 0.25 = 98 W for 8 h.
  Resources r;
  r.cores = 4;
  r.node_cores = 16;
  const auto got = estimate_task({}, r);
  EXPECT_DOUBLE_EQ(got->median.value(), 98 * 8 * 3600.0);
  EXPECT_DOUBLE_EQ(got->p90.value(), got->median.value());
  EXPECT_THAT(got->how, HasSubstr("8 h by default"));
}

TEST(Estimate, TwoAlikeTasksAreTooFew) {
  const std::vector<PastTask> alike(2, {Joules{1}, Seconds{1}});
  EXPECT_THAT(estimate_task(alike, eight_h100())->how, HasSubstr("by resources"));
}

TEST(Estimate, AnUnknownCardNeedsALimit) {
  auto r = eight_h100();
  r.card_model = "Mystery 9000";
  const auto refused = estimate_task({}, r);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().to_string(), HasSubstr("no power limit known for card model \"Mystery 9000\""));
  r.card_limit = Watts{100};
  EXPECT_DOUBLE_EQ(estimate_task({}, r)->p90.value(), (8 * 100 + 968) * 3600.0);
}

TEST(Estimate, AmountsThatCannotBeAreRefused) {
  auto r = eight_h100();
  r.cores = -1;
  EXPECT_FALSE(estimate_task({}, r));
}

TEST(CardPowerLimit, FindsTheModelAsNodesNameIt) {
  const std::pair<const char*, double> rows[] = {{"NVIDIA H100 80GB HBM3", 700},
                                                 {"NVIDIA H100 PCIe", 350},
                                                 {"NVIDIA A100-SXM4-80GB", 400},
                                                 {"NVIDIA A100-PCIE-40GB", 250},
                                                 {"NVIDIA A100 80GB PCIe", 300},
                                                 {"NVIDIA L40S", 350},
                                                 {"NVIDIA L4", 72},
                                                 {"Tesla T4", 70},
                                                 {"AMD Instinct MI300X", 750},
                                                 {"HL-325L", 900},
                                                 {"nvidia h200", 700}};
  for (const auto& [model, watts] : rows) EXPECT_EQ(card_power_limit(model), Watts{watts}) << model;
  EXPECT_EQ(card_power_limit(""), std::nullopt);
  EXPECT_EQ(card_power_limit("H1000"), std::nullopt);
}

TEST(EstimateCarbon, IsAtTheMeanOfTheKnownHours) {
  // 2 and 4 kWh at (300 + 500) / 2 g/kWh; one of three hours has no forecast.
  Estimate estimate;
  estimate.median = to_joules(WattHours{2000});
  estimate.p90 = to_joules(WattHours{4000});
  const std::vector<std::optional<GramsPerKwh>> hours{GramsPerKwh{300}, std::nullopt, GramsPerKwh{500}};
  const auto got = carbon_of(estimate, hours);
  ASSERT_TRUE(got);
  EXPECT_DOUBLE_EQ(got->median.value(), 800);
  EXPECT_DOUBLE_EQ(got->p90.value(), 1600);
  EXPECT_NEAR(got->known_share, 2.0 / 3, 1e-12);
  EXPECT_EQ(carbon_of(estimate, std::vector<std::optional<GramsPerKwh>>(3)), std::nullopt);
}

}  // namespace
}  // namespace tidewatt::tasks
