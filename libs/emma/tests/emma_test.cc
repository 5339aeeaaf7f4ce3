#include "tidewatt/emma/emma.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "fake_upstream.h"

namespace tidewatt::emma {
namespace {

using carbon::ChainStep;
using testing::World;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(Emma, AThousandAskersOfAZoneCauseOneUpstreamCall) {
  World world;
  world.web.answer("/latest", [&](const auto&) -> Result<net::Response> {
    return net::Response{200, {}, testing::row(world.hour, 280)};
  });
  std::vector<std::thread> askers;
  std::atomic<int> served{0};
  for (int i = 0; i < 50; ++i)
    askers.emplace_back([&] {
      for (int k = 0; k < 20; ++k) {
        world.emma->refresh("DE");
        if (world.emma->zone("DE")) ++served;
      }
    });
  for (auto& asker : askers) asker.join();
  EXPECT_EQ(served, 1000);
  EXPECT_EQ(world.web.times("/latest"), 1);
  EXPECT_EQ(world.look().decision.step, ChainStep::latest);
}

TEST(Emma, IsAskedAgainWhenTheSlotIsOverAndNotBefore) {
  World world;
  world.healthy();
  world.emma->refresh_due();
  world.clock.advance(39min);
  world.emma->refresh_due();
  EXPECT_EQ(world.web.times("/latest"), 1);
  world.clock.advance(1min);
  world.emma->refresh_due();
  EXPECT_EQ(world.web.times("/latest"), 2);
}

TEST(Emma, AnswersWithValueQualityAndAge) {
  World world;
  world.healthy();
  world.emma->refresh_due();
  world.clock.advance(5min);
  const auto got = world.look();
  EXPECT_EQ(got.decision.value->point.intensity.value(), 280);
  EXPECT_EQ(got.decision.value->point.quality, carbon::SignalQuality::measured);
  EXPECT_EQ(got.decision.age, 5min);
  EXPECT_EQ(got.decision.degraded_reason, "");
  EXPECT_EQ(got.providers.front().state, "ok");
  EXPECT_FALSE(world.emma->zone("FR"));
}

TEST(Emma, RestatedHistoryKeepsRevisions) {
  World world;
  world.healthy();
  world.emma->refresh_due();
  world.web.answer("/history", 200, testing::history(world.hour, 24, 310));
  world.clock.advance(61min);
  world.emma->refresh_due();
  const UtcRange first{world.hour - 24h, world.hour - 23h};
  const auto revisions = *world.emma->history("DE", first, true);
  ASSERT_EQ(revisions.size(), 2U);
  EXPECT_EQ(revisions[1].point.intensity.value() - revisions[0].point.intensity.value(), 10);
  EXPECT_EQ(world.emma->history("DE", first, false)->front().revision, 2);
}

TEST(Emma, ARestartWithoutANetworkGoesOnWithTheCache) {
  World world;
  world.healthy();
  world.emma->refresh_due();
  world.web.answer("", [](const auto&) -> Result<net::Response> {
    return fail(ErrorCode::unavailable, "no route to host");
  });
  world.start();
  EXPECT_EQ(world.look().decision.step, ChainStep::latest);
  world.clock.advance(3h);
  world.emma->refresh_due();
  EXPECT_EQ(world.look().decision.step, ChainStep::cached_forecast);
}

TEST(Emma, ACacheOfAnotherSeriesOrADamagedOneIsNotUsed) {
  World world;
  world.healthy();
  world.emma->refresh_due();
  world.start("electricitymaps boundary=direct");
  EXPECT_EQ(world.look().decision.step, ChainStep::off);
  world.files.files.at("/data/carbon/DE.json").resize(100);
  world.start();
  EXPECT_EQ(world.look().decision.step, ChainStep::off);
}

TEST(Emma, AFullDiskIsNoReasonToStop) {
  World world;
  world.healthy();
  world.files.faults["/data/carbon/DE.json"] = Error{ErrorCode::io, "no space left", ""};
  world.emma->refresh_due();
  EXPECT_EQ(world.look().decision.step, ChainStep::latest);
}

TEST(Emma, AThreeDayOutageLeavesEveryAskerServedFromBestToWorst) {
  World world;
  world.healthy(24 * 20);
  world.web.answer("/forecast", 200, testing::forecast(world.hour, 24));
  world.emma->refresh_due();
  world.web.answer("",
                   [](const auto&) -> Result<net::Response> { return fail(ErrorCode::timed_out, "5 s"); });
  bool was_own = false;
  for (int minute = 0; minute < 72 * 60; minute += 10) {
    world.clock.advance(10min);
    world.emma->refresh_due();
    const auto got = world.look().decision;
    ASSERT_TRUE(got.value) << minute;
    ASSERT_GT(got.value->point.intensity.value(), 0);
    EXPECT_THAT(got.degraded_reason, HasSubstr(got.step == ChainStep::latest ? "" : "timed_out")) << minute;
    was_own = was_own || got.step == ChainStep::own_forecast;
    EXPECT_TRUE(!was_own || got.step == ChainStep::own_forecast) << minute;
  }
  EXPECT_TRUE(was_own);
  EXPECT_EQ(world.emma->forecast("DE", 24)->slots.front().point.provider, "tidewatt");
  // The breaker keeps the outage from becoming a storm: 72 h at most every 15 min, some more at its start.
  EXPECT_LT(world.web.times("/latest"), 72 * 4 + 20);
}

TEST(Emma, WithAWeekOfHistoryTheProfileServesAndWithoutItIsOff) {
  for (const auto& [hours, step] :
       {std::pair{24 * 8, ChainStep::profile}, std::pair{24 * 3, ChainStep::off}}) {
    World world;
    world.web.answer("/history", 200, testing::history(world.hour, hours));
    world.emma->refresh_due();
    EXPECT_EQ(world.look().decision.step, step) << hours;
  }
}

TEST(Emma, ForecastsSayWhoMadeThemAndHowFarTheyReach) {
  World world;
  world.healthy();
  world.emma->refresh_due();
  const auto got = *world.emma->forecast("DE", 96);
  EXPECT_EQ(got.slots.size(), 72U);
  EXPECT_EQ(got.slots.front().point.provider, "electricitymaps");
  EXPECT_EQ(got.issued_at, world.hour);
}

TEST(Emma, CsvHoursToComeAreForecastsAndThePastIsMeasured) {
  World world{"csv file=/etc/de.csv column=ci"};
  world.files.files["/etc/de.csv"] =
      "t,ci\n2026-03-10T11:00Z,100\n2026-03-10T12:00Z,110\n2026-03-10T13:00Z,120\n";
  world.emma->refresh_due();
  EXPECT_EQ(world.look().decision.value->point.intensity.value(), 110);
  EXPECT_EQ(world.emma->forecast("DE", 24)->slots.front().point.point.intensity.value(), 120);
  world.files.files.erase("/etc/de.csv");
  world.clock.advance(1h);
  world.emma->refresh_due();
  EXPECT_EQ(world.look().decision.step, ChainStep::cached_forecast);
  EXPECT_THAT(world.look().decision.degraded_reason, HasSubstr("csv: unreachable"));
}

TEST(Emma, AStaticFactorSaysThatItIsOne) {
  World world{"static g=420"};
  world.emma->refresh_due();
  EXPECT_EQ(world.look().decision.value->point.quality, carbon::SignalQuality::fixed);
  EXPECT_EQ(world.look().decision.value->point.intensity.value(), 420);
}

TEST(Emma, AnotherServersAnswerIsTakenAndItsFallbacksAreNot) {
  World world{"peer url=http://hub boundary=life_cycle basis=consumption"};
  const std::string head = R"({"zone":"DE","kind":"average","boundary":"life_cycle","basis":"consumption",)";
  const std::string times = R"("start":"2026-03-10T12:00:00Z","end":"2026-03-10T13:00:00Z",)";
  world.web.answer("/latest", 200,
                   head + R"("point":{)" + times + R"("gco2_per_kwh":200,"quality":"heuristic"}})");
  world.emma->refresh_due();
  EXPECT_EQ(world.look().decision.step, ChainStep::off);
  EXPECT_THAT(world.look().providers.front().failure, HasSubstr("heuristic"));
  world.web.answer("/latest", 200,
                   head + R"("point":{)" + times + R"("gco2_per_kwh":210,"quality":"measured"}})");
  world.clock.advance(1min);
  world.emma->refresh_due();
  EXPECT_EQ(world.look().decision.value->point.intensity.value(), 210);
}

TEST(Emma, OnSiteWeighsItsFlowsWithTheGridsHour) {
  World world;
  Options options;
  options.zones.push_back(*carbon::parse_chain("DE", "csv file=/de.csv column=ci boundary=direct"));
  options.zones.push_back(*carbon::parse_chain("SITE", "onsite file=/flows.csv grid=DE boundary=direct"));
  world.files.files["/de.csv"] = "t,ci\n2026-03-10T11:00Z,400\n2026-03-10T12:00Z,400\n";
  world.files.files["/flows.csv"] = "t,solar_kw,grid_kw\n2026-03-10T11:00Z,30,70\n2026-03-10T12:00Z,50,\n";
  Emma emma{options, world.web.factory(), world.files, world.clock};
  world.clock.advance(40min);
  emma.refresh_due();
  const auto hours = *emma.history("SITE", {world.hour - 1h, world.hour + 1h}, false);
  // 12:00 has no metered import: unknown, not 0.
  ASSERT_EQ(hours.size(), 1U);
  EXPECT_DOUBLE_EQ(hours[0].point.intensity.value(), 280);
}

}  // namespace
}  // namespace tidewatt::emma
