#include "tidewatt/emma/chain_alerts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fake_upstream.h"

namespace tidewatt::emma {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

struct Desk {
  testing::FakeUpstream web;
  ::tidewatt::testing::ManualClock clock{testing::at("2026-03-10T12:00:00Z")};
  std::vector<std::string> said;
  std::vector<Json> raised;
  int status = 200;
  std::vector<carbon::ZoneStatus> zones = std::vector<carbon::ZoneStatus>(1);
  ChainAlerts alerts{{"http://hook/secret", "http://manager:9093/"}, web.factory(), clock};

  Desk() {
    zones[0].identity.zone = "DE";
    web.answer("http://hook/", [this](const net::ClientRequest& request) -> Result<net::Response> {
      if (status == 200) said.push_back(Json::parse(request.body)["text"].get<std::string>());
      return net::Response{status, {}, ""};
    });
    web.answer("http://manager:9093/api/v2/alerts",
               [this](const net::ClientRequest& request) -> Result<net::Response> {
                 raised.push_back(Json::parse(request.body)[0]);
                 return net::Response{200, {}, ""};
               });
  }
  void state(const std::string& reason, carbon::ChainStep step = carbon::ChainStep::own_forecast) {
    zones[0].decision.degraded_reason = reason;
    zones[0].decision.step = step;
  }
  void pass(Milliseconds time) {
    for (Milliseconds at{0}; at < time; at += 10s) {
      clock.advance(10s);
      alerts.look(zones);
    }
  }
};

TEST(ChainAlerts, SayOnceThatAZoneIsDegradedAndOnceThatItIsWell) {
  Desk desk;
  desk.alerts.look(desk.zones);
  desk.state("electricitymaps: timed_out");
  desk.pass(10min);
  EXPECT_THAT(desk.said,
              ::testing::ElementsAre(::testing::HasSubstr("DE is degraded: electricitymaps: timed_out")));
  desk.state("");
  desk.pass(5min);
  EXPECT_THAT(desk.said, ::testing::ElementsAre(::testing::_, ::testing::HasSubstr("DE is well again")));
}

TEST(ChainAlerts, AShortHiccupIsNoMessage) {
  Desk desk;
  desk.state("electricitymaps: timed_out");
  desk.pass(1min);
  desk.state("");
  desk.pass(10min);
  EXPECT_TRUE(desk.said.empty());
  EXPECT_TRUE(desk.raised.empty());
}

TEST(ChainAlerts, AreRepeatedToAlertmanagerAndEnded) {
  Desk desk;
  desk.state("no provider answers", carbon::ChainStep::off);
  desk.pass(6min);
  ASSERT_GE(desk.raised.size(), 4U);
  EXPECT_LE(desk.raised.size(), 6U);
  EXPECT_EQ(desk.raised[0]["labels"]["zone"], "DE");
  EXPECT_EQ(desk.raised[0]["labels"]["severity"], "critical");
  EXPECT_EQ(desk.raised[0]["startsAt"], "2026-03-10T12:00:10.000Z");
  EXPECT_EQ(desk.raised[0]["labels"], desk.raised[1]["labels"]);
  const auto before = desk.raised.size();
  desk.state("");
  desk.pass(5min);
  ASSERT_EQ(desk.raised.size(), before + 1);
  EXPECT_LE(desk.raised.back()["endsAt"].get<std::string>(), format_rfc3339(desk.clock.utc_now()));
}

TEST(ChainAlerts, AMessageThatFailedIsTriedAgain) {
  Desk desk;
  desk.status = 500;
  desk.state("electricitymaps: timed_out");
  desk.pass(5min);
  EXPECT_LE(desk.web.times("http://hook/"), 5);
  desk.status = 200;
  desk.pass(2min);
  EXPECT_EQ(desk.said.size(), 1U);
}

}  // namespace
}  // namespace tidewatt::emma
