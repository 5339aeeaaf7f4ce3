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
  world.emma->refresh_due();
  EXPECT_EQ(world.web.times("/latest"), 2);
  EXPECT_EQ(world.look().providers.front().state, "ok");
  EXPECT_EQ(world.look().providers.front().failures.at("unauthorised"), 1U);
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
