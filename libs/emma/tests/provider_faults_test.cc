// Every provider failing in every way: what its zone does then, what is said of it, and the alert.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fake_upstream.h"
#include "tidewatt/emma/chain_alerts.h"

namespace tidewatt::emma {
namespace {

using carbon::ChainStep;
using testing::World;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr const char* kDomain = "10Y1001A1001A82H";

std::string entsoe_mix(const std::string& domain) {
  return R"(<?xml version="1.0"?><GL_MarketDocument xmlns="urn:iec62325.351:tc57wg16:451-6:generationloaddocument:3:0"><TimeSeries><inBiddingZone_Domain.mRID codingScheme="A01">)" +
         domain +
         "</inBiddingZone_Domain.mRID><curveType>A01</curveType><MktPSRType><psrType>B05</psrType></"
         "MktPSRType>"
         "<Period><timeInterval><start>2026-03-10T12:00Z</start><end>2026-03-10T13:00Z</end></timeInterval>"
         "<resolution>PT60M</resolution><Point><position>1</position><quantity>300</quantity></Point></"
         "Period>"
         "</TimeSeries></GL_MarketDocument>";
}

std::string watttime_body(const std::string& region) {
  return R"({"data":[{"point_time":"2026-03-10T12:15:00Z","value":1000}],"meta":{"data_point_period_seconds":3600,)"
         R"("region":")" +
         region + R"(","signal_type":"co2_moer","units":"lbs_co2_per_mwh"}})";
}

std::string peer_body(const std::string& zone) {
  return R"({"zone":")" + zone +
         R"(","kind":"average","boundary":"life_cycle","basis":"consumption","point":{"start":"2026-03-10T12:00:00Z",)"
         R"("end":"2026-03-10T13:00:00Z","gco2_per_kwh":200,"quality":"measured"}})";
}

std::string greengrid_body(const std::string& zone) {
  return R"({"zone_data":[{"zone_code":")" + zone +
         R"(","interval":"2026-03-10T13:00:00","consumption_co2_intensity":150}]})";
}

struct Source {
  const char* name;
  const char* chain;
  const char* zone;
  std::string healthy;
  double grams;
  std::string other_zone;  ///< empty = its answers name no zone
};

std::vector<Source> sources() {
  return {
      {"electricitymaps", "electricitymaps", "DE", testing::row(testing::at("2026-03-10T12:00:00Z"), 280),
       280, testing::row(testing::at("2026-03-10T12:00:00Z"), 280, "ES")},
      {"watttime", "watttime zone=CAISO_NORTH", "CAL", watttime_body("CAISO_NORTH"), 453.59237,
       watttime_body("PJM_DC")},
      {"uk", "uk", "GB",
       R"({"data":[{"from":"2026-03-10T12:00Z","to":"2026-03-10T12:30Z","intensity":{"forecast":200,"actual":210}}]})",
       210, ""},
      {"energycharts", "energycharts", "DE",
       R"({"unix_seconds":[1773143100,1773144000,1773144900],"co2eq":[290,300,310],"co2eq_forecast":[null,null,null]})",
       310, ""},
      {"rte", "rte", "FR", R"({"results":[{"taux_co2":40,"date_heure":"2026-03-10T12:15:00+00:00"}]})", 40,
       ""},
      {"greengrid", "greengrid", "DE", greengrid_body("DE"), 150, greengrid_body("FR")},
      {"entsoe", "entsoe zone=10Y1001A1001A82H", "DE", entsoe_mix(kDomain), 820,
       entsoe_mix("10YFR-RTE------C")},
      {"peer", "peer url=http://hub boundary=life_cycle basis=consumption", "DE", peer_body("DE"), 200,
       peer_body("FR")},
  };
}

struct Way {
  const char* name;
  const char* failure;
  const char* state;  ///< of the provider
  std::function<Result<net::Response>(const Source&)> answer;
};

Result<net::Response> said(int status, std::string body, net::Headers headers = {}) {
  return net::Response{status, std::move(headers), std::move(body)};
}

std::vector<Way> ways() {
  return {
      {"slow", "timed_out", "failing",
       [](const Source&) -> Result<net::Response> { return fail(ErrorCode::timed_out, "no answer in 5 s"); }},
      {"unreachable", "unreachable", "failing",
       [](const Source&) -> Result<net::Response> { return fail(ErrorCode::unavailable, "refused"); }},
      {"half_an_answer", "malformed", "failing",
       [](const Source& s) { return said(200, s.healthy.substr(0, s.healthy.size() / 2)); }},
      {"expired_token_401", "unauthorised", "paused",
       [](const Source&) { return said(401, "Unauthorized"); }},
      {"plan_403", "forbidden", "paused",
       [](const Source&) { return said(403, R"({"error":"Invalid scope"})"); }},
      {"gone_404", "refused", "failing", [](const Source&) { return said(404, R"({"error":"no data"})"); }},
      {"limit_429", "rate_limited", "paused",
       [](const Source&) { return said(429, "", {{"retry-after", "300"}}); }},
      {"broken_500", "server_error", "failing",
       [](const Source&) { return said(500, "Internal Server Error"); }},
      {"html", "malformed", "failing",
       [](const Source&) { return said(200, "<html><body>busy</body></html>"); }},
      {"wrong_zone", "wrong_zone", "failing", [](const Source& s) { return said(200, s.other_zone); }},
  };
}

struct Named {
  Source source;
  Way way;
};

std::vector<Named> matrix() {
  std::vector<Named> out;
  for (const auto& source : sources())
    for (const auto& way : ways())
      if (std::string{way.name} != "wrong_zone" || !source.other_zone.empty()) out.push_back({source, way});
  return out;
}

class Provider : public ::testing::TestWithParam<Named> {
 protected:
  const Source& source() { return GetParam().source; }
  const Way& way() { return GetParam().way; }
  void let_log_in(World& world) { world.web.answer("/login", 200, R"({"token":"t"})"); }
  void break_it(World& world) {
    world.web.answer("", [this](const auto&) { return way().answer(source()); });
    let_log_in(world);
  }
  void heal(World& world) {
    world.web.answer("", 200, source().healthy);
    let_log_in(world);
  }
  carbon::ZoneStatus look(World& world) { return world.look(source().zone); }
};

TEST_P(Provider, ThatFailsMakesNoNumberAndSaysWhy) {
  World world{source().chain, source().zone};
  break_it(world);
  world.emma->refresh_due();
  const auto got = look(world);
  EXPECT_EQ(got.decision.step, ChainStep::off);
  EXPECT_FALSE(got.decision.value);
  EXPECT_FALSE(got.decision.age);
  EXPECT_THAT(got.decision.degraded_reason, HasSubstr(std::string{source().name} + ": " + way().failure));
  const auto& provider = got.providers.front();
  EXPECT_EQ(provider.state, way().state);
  EXPECT_EQ(provider.successes, 0U);
  EXPECT_GE(provider.failures.at(way().failure), 1U);
  for (const auto* secret : {"em-token", "pass", "peer-token", "entsoe-token"})
    EXPECT_THAT(provider.failure, ::testing::Not(HasSubstr(secret)));
}

TEST_P(Provider, ThatFailsRaisesAnAlertAndThatHealsEndsIt) {
  World world{source().chain, source().zone};
  break_it(world);
  std::vector<std::string> messages;
  const auto hook = [&](const net::ClientRequest& request) -> Result<net::Response> {
    messages.push_back(nlohmann::json::parse(request.body)["text"]);
    return net::Response{200, {}, ""};
  };
  world.web.answer("http://hook/", hook);
  ChainAlerts alerts{{"http://hook/", ""}, world.web.factory(), world.clock};
  const auto pass = [&](Milliseconds time) {
    for (Milliseconds at{0}; at < time; at += 30s) {
      world.clock.advance(30s);
      world.emma->refresh_due();
      alerts.look(world.emma->zones());
    }
  };
  pass(3min);
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_THAT(messages[0], HasSubstr(std::string{"off for zone "} + source().zone));
  EXPECT_THAT(messages[0], HasSubstr(way().failure));
  // Back with the value of 12:00; longer pauses end after its hour, so the clock stays and only the wait
  // passes.
  heal(world);
  world.web.answer("http://hook/", hook);
  world.start(source().chain, source().zone);
  world.emma->refresh_due();
  alerts.look(world.emma->zones());
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_THAT(messages[1], HasSubstr("well again"));
}

TEST_P(Provider, ThatFailsIsStoodInForByTheNextOne) {
  const auto identity = carbon::parse_chain(source().zone, source().chain)->identity;
  const auto chain =
      fmt::format("{}, csv file=/f.csv column=ci kind={} boundary={} basis={}", source().chain,
                  to_string(identity.kind), to_string(identity.boundary), to_string(identity.basis));
  World world{chain, source().zone};
  world.files.files["/f.csv"] = "t,ci\n2026-03-10T11:00Z,100\n2026-03-10T12:00Z,110\n";
  break_it(world);
  world.emma->refresh_due();
  world.clock.advance(4min);
  const auto got = look(world);
  EXPECT_EQ(got.decision.step, ChainStep::latest);
  ASSERT_TRUE(got.decision.value);
  EXPECT_EQ(got.decision.value->provider, "csv");
  EXPECT_EQ(got.decision.value->point.quality, carbon::SignalQuality::measured);
  EXPECT_EQ(got.decision.age, 4min);
  EXPECT_EQ(got.providers.front().state, way().state);
}

INSTANTIATE_TEST_SUITE_P(Each, Provider, ::testing::ValuesIn(matrix()), [](const auto& one) {
  return std::string{one.param.source.name} + "_" + one.param.way.name;
});

/// Without it the tests above could pass on answers that nobody understands.
TEST(Providers, AnswerRightlyWhenTheyAreWell) {
  for (const auto& source : sources()) {
    World world{source.chain, source.zone};
    world.web.answer("", 200, source.healthy);
    world.web.answer("/login", 200, R"({"token":"t"})");
    world.emma->refresh_due();
    const auto got = world.look(source.zone);
    ASSERT_TRUE(got.decision.value) << source.name << ": " << got.providers.front().failure;
    EXPECT_NEAR(got.decision.value->point.intensity.value(), source.grams, 1e-6) << source.name;
    EXPECT_EQ(got.decision.degraded_reason, "") << source.name;
    EXPECT_EQ(got.providers.front().state, "ok") << source.name;
  }
}

}  // namespace
}  // namespace tidewatt::emma
