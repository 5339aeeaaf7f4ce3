// What KEDA's metrics-api trigger reads.
#include "api_fixture.h"
#include "fixed_signals.h"

namespace tidewatt::api {
namespace {

using testing::ApiTest;
using testing::FixedSignals;
using testing::Json;

class Keda : public ApiTest {
 protected:
  Keda() {
    signals_->set("DE", 312);
    auto options = make_options();
    options.signals = signals_;
    options.kubernetes.nodes.zone_of = {{"eu-central-1", "DE"}};
    options.kubernetes.policies = {
        {"batch", k8s::parse_replica_policy("zone=DE min=0 steps=150:20,350:4 schedule=8-12:7").value()},
        {"lost", k8s::parse_replica_policy("zone=FR steps=150:20").value()}};
    restart(options);
    cluster_ = token(Role::cluster);
  }
  Json data(const std::string& target) { return get(target, cluster_).at("data"); }

  std::shared_ptr<FixedSignals> signals_ = std::make_shared<FixedSignals>();
  std::string cluster_;
};

TEST_F(Keda, IntensityOfARegionOrZone) {
  EXPECT_EQ(data("/api/v1/carbon-intensity?region=eu-central-1").at("carbon_intensity"), 312);
  const auto by_zone = data("/api/v1/carbon-intensity?region=DE");
  EXPECT_EQ(by_zone.at("carbon_intensity"), 312);
  EXPECT_EQ(by_zone.at("degraded"), false);
  EXPECT_EQ(call("GET", "/api/v1/carbon-intensity?region=mars", cluster_).status, 404);
  EXPECT_EQ(call("GET", "/api/v1/carbon-intensity", cluster_).status, 400);
}

TEST_F(Keda, AnUnknownIntensityIsNullWhichKedaTakesForAFailure) {
  signals_->all["DE"].decision.value.reset();
  signals_->all["DE"].decision.degraded_reason = "nothing known";
  const auto got = data("/api/v1/carbon-intensity?region=DE");
  EXPECT_EQ(got.at("carbon_intensity"), nullptr);
  EXPECT_EQ(got.at("degraded"), true);
}

TEST_F(Keda, ReplicasFallAsCarbonRises) {
  int before = 1'000;
  for (const auto& [grams, wanted] :
       std::vector<std::pair<double, int>>{{100, 20}, {150, 20}, {312, 4}, {351, 0}}) {
    signals_->set("DE", grams);
    const auto got = data("/api/v1/keda/replicas?policy=batch");
    EXPECT_EQ(got.at("replicas"), wanted) << grams;
    EXPECT_EQ(got.at("by"), "signal");
    EXPECT_LE(got.at("replicas"), before);
    before = got.at("replicas");
  }
}

TEST_F(Keda, ADegradedSignalLeavesTheScheduleAndNeverNone) {
  signals_->set("DE", 999, "the provider fails");
  auto got = data("/api/v1/keda/replicas?policy=batch");
  EXPECT_EQ(got.at("replicas"), 7) << "10:01 is in 8-12";
  EXPECT_EQ(got.at("by"), "schedule");
  EXPECT_EQ(got.at("degraded_reason"), "the provider fails");
  clock_.advance(std::chrono::hours{3});
  got = data("/api/v1/keda/replicas?policy=batch");
  EXPECT_EQ(got.at("replicas"), 20);
  EXPECT_EQ(got.at("by"), "nothing");
}

TEST_F(Keda, APolicyOfAZoneThatIsGoneRunsAsWithoutCarbon) {
  EXPECT_EQ(data("/api/v1/keda/replicas?policy=lost").at("replicas"), 20);
}

TEST_F(Keda, UnknownPoliciesAreNotFound) {
  for (const char* target : {"/api/v1/keda/replicas?policy=x", "/api/v1/keda/replicas"})
    EXPECT_EQ(call("GET", target, cluster_).status, 404) << target;
}

}  // namespace
}  // namespace tidewatt::api
