#include "tidewatt/k8s/replica_policy.h"

#include <gtest/gtest.h>

#include <array>

#include "tidewatt/k8s/hpa.h"

namespace tidewatt::k8s {
namespace {

constexpr const char* kText = "zone=DE min=1 steps=150:20,250:10,350:4 schedule=0-6:20,6-22:4";

ReplicaPolicy policy(const std::string& text = kText) { return parse_replica_policy(text).value(); }
WantedReplicas at_hour(const ReplicaPolicy& rules, std::optional<double> grams, int hour) {
  return wanted_replicas(rules, grams ? std::optional{GramsPerKwh{*grams}} : std::nullopt,
                         UtcTime{std::chrono::hours{24 * 20'000 + hour}});
}

TEST(ReplicaPolicy, ReplicasFallAsCarbonRises) {
  const auto rules = policy();
  EXPECT_EQ(at_hour(rules, 0, 3).replicas, 20);
  EXPECT_EQ(at_hour(rules, 150, 3).replicas, 20);
  EXPECT_EQ(at_hour(rules, 150.1, 3).replicas, 10);
  EXPECT_EQ(at_hour(rules, 350, 3).replicas, 4);
  EXPECT_EQ(at_hour(rules, 351, 3).replicas, 1);
  EXPECT_EQ(at_hour(rules, 351, 3).by, WantedBy::signal);
  int before = rules.max();
  for (int grams = 0; grams < 1'000; ++grams) {
    const int now = at_hour(rules, grams, 3).replicas;
    EXPECT_LE(now, before);
    EXPECT_GE(now, rules.min);
    before = now;
  }
}

TEST(ReplicaPolicy, WithoutASignalTheScheduleHoldsAndElseTheMost) {
  const auto rules = policy();
  EXPECT_EQ(at_hour(rules, std::nullopt, 5).replicas, 20);
  EXPECT_EQ(at_hour(rules, std::nullopt, 6).replicas, 4);
  EXPECT_EQ(at_hour(rules, std::nullopt, 6).by, WantedBy::schedule);
  EXPECT_EQ(at_hour(rules, std::nullopt, 23).replicas, 20);
  EXPECT_EQ(at_hour(rules, std::nullopt, 23).by, WantedBy::nothing);
}

TEST(ReplicaPolicy, NoneIsForADirtyHourNeverForAMissingSignal) {
  const auto rules = policy("zone=DE min=0 steps=300:5");
  EXPECT_EQ(at_hour(rules, 301, 3).replicas, 0);
  EXPECT_EQ(at_hour(rules, std::nullopt, 3).replicas, 5);
  EXPECT_FALSE(parse_replica_policy("zone=DE min=0 steps=300:5 schedule=0-24:0"));
}

TEST(ReplicaPolicy, TheAutoscalerReachesEachStepFromEachOther) {
  const auto rules = policy();
  for (const int from : {20, 10, 4, 1})
    for (const double grams : {100.0, 200.0, 300.0, 400.0}) {
      const int wanted = at_hour(rules, grams, 3).replicas;
      const std::array metrics{HpaMetric{static_cast<double>(wanted), 1}};
      EXPECT_EQ(hpa_desired(from, metrics), wanted) << from;
    }
}

TEST(ReplicaPolicy, WhatCanNotBeMeantIsRefused) {
  for (const char* text : {"",
                           "zone=DE",
                           "steps=100:5",
                           "zone=DE steps=",
                           "zone=DE steps=100:5,50:2",
                           "zone=DE steps=100:5,200:8",
                           "zone=DE steps=100:20,200:19",
                           "zone=DE steps=100:11,200:10",
                           "zone=DE steps=100:5 min=5",
                           "zone=DE steps=100:5 min=-1",
                           "zone=DE steps=100",
                           "zone=DE steps=x:5",
                           "zone=DE steps=100:x",
                           "zone=DE steps=nan:5",
                           "zone=DE steps=100:5 color=red",
                           "zone=DE steps=100:5 schedule=0-25:2",
                           "zone=DE steps=100:5 schedule=6-6:2",
                           "zone=DE steps=100:5 schedule=0-24:9",
                           "zone=DE steps=100:5 schedule=0-8:2,7-9:3",
                           "zone=DE steps=100:1000000"}) {
    const auto parsed = parse_replica_policy(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().to_string().find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace tidewatt::k8s
