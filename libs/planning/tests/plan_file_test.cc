#include "tidewatt/planning/plan_file.h"

#include <gtest/gtest.h>

namespace tidewatt::planning {
namespace {

PlanSurroundings no_surroundings() {
  PlanSurroundings surroundings;
  surroundings.read_csv = [](const std::string& path) -> Result<std::string> {
    return fail(ErrorCode::not_found, path + ": not there");
  };
  surroundings.has_zone = [](const std::string& zone) { return zone == "Test/Zone"; };
  surroundings.local = [](const std::string&, const CivilTime& civil) -> std::optional<LocalInstants> {
    const UtcTime at = std::chrono::sys_days{std::chrono::year{civil.year} / civil.month / civil.day} +
                       std::chrono::hours{civil.hour} + std::chrono::minutes{civil.minute} +
                       civil.below_minute;
    if (civil.hour == 2) return std::nullopt;                                   // the clocks skip this hour
    if (civil.hour == 1) return LocalInstants{at, at + std::chrono::hours{1}};  // and show this one twice
    return LocalInstants{at, at};
  };
  return surroundings;
}

/// A plan of one zone, site and job, with its parts to replace.
std::string plan_text(const std::string& head, const std::string& zone, const std::string& site,
                      const std::string& job) {
  return R"({"schema":"tidewatt-plan/1","start":"2026-02-03T00:00:00Z")" + head + R"(,"zones":{"A":{)" +
         zone + R"(}},"sites":[{"id":"s","zone":"A")" + site + R"(}],"jobs":[{"id":"j")" + job + "}]}";
}
const std::string kZone = R"("ci_g_per_kwh":[1,2,3])";
const std::string kJob = R"(,"duration_minutes":60,"power_kw":1)";

std::string refusal(const std::string& text) {
  const auto problem = parse_plan(text, no_surroundings());
  return problem ? "accepted" : problem.error().message;
}

#define EXPECT_REFUSED(beginning, text)                                                     \
  do {                                                                                      \
    const auto message = refusal(text);                                                     \
    EXPECT_EQ(message.substr(0, std::string_view{beginning}.size()), beginning) << message; \
    EXPECT_EQ(message.find('\n'), std::string::npos);                                       \
  } while (false)

TEST(PlanFile, DefaultsAreAsDocumented) {
  const auto problem = parse_plan(plan_text("", kZone, "", kJob), no_surroundings());
  ASSERT_TRUE(problem) << problem.error().message;
  EXPECT_EQ(problem->slot, 60);
  EXPECT_EQ(problem->policy, Policy::joint);
  EXPECT_FALSE(problem->do_no_harm);
  EXPECT_EQ(problem->slots, 3U);
  EXPECT_EQ(problem->jobs[0].sites, std::vector<int>{0});
  EXPECT_EQ(problem->jobs[0].priority, Priority::normal);
}

TEST(PlanFile, EveryRefusalNamesItsWordAndPath) {
  EXPECT_REFUSED("bad_json: $", "{");
  EXPECT_REFUSED("bad_type: $", "[]");
  EXPECT_REFUSED("bad_schema: $.schema", R"({"schema":"tidewatt-plan/2"})");
  EXPECT_REFUSED("bad_schema: $.schema", "{}");
  EXPECT_REFUSED("missing_key: $.start", R"({"schema":"tidewatt-plan/1","zones":{},"sites":[],"jobs":[]})");
  EXPECT_REFUSED("bad_value: $.slot_minutes", plan_text(R"(,"slot_minutes":0)", kZone, "", kJob));
  EXPECT_REFUSED("bad_type: $.slot_minutes", plan_text(R"(,"slot_minutes":"60")", kZone, "", kJob));
  EXPECT_REFUSED("bad_value: $.policy", plan_text(R"(,"policy":"fastest")", kZone, "", kJob));
  EXPECT_REFUSED("unknown_key: $.jobs[0].dead_line", plan_text("", kZone, "", kJob + R"(,"dead_line":1)"));
  EXPECT_REFUSED("unknown_key: $.weights.speed", plan_text(R"(,"weights":{"speed":1})", kZone, "", kJob));
  EXPECT_REFUSED("bad_value: $.weights.price", plan_text(R"(,"weights":{"price":-1})", kZone, "", kJob));
  EXPECT_REFUSED("missing_key: $.zones.A.ci_g_per_kwh", plan_text("", R"("kind":"average")", "", kJob));
  EXPECT_REFUSED("bad_value: $.zones.A.ci_g_per_kwh[1]", plan_text("", R"("ci_g_per_kwh":[1,-2])", "", kJob));
  EXPECT_REFUSED("bad_type: $.zones.A.ci_g_per_kwh[1]", plan_text("", R"("ci_g_per_kwh":[1,"2"])", "", kJob));
  EXPECT_REFUSED("csv_unreadable: $.zones.A.csv", plan_text("", R"("csv":"a.csv")", "", kJob));
  EXPECT_REFUSED("csv_unreadable: $.zones.A.csv", plan_text("", R"("csv":"/etc/passwd")", "", kJob));
  EXPECT_REFUSED("unknown_site: $.jobs[0].sites[0]", plan_text("", kZone, "", kJob + R"(,"sites":["x"])"));
  EXPECT_REFUSED("missing_key: $.jobs[0].power_kw", plan_text("", kZone, "", R"(,"duration_minutes":60)"));
  EXPECT_REFUSED("unknown_timezone: $.jobs[0].timezone",
                 plan_text("", kZone, "", kJob + R"(,"timezone":"No/Where")"));
  EXPECT_REFUSED("local_time_without_zone: $.jobs[0].release",
                 plan_text("", kZone, "", kJob + R"(,"release":"2026-02-03T05:00")"));
  EXPECT_REFUSED("nonexistent_local_time: $.jobs[0].release",
                 plan_text("", kZone, "", kJob + R"(,"release":"2026-02-03T02:30","timezone":"Test/Zone")"));
  EXPECT_REFUSED("bad_value: $.jobs[0].release", plan_text("", kZone, "", kJob + R"(,"release":"soon")"));
  EXPECT_REFUSED("bad_json: $.jobs[0].id", plan_text("", kZone, "", kJob + R"(,"id":"k")"));
}

TEST(PlanFile, KindsOfSignalDoNotMix) {
  EXPECT_REFUSED(
      "mixed_signal_kinds: $.zones.B.kind",
      R"({"schema":"tidewatt-plan/1","start":"2026-02-03T00:00:00Z","zones":{"A":{"ci_g_per_kwh":[1]},)"
      R"("B":{"ci_g_per_kwh":[1],"kind":"marginal"}},"sites":[{"id":"s","zone":"A"}],"jobs":[]})");
}

TEST(PlanFile, AnUnknownZoneAndADoubleIdAreRefused) {
  EXPECT_REFUSED(
      "unknown_zone: $.sites[0].zone",
      R"({"schema":"tidewatt-plan/1","start":"2026-02-03T00:00:00Z","zones":{},"sites":[{"id":"s","zone":"Z"}],"jobs":[]})");
  EXPECT_REFUSED(
      "duplicate_id: $.sites[1].id",
      R"({"schema":"tidewatt-plan/1","start":"2026-02-03T00:00:00Z","zones":{"A":{"ci_g_per_kwh":[1]}},)"
      R"("sites":[{"id":"s","zone":"A"},{"id":"s","zone":"A"}],"jobs":[]})");
}

TEST(PlanFile, KeysOfOnesOwnAreAllowedEverywhere) {
  EXPECT_EQ(
      refusal(plan_text(R"(,"x_a":1)", kZone + R"(,"x_b":[])", R"(,"x_c":{})", kJob + R"(,"x_d":null)")),
      "accepted");
}

TEST(PlanFile, ARepeatedLocalTimeIsTheEarlierReleaseAndTheLaterDeadline) {
  const auto problem = parse_plan(
      plan_text(
          "", kZone, "",
          kJob + R"(,"timezone":"Test/Zone","release":"2026-02-03T01:10","deadline":"2026-02-03T01:50:30")"),
      no_surroundings());
  ASSERT_TRUE(problem) << problem.error().message;
  EXPECT_EQ(problem->jobs[0].release, 70);
  EXPECT_EQ(problem->jobs[0].deadline, 170);
  EXPECT_EQ(problem->jobs[0].notes.size(), 2U);
}

TEST(PlanFile, PartsOfAMinuteNarrowTheWindow) {
  const auto problem =
      parse_plan(plan_text("", kZone, "",
                           kJob + R"(,"release":"2026-02-03T00:10:01Z","deadline":"2026-02-03T02:00:59.5Z")"),
                 no_surroundings());
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->jobs[0].release, 11);
  EXPECT_EQ(problem->jobs[0].deadline, 120);
}

TEST(PlanFile, OnlyShortGapsBetweenKnownSlotsAreFilled) {
  const auto problem =
      parse_plan(plan_text("", R"("ci_g_per_kwh":[null,100,null,null,400,null,null,null,50,null])", "", kJob),
                 no_surroundings());
  ASSERT_TRUE(problem);
  const auto& zone = problem->zones[0];
  EXPECT_EQ(zone.ci, (std::vector<double>{0, 100, 200, 300, 400, 0, 0, 0, 50, 0}));
  EXPECT_EQ(zone.known[2], Known::interpolated);
  EXPECT_EQ(zone.known[5], Known::unknown);
  EXPECT_EQ(zone.known[9], Known::unknown);
}

TEST(PlanFile, ACsvSlotIsTheTimeWeightedMeanOfWhatCoversIt) {
  auto surroundings = no_surroundings();
  surroundings.read_csv = [](const std::string&) -> Result<std::string> {
    return std::string{
        "start_utc,gco2_per_kwh,source\r\n2026-02-03T01:30:00Z,40,x\n2026-02-03T00:00:00Z,10,x\n"
        "2026-02-03T00:30:00Z,30,x\n2026-02-03T01:00:00Z,9,x\n2026-02-03T01:00:00Z,20,x\n2026-02-03T02:00:"
        "00Z,,x\n"
        "2026-02-03T02:30:00Z,5,x\n"};
  };
  const auto problem = parse_plan(plan_text("", R"("csv":"ci.csv")", "", kJob), surroundings);
  ASSERT_TRUE(problem) << problem.error().message;
  EXPECT_EQ(problem->zones[0].ci,
            (std::vector<double>{20, 30, 0}));  // (10+30)/2; (20+40)/2: the last of two rows; half missing
  EXPECT_EQ(problem->zones[0].known[2], Known::unknown);
}

TEST(PlanFile, ACsvsRowsBeforeTheStartJudgeItsForecast) {
  auto surroundings = no_surroundings();
  std::string last = "8";
  surroundings.read_csv = [&last](const std::string&) -> Result<std::string> {
    return "start_utc,gco2_per_kwh,source,forecast_gco2_per_kwh\n2026-02-02T20:00:00Z,1,x,2\n"
           "2026-02-02T21:00:00Z,3,x,\n2026-02-02T22:00:00Z,5,x,6\n2026-02-02T23:00:00Z,7,x," +
           last + "\n2026-02-03T00:00:00Z,10,x\n2026-02-03T01:00:00Z,20,x,30\n";
  };
  const auto with_rule = plan_text(R"(,"do_no_harm":true)", R"("csv":"ci.csv")", "", kJob);
  const auto problem = parse_plan(with_rule, surroundings);
  ASSERT_TRUE(problem) << problem.error().message;
  ASSERT_TRUE(problem->zones[0].past);
  // The hole at 21:00 ends what is known without a gap.
  EXPECT_EQ(problem->zones[0].past->actual, (std::vector<double>{5, 7}));
  EXPECT_EQ(problem->zones[0].past->foreseen, (std::vector<double>{6, 8}));
  const auto without = parse_plan(plan_text("", R"("csv":"ci.csv")", "", kJob), surroundings);
  ASSERT_TRUE(without);
  EXPECT_FALSE(without->zones[0].past);
  last = "eight";
  const auto refused = parse_plan(with_rule, surroundings);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("csv_unreadable: $.zones.A.csv"), std::string::npos);
}

TEST(PlanFile, ACsvNumberWithAnotherDecimalMarkIsRefused) {
  for (const auto* cell : {"301,5", "\"301,5\"", "3O1", "1 234"}) {
    auto surroundings = no_surroundings();
    surroundings.read_csv = [cell](const std::string&) -> Result<std::string> {
      return "start_utc,gco2_per_kwh\n2026-02-03T00:00:00Z,10\n2026-02-03T00:30:00Z," + std::string{cell} +
             "\n";
    };
    const auto problem = parse_plan(plan_text("", R"("csv":"ci.csv")", "", kJob), surroundings);
    ASSERT_FALSE(problem) << cell;
    EXPECT_NE(problem.error().message.find("line 3"), std::string::npos) << problem.error().message;
  }
}

TEST(PlanFile, ADeepFileIsRefused) {
  EXPECT_REFUSED("bad_json: $", std::string(5000, '[') + std::string(5000, ']'));
}

TEST(PlanFile, MoreJobsThanTheLimitAreRefusedWithTheLimit) {
  std::string jobs;
  for (std::size_t i = 0; i <= Limits::kJobs; ++i) jobs += i == 0 ? "{}" : ",{}";
  const auto message = refusal(
      R"({"schema":"tidewatt-plan/1","start":"2026-02-03T00:00:00Z","zones":{"A":{"ci_g_per_kwh":[1]}},)"
      R"("sites":[{"id":"s","zone":"A"}],"jobs":[)" +
      jobs + "]}");
  EXPECT_EQ(message.substr(0, 18), "too_large: $.jobs:") << message;
  EXPECT_NE(message.find(std::to_string(Limits::kJobs)), std::string::npos);
}

}  // namespace
}  // namespace tidewatt::planning
