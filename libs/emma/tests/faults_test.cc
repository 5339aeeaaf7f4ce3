// Each way in which a provider can fail, and what the zone does then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_upstream.h"

namespace tidewatt::emma {
namespace {

using carbon::ChainStep;
using testing::World;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr const char* kWithFallback =
    "electricitymaps, csv file=/etc/de.csv column=ci boundary=life_cycle basis=consumption";

struct Fault {
  const char* name;
  std::function<Result<net::Response>(const World&)> answer;
  const char* failure;
  Milliseconds pause;  ///< until the provider is asked again
};

Result<net::Response> said(int status, std::string body, net::Headers headers = {}) {
  return net::Response{status, std::move(headers), std::move(body)};
}

const Fault kFaults[] = {
    {"timeout",
     [](const World&) -> Result<net::Response> { return fail(ErrorCode::timed_out, "no answer in 5 s"); },
     "timed_out", 0s},
    {"unreachable",
     [](const World&) -> Result<net::Response> { return fail(ErrorCode::unavailable, "refused"); },
     "unreachable", 0s},
    {"truncated", [](const World& w) { return said(200, testing::row(w.hour, 280).substr(0, 60)); },
     "malformed", 0s},
    {"malformed", [](const World&) { return said(200, "<html>busy</html>"); }, "malformed", 0s},
    {"empty", [](const World&) { return said(200, ""); }, "malformed", 0s},
    {"empty list", [](const World&) { return said(200, R"({"data":[]})"); }, "empty", 0s},
    {"null",
     [](const World&) {
       return said(200, R"({"zone":"DE","carbonIntensity":null,"datetime":"2026-03-10T12:00:00Z"})");
     },
     "empty", 0s},
    {"401 plan", [](const World&) { return said(401, R"({"error":"Request unauthorized for zoneKey=DE"})"); },
     "unauthorised", 15min},
    {"403", [](const World&) { return said(403, R"({"error":"Invalid scope"})"); }, "forbidden", 15min},
    {"404 no data", [](const World&) { return said(404, R"({"error":"No recent data for zone"})"); },
     "refused", 0s},
    {"429 with Retry-After", [](const World&) { return said(429, "", {{"retry-after", "300"}}); },
     "rate_limited", 5min},
    {"429 without", [](const World&) { return said(429, "slow down"); }, "rate_limited", 60s},
    {"500 text", [](const World&) { return said(500, "Internal Server Error"); }, "server_error", 0s},
    {"error in a 200", [](const World&) { return said(200, R"({"error":"no"})"); }, "malformed", 0s},
    {"wrong zone", [](const World& w) { return said(200, testing::row(w.hour, 50, "ES")); }, "wrong_zone",
     0s},
    {"other series",
     [](const World&) {
       return said(
           200,
           R"({"zone":"DE","carbonIntensity":20,"datetime":"2026-03-10T12:00:00Z","emissionFactorType":"direct"})");
     },
     "other_series", 0s},
    {"stale", [](const World& w) { return said(200, testing::row(w.hour - 8h, 280)); }, "stale", 0s},
};

class EachFault : public ::testing::TestWithParam<Fault> {
 protected:
  static void break_it(World& world) {
    world.web.answer("", [&world](const auto&) { return GetParam().answer(world); });
  }
};

TEST_P(EachFault, AloneFallsToTheCachedForecastWithReasonAndAge) {
  World world;
  world.healthy();
  world.emma->refresh_due();
  world.clock.advance(45min);
  break_it(world);
  world.emma->refresh_due();
  const auto got = world.look();
  EXPECT_EQ(got.decision.step, ChainStep::cached_forecast);
  EXPECT_EQ(got.decision.value->point.quality, carbon::SignalQuality::forecast);
  EXPECT_EQ(got.decision.value->point.intensity.value(), 350);
  EXPECT_EQ(got.decision.age, 45min);
  EXPECT_THAT(got.decision.degraded_reason, HasSubstr(GetParam().failure));
  ASSERT_TRUE(got.decision.stale);
  EXPECT_EQ(got.decision.stale->point.intensity.value(), 280);
  EXPECT_EQ(got.providers.front().failures.at(GetParam().failure), 1U);
  EXPECT_EQ(got.providers.front().failure.find('\n'), std::string::npos);
}

TEST_P(EachFault, WithNothingCachedIsOffAndMakesNoNumber) {
  World world;
  break_it(world);
  world.emma->refresh_due();
  const auto got = world.look().decision;
  EXPECT_EQ(got.step, ChainStep::off);
  EXPECT_FALSE(got.value);
  EXPECT_THAT(got.degraded_reason, HasSubstr(GetParam().failure));
}

TEST_P(EachFault, TheNextProviderIsAsked) {
  World world{kWithFallback};
  world.files.files["/etc/de.csv"] = "t,ci\n2026-03-10T11:00Z,100\n2026-03-10T12:00Z,110\n";
  break_it(world);
  world.emma->refresh_due();
  const auto got = world.look();
  EXPECT_EQ(got.decision.step, ChainStep::latest);
  EXPECT_EQ(got.decision.value->provider, "csv");
  EXPECT_EQ(got.decision.value->point.intensity.value(), 110);
}

TEST_P(EachFault, IsAskedAgainAfterItsPauseAndRecovers) {
  World world;
  int asked = 0;
  world.web.answer("/latest", [&](const auto&) {
    ++asked;
    return GetParam().answer(world);
  });
  world.emma->refresh_due();
  const auto pause = std::max<Milliseconds>(GetParam().pause, 1min);
  if (pause > 1min) {
    world.clock.advance(pause - 1s);
    world.emma->refresh_due();
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(world.look().providers.front().state, "paused");
  } else {
    world.clock.advance(59s);
  }
  world.clock.advance(1min);
  world.healthy();
  world.hour = start_of(hour_of(world.clock.utc_now()));
  world.web.answer("/latest", 200, testing::row(world.hour, 290));
  world.emma->refresh_due();
  EXPECT_EQ(world.look().decision.value->point.intensity.value(), 290);
  EXPECT_EQ(world.look().decision.degraded_reason, "");
  EXPECT_EQ(world.look().providers.front().state, "ok");
}

TEST(Plan, WithoutForecastsStillGivesValues) {
  World world;
  world.healthy();
  world.web.answer("/forecast", 401, R"({"error":"Request unauthorized for zoneKey=DE"})");
  world.emma->refresh_due();
  world.clock.advance(41min);
  world.web.answer("/latest", 200, testing::row(world.hour + 1h, 285));
  world.emma->refresh_due();
  EXPECT_EQ(world.web.times("/latest"), 2);
  EXPECT_EQ(world.look().providers.front().state, "ok");
  EXPECT_EQ(world.look().providers.front().failures.at("unauthorised"), 1U);
}

TEST(Chain, AProviderWithoutAValueForNowIsNoSuccessAndTheNextOneIsAsked) {
  World world{"electricitymaps, csv file=/etc/de.csv column=ci boundary=life_cycle basis=consumption"};
  world.web.answer("/latest", 200, testing::row(world.hour - std::chrono::hours{2}, 280));
  world.files.files["/etc/de.csv"] = "t,ci\n2026-03-10T11:00Z,100\n2026-03-10T12:00Z,110\n";
  world.emma->refresh_due();
  const auto got = world.look();
  EXPECT_EQ(got.decision.value->point.intensity.value(), 110);
  EXPECT_EQ(got.decision.value->provider, "csv");
  const auto& first = got.providers.front();
  EXPECT_EQ(first.state, "no_value");
  EXPECT_EQ(first.successes, 0U);
  EXPECT_FALSE(first.last_success_at);
  // Only its forecast, which isn't there, failed.
  EXPECT_EQ(first.failures.size(), 1U);
  EXPECT_TRUE(first.failures.contains("refused"));
  // What it told of the past is history all the same, and it isn't left alone for that.
  EXPECT_EQ(
      world.emma
          ->history("DE", {world.hour - std::chrono::hours{2}, world.hour - std::chrono::hours{1}}, false)
          ->front()
          .provider,
      "electricitymaps");
  world.clock.advance(std::chrono::minutes{41});
  world.web.answer("/latest", 200, testing::row(world.hour + std::chrono::hours{1}, 290));
  world.emma->refresh_due();
  EXPECT_EQ(world.look().decision.value->point.intensity.value(), 290);
  EXPECT_EQ(world.look().providers.front().state, "ok");
}

/// A generation document of 12:00-13:00 in quarter hours; B16 as a variable-sized block.
std::string generation(const std::string& domain = "10Y1001A1001A82H") {
  const auto series = [&](const std::string& source, const std::string& curve, const std::string& points) {
    return "<TimeSeries><inBiddingZone_Domain.mRID codingScheme=\"A01\">" + domain +
           "</inBiddingZone_Domain.mRID><curveType>" + curve + "</curveType><MktPSRType><psrType>" + source +
           "</psrType></MktPSRType><Period><timeInterval><start>2026-03-10T12:00Z</"
           "start><end>2026-03-10T13:00Z</end>"
           "</timeInterval><resolution>PT15M</resolution>" +
           points + "</Period></TimeSeries>";
  };
  const auto point = [](int position, int quantity) {
    return fmt::format("<Point><position>{}</position><quantity>{}</quantity></Point>", position, quantity);
  };
  return "<?xml version=\"1.0\"?><GL_MarketDocument "
         "xmlns=\"urn:iec62325.351:tc57wg16:451-6:generationloaddocument:3:0\">" +
         series("B05", "A01", point(1, 300) + point(2, 300) + point(3, 300) + point(4, 300)) +
         series("B16", "A03", point(1, 100) + point(3, 300)) +
         series("B10", "A01", point(1, 900) + point(2, 900) + point(3, 900) + point(4, 900)) +
         "</GL_MarketDocument>";
}

TEST(Entsoe, TheMixBecomesItsIntensityByTheQuarterHour) {
  World world{"entsoe zone=10Y1001A1001A82H"};
  world.web.answer("web-api.tp.entsoe.eu", 200, generation());
  world.emma->refresh_due();
  // (300 x 820 + 100 x 48) / 400; pumped storage is in no mix.
  const auto value = world.look().decision.value;
  ASSERT_TRUE(value);
  EXPECT_DOUBLE_EQ(value->point.intensity.value(), 627);
  EXPECT_EQ(value->point.quality, carbon::SignalQuality::estimated);
  EXPECT_EQ(value->point.start, testing::at("2026-03-10T12:15:00Z"));
  world.clock.advance(std::chrono::minutes{12});
  EXPECT_DOUBLE_EQ(world.look().decision.value->point.intensity.value(), 434);
}

TEST(Entsoe, IsAskedWithItsTokenWhichNoMessageShows) {
  World world{"entsoe zone=10Y1001A1001A82H"};
  world.web.answer(
      "api?documentType=A75&processType=A16&in_Domain=10Y1001A1001A82H&periodStart=202603100700"
      "&periodEnd=202603101300&securityToken=entsoe-token",
      200, generation());
  world.emma->refresh_due();
  EXPECT_EQ(world.look().providers.front().state, "ok");
  World refused{"entsoe zone=10Y1001A1001A82H"};
  refused.web.answer("web-api.tp.entsoe.eu", 401, "Unauthorized");
  refused.emma->refresh_due();
  EXPECT_THAT(refused.look().providers.front().failure, ::testing::HasSubstr("unauthorised"));
  EXPECT_THAT(refused.look().providers.front().failure, ::testing::Not(::testing::HasSubstr("entsoe-token")));
}

TEST(Entsoe, AnAnswerOfAnotherZoneAndARefusalAreFailures) {
  for (const auto& [body, failure] :
       {std::pair{generation("10YFR-RTE------C"), "wrong_zone"},
        std::pair{
            std::string{"<Acknowledgement_MarketDocument><Reason><code>999</code><text>No matching data found"
                        "</text></Reason></Acknowledgement_MarketDocument>"},
            "malformed"}}) {
    World world{"entsoe zone=10Y1001A1001A82H"};
    world.web.answer("web-api.tp.entsoe.eu", 200, body);
    world.emma->refresh_due();
    EXPECT_EQ(world.look().decision.step, carbon::ChainStep::off);
    EXPECT_THAT(world.look().providers.front().failure, ::testing::StartsWith(failure));
  }
}

TEST(RateLimit, HoldsForAllThatIsAsked) {
  World world;
  world.healthy();
  world.web.answer("/latest", 429, "", {{"retry-after", "600"}});
  world.emma->refresh_due();
  EXPECT_EQ(world.web.times("/history") + world.web.times("/forecast"), 0);
}

INSTANTIATE_TEST_SUITE_P(Faults, EachFault, ::testing::ValuesIn(kFaults), [](const auto& fault) {
  std::string name;
  for (const char c : std::string{fault.param.name})
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

TEST(WattTime, ARefusedTokenIsRenewedOnceAndTheQuestionRepeated) {
  World world{"watttime zone=CAISO_NORTH", "CAL"};
  int logins = 0;
  world.web.answer("/login",
                   [&](const auto&) { return said(200, fmt::format(R"({{"token":"t{}"}})", ++logins)); });
  const std::string body =
      R"({"data":[{"point_time":"2026-03-10T12:15:00Z","value":1000}],"meta":{"data_point_period_seconds":3600,)"
      R"("region":"CAISO_NORTH","signal_type":"co2_moer","units":"lbs_co2_per_mwh"}})";
  bool renewed_works = true;
  world.web.answer("/v3/", [&](const net::ClientRequest& request) {
    const bool good = request.headers.at("authorization") == "Bearer t1" ? logins == 1 : renewed_works;
    return good ? said(200, body) : said(403, "<html>nginx</html>");
  });
  world.emma->refresh_due();
  EXPECT_EQ(logins, 1);
  EXPECT_NEAR(world.look("CAL").decision.value->point.intensity.value(), 453.59237, 1e-6);
  // The token ends before its time.
  world.web.answer("/v3/", [&](const net::ClientRequest& request) {
    return request.headers.at("authorization") == "Bearer t2" ? said(200, body)
                                                              : said(403, "<html>nginx</html>");
  });
  world.clock.advance(10min);
  world.clock.advance(55min);
  world.emma->refresh_due();
  EXPECT_EQ(logins, 2);
  EXPECT_EQ(world.look("CAL").providers.front().failures.size(), 0U);
}

TEST(WattTime, IsNotAskedToLogInMoreThanOnceAMinute) {
  World world{"watttime zone=CAISO_NORTH", "CAL"};
  world.web.answer("/login", 401, R"({"error":"bad credentials"})");
  for (int i = 0; i < 100; ++i) {
    world.clock.advance(1s);
    world.emma->refresh_due();
  }
  EXPECT_LE(world.web.times("/login"), 2);
  EXPECT_THAT(world.look("CAL").providers.front().failure, HasSubstr("unauthorised"));
}

}  // namespace
}  // namespace tidewatt::emma
