// What a Prometheus writes is booked, each joule and each token once.
#include "api_fixture.h"
#include "tidewatt/testing/remote_write_body.h"

namespace tidewatt::api {
namespace {

using testing::ApiTest;
using testing::at;
using testing::Json;
using ::tidewatt::testing::kStaleMarker;
using ::tidewatt::testing::remote_write_body;
using ::tidewatt::testing::SentSeries;

class RemoteWriteTest : public ApiTest {
 protected:
  void SetUp() override {
    ops_ = token(Role::ops);
    sender_ = token(Role::agent);
    ASSERT_EQ(call("POST", "/api/v1/tasks", ops_, R"({"task_id":"chat/llm-0","group_id":"chat"})").status,
              201);
  }

  net::Response write(const std::vector<SentSeries>& series) {
    auto made = request("POST", "/api/v1/write", sender_, remote_write_body(series));
    made.headers["content-encoding"] = "snappy";
    made.headers["content-type"] = "application/x-protobuf";
    return api_->handle(made);
  }
  void take(const std::vector<SentSeries>& series) {
    const auto answer = write(series);
    EXPECT_EQ(answer.status, 204) << answer.body;
  }

  /// Seconds after 10:00.
  static std::int64_t second(double s) {
    return at("2026-03-01T10:00:00Z").time_since_epoch().count() + static_cast<std::int64_t>(s * 1000);
  }
  static SentSeries card(std::vector<std::pair<double, std::int64_t>> millijoules) {
    return {{{"__name__", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"},
             {"gpu", "0"},
             {"UUID", "GPU-7"},
             {"Hostname", "n7"},
             {"exported_namespace", "chat"},
             {"exported_pod", "llm-0"}},
            std::move(millijoules)};
  }
  static SentSeries package(const std::string& metric, std::vector<std::pair<double, std::int64_t>> joules) {
    return {{{"__name__", metric}, {"instance", "n7:9100"}, {"index", "0"}, {"package", "0"}},
            std::move(joules)};
  }
  static SentSeries output_tokens(std::vector<std::pair<double, std::int64_t>> counts,
                                  const std::string& replica = {}) {
    SentSeries series{{{"__name__", "vllm:generation_tokens_total"}, {"namespace", "chat"}, {"pod", "llm-0"}},
                      std::move(counts)};
    if (!replica.empty()) series.labels.emplace_back("__replica__", replica);
    return series;
  }

  std::string energy_uj(const std::string& target) {
    const auto accounts = get("/api/v1/energy/accounts?" + target, ops_).at("accounts");
    return accounts.empty() ? "none" : accounts.at(0).at("energy_uj").get<std::string>();
  }
  std::int64_t completion_tokens() {
    const auto hours =
        store_->token_hours(hour_of(at("2026-03-01T10:00:00Z")), hour_of(at("2026-03-01T11:00:00Z")));
    return hours->empty() ? 0 : hours->at(0).tokens.completion;
  }
  std::string outcome(const std::string& name) {
    const auto text = call("GET", "/metrics", ops_).body;
    const auto line = text.find("tidewatt_remote_write_samples_total{outcome=\"" + name + "\"} ");
    return text.substr(text.find("} ", line) + 2, text.find('\n', line) - text.find("} ", line) - 2);
  }

  std::string ops_;
  std::string sender_;
};

TEST_F(RemoteWriteTest, ACountersDifferencesAreTheNodesAndTheTasksEnergy) {
  take({card({{5e6, second(0)}, {5.3e6, second(15)}})});
  take({card({{5.9e6, second(30)}})});
  EXPECT_EQ(energy_uj("scope=node&ids=n7"), "900000000");
  EXPECT_EQ(energy_uj("scope=task&ids=chat/llm-0"), "900000000");
  EXPECT_EQ(energy_uj("scope=device&ids=n7/0"), "900000000");
}

TEST_F(RemoteWriteTest, WhatComesTwiceLateOrFromTheOtherOfAPairAddsNothing) {
  take({card({{5e6, second(0)}})});
  take({card({{5.9e6, second(30)}})});
  take({card({{5.3e6, second(15)}})});
  take({card({{5.9e6, second(30)}})});
  take({card({{6.1e6, second(35)}})});  // the other server's scrape
  EXPECT_EQ(energy_uj("scope=node&ids=n7"), "1100000000");
  EXPECT_EQ(outcome("old"), "2");
}

TEST_F(RemoteWriteTest, ACounterThatFellBeganAnewAndAllItHasIsNew) {
  take({card({{5e6, second(0)}, {5.3e6, second(15)}, {1e5, second(30)}, {4e5, second(45)}})});
  EXPECT_EQ(energy_uj("scope=node&ids=n7"), "700000000") << "300 J, 100 J after the reset, 300 J";
}

TEST_F(RemoteWriteTest, ACounterThatFallsWithinASecondWasReadInAnotherOrder) {
  take({card({{5e6, second(0)}, {5.3e6, second(15)}, {5.2e6, second(15.4)}, {5.6e6, second(30)}})});
  EXPECT_EQ(energy_uj("scope=node&ids=n7"), "600000000");
}

TEST_F(RemoteWriteTest, StaleMarkersAndAbsurdValuesSayNothing) {
  take({card({{5e6, second(0)},
              {kStaleMarker, second(15)},
              {-1, second(20)},
              {1e300, second(25)},
              {5.9e6, second(30)},
              {6e6, second(3'600)}})});
  EXPECT_EQ(energy_uj("scope=node&ids=n7"), "900000000");
  EXPECT_EQ(outcome("unusable"), "4");
}

TEST_F(RemoteWriteTest, OfACardWithACounterThePowerIsntBookedToo) {
  auto power = card({{400, second(15)}, {400, second(30)}});
  power.labels[0].second = "DCGM_FI_DEV_POWER_USAGE";
  take({card({{5e6, second(0)}})});
  take({power});
  take({card({{5.9e6, second(30)}})});
  EXPECT_EQ(energy_uj("scope=node&ids=n7"), "900000000");
}

TEST_F(RemoteWriteTest, PowerAloneIsIntegrated) {
  auto power = card({{400, second(0)}, {400, second(15)}});
  power.labels[0].second = "DCGM_FI_DEV_POWER_USAGE";
  take({power});
  EXPECT_EQ(energy_uj("scope=node&ids=n7"), "6000000000");
}

TEST_F(RemoteWriteTest, ANodeThatOurAgentMetersIsNotMeteredTwice) {
  one_minute("n7");  // 21,600 J by the agent
  take({card({{5e6, second(0)}, {9e6, second(65)}})});
  EXPECT_EQ(energy_uj("scope=node&ids=n7"), "21600000000");
  EXPECT_EQ(outcome("shadow"), "2");
  EXPECT_EQ(outcome("booked"), "0");
}

TEST_F(RemoteWriteTest, OfTwoExportersTheBetterOneIsBookedAndAChangeIsABaseline) {
  take({package("node_rapl_package_joules_total", {{100, second(0)}, {200, second(15)}})});
  take({package("kepler_node_package_joules_total", {{7'000, second(20)}, {7'050, second(30)}})});
  take({package("node_rapl_package_joules_total", {{300, second(30)}, {310, second(31)}})});
  EXPECT_EQ(energy_uj("scope=node&ids=n7"), "150000000")
      << "100 J, then 50 J; what node_exporter adds is in them";
  EXPECT_EQ(outcome("shadow"), "2");
}

TEST_F(RemoteWriteTest, TokensAreCountedOnceOverResetsAndAPairOfServers) {
  take({output_tokens({{1'000, second(0)}}, "p0")});
  take({output_tokens({{1'040, second(5)}}, "p1")});
  take({output_tokens({{1'100, second(15)}}, "p0"), output_tokens({{1'100, second(15)}}, "p1")});
  EXPECT_EQ(completion_tokens(), 100) << "the first sample is a baseline";
  take({output_tokens({{kStaleMarker, second(25)}, {30, second(30)}, {50, second(45)}}, "p0")});
  EXPECT_EQ(completion_tokens(), 150);
  take({output_tokens({{45, second(40)}}, "p1")});
  EXPECT_EQ(completion_tokens(), 150);
}

TEST_F(RemoteWriteTest, TokensOfNobodysGroupAreInNoFigure) {
  auto series = output_tokens({{10, second(0)}, {20, second(15)}});
  series.labels[2].second = "stranger";
  take({series});
  EXPECT_EQ(completion_tokens(), 0);
  EXPECT_EQ(outcome("no_task"), "2");
}

TEST_F(RemoteWriteTest, IdsThatAreTooLongAreNobodys) {
  auto long_named = card({{5e6, second(0)}, {6e6, second(15)}});
  long_named.labels[3].second = std::string(2'000, 'n');
  auto many_labels = output_tokens({{1, second(0)}, {8, second(15)}});
  for (int i = 0; i < 100; ++i)
    many_labels.labels.emplace_back("l" + std::to_string(i), std::string(2'000, 'v'));
  take({long_named, many_labels});
  EXPECT_EQ(outcome("unusable"), "2");
  EXPECT_EQ(completion_tokens(), 7);
}

TEST_F(RemoteWriteTest, WhatIsNoRemoteWriteIsRefusedForGood) {
  auto made = request("POST", "/api/v1/write", sender_, "garbage");
  EXPECT_EQ(api_->handle(made).status, 415);
  made.headers["content-encoding"] = "snappy";
  EXPECT_EQ(api_->handle(made).status, 400);
  made.headers["content-type"] = "application/x-protobuf;proto=io.prometheus.write.v2.Request";
  EXPECT_EQ(api_->handle(made).status, 415);
  take({});
  take({{{{"__name__", "up"}, {"instance", "n1"}}, {{1, second(0)}}}});
  EXPECT_EQ(outcome("other"), "1");
}

}  // namespace
}  // namespace tidewatt::api
