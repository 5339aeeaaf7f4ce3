// The gap of the present, in every answer that tells a coverage of a range.
#include <algorithm>
#include <chrono>

#include "api_fixture.h"

namespace tidewatt::api {
namespace {

using std::chrono::minutes;
using testing::ApiTest;
using testing::at;
using testing::Json;

/// n1 reports one minute, 10:00 to 10:01, and falls silent; the clock stands at 10:11.
class OpenGapTest : public ApiTest {
 protected:
  void SetUp() override { ops_ = token(Role::ops); }
  void fall_silent(const std::string& node = "n1", const std::vector<std::string>& holders = {}) {
    one_minute(node, holders);
    clock_.advance(at("2026-03-01T10:11:00Z") - clock_.utc_now());
  }
  void event(const std::string& task, std::string_view what, std::string_view time) {
    const Json body{{"event", what}, {"at", time}};
    EXPECT_EQ(call("POST", "/api/v1/tasks/" + task + "/events", ops_, body.dump()).status, 204);
    clock_.advance(Milliseconds{1'001});  // the registry is read once a second
  }
  double coverage(const std::string& target) { return get(target, ops_).at("coverage").get<double>(); }
  std::string ops_;
};

constexpr double kOneOfEleven = 1.0 / 11;

TEST_F(OpenGapTest, CoverageOfASilentNodeFallsUntilNow) {
  fall_silent();
  const auto energy = get("/api/v1/nodes/n1/energy?range=1h", ops_);
  EXPECT_DOUBLE_EQ(energy.at("coverage").get<double>(), kOneOfEleven);
  EXPECT_EQ(energy.at("covered_seconds"), 60);
  EXPECT_EQ(energy.at("gap_seconds"), 600);
  EXPECT_EQ(energy.at("open_gap_seconds"), 600);
  EXPECT_EQ(energy.at("energy_uj"), "21600000000") << "disclosed, never filled";
  EXPECT_EQ(energy.at("domains").at(0).at("gap_seconds"), 600);
  for (const char* code : {"gap", "open_gap"})
    EXPECT_THAT(energy.at("notes").dump(), ::testing::HasSubstr(std::string{"\""} + code + "\""));
  EXPECT_DOUBLE_EQ(coverage("/api/v1/nodes/n1"), kOneOfEleven);
  EXPECT_DOUBLE_EQ(get("/api/v1/nodes/n1", ops_).at("devices").at(0).at("coverage").get<double>(),
                   kOneOfEleven);
  EXPECT_DOUBLE_EQ(get("/api/v1/nodes", ops_).at("nodes").at(0).at("coverage").get<double>(), kOneOfEleven);
}

TEST_F(OpenGapTest, ANodeThatIsHeardInTimeHasNone) {
  one_minute("n1");
  clock_.advance(at("2026-03-01T10:02:00Z") - clock_.utc_now());
  EXPECT_EQ(coverage("/api/v1/nodes/n1/energy?range=1h"), 1.0) << "the next beat may cover 60 s";
  clock_.advance(Milliseconds{1'000});
  EXPECT_DOUBLE_EQ(coverage("/api/v1/nodes/n1/energy?range=1h"), 60.0 / 121);
}

TEST_F(OpenGapTest, WhatComesBackTurnsItIntoABookedOne) {
  fall_silent();
  post(beat("n1", "2026-03-01T10:11:00Z", 360));
  const auto energy = get("/api/v1/nodes/n1/energy?range=1h", ops_);
  EXPECT_EQ(energy.at("gap_seconds"), 540) << "60 s before it are covered";
  EXPECT_EQ(energy.at("open_gap_seconds"), 0);
}

TEST_F(OpenGapTest, TheDashboardAndItsHoursTellIt) {
  fall_silent();
  post(beat("n2", "2026-03-01T10:10:00Z", 100));
  post(beat("n2", "2026-03-01T10:11:00Z", 100));
  clock_.advance(at("2026-03-01T12:30:00Z") - clock_.utc_now());
  const auto stats = get("/api/v1/dashboard/stats?range=3h", ops_);
  const auto& sum = stats.at("energy_summary");
  EXPECT_EQ(sum.at("covered_seconds"), 120);
  EXPECT_EQ(sum.at("open_gap_seconds"), (149 + 139) * 60);
  double gaps = 0;
  for (const auto& hour : stats.at("hourly"))
    if (hour.at("gap_seconds").is_number()) gaps += hour.at("gap_seconds").get<double>();
  EXPECT_EQ(gaps, sum.at("gap_seconds").get<double>()) << "hours add up to the card";
  const auto& silent_hour = stats.at("hourly").at(2);
  EXPECT_EQ(silent_hour.at("hour"), "2026-03-01T11:00:00Z");
  EXPECT_EQ(silent_hour.at("coverage"), 0.0);
  EXPECT_TRUE(silent_hour.at("energy_kwh").is_null()) << "unknown, not zero";
  EXPECT_EQ(silent_hour.at("gap_seconds"), 2 * 3600);
}

TEST_F(OpenGapTest, HoursOfANodeWithSeveralDomainsAddUpToTheCardToo) {
  for (const char* time : {"2026-03-01T10:00:00Z", "2026-03-01T10:01:00Z"}) {
    auto made = Json::parse(beat("n1", time, 360));
    made["rails"] = Json::array({{{"domain", "cpu_package"}, {"index", 0}, {"power_watts", 100}}});
    post(made.dump());
  }
  clock_.advance(minutes{130});
  const auto stats = get("/api/v1/dashboard/stats?range=7d", ops_);
  const auto& sum = stats.at("energy_summary");
  double covered = 0;
  double gaps = 0;
  std::int64_t energy = 0;
  for (const auto& hour : stats.at("hourly")) {
    if (hour.at("covered_seconds").is_number()) covered += hour.at("covered_seconds").get<double>();
    if (hour.at("gap_seconds").is_number()) gaps += hour.at("gap_seconds").get<double>();
    if (hour.at("energy_uj").is_string()) energy += std::stoll(hour.at("energy_uj").get<std::string>());
  }
  EXPECT_EQ(covered, sum.at("covered_seconds").get<double>());
  EXPECT_EQ(gaps, sum.at("gap_seconds").get<double>());
  EXPECT_EQ(std::to_string(energy), sum.at("energy_uj"));
}

TEST_F(OpenGapTest, ARangeBehindTheLastSampleIsAllGap) {
  fall_silent();
  clock_.advance(minutes{180});
  const auto energy = get("/api/v1/nodes/n1/energy?range=30m", ops_);
  EXPECT_TRUE(energy.at("energy_kwh").is_null());
  EXPECT_EQ(energy.at("coverage"), 0.0);
  EXPECT_EQ(energy.at("rows"), 0);
  EXPECT_TRUE(energy.at("quality").is_null()) << "nothing was measured";
  EXPECT_TRUE(energy.at("method").is_null());
  EXPECT_FALSE(get("/api/v1/dashboard/stats?range=30m", ops_).contains("energy_summary"));
}

TEST_F(OpenGapTest, ARangeInThePastIsCutAtItsEnd) {
  fall_silent();
  clock_.advance(minutes{24 * 60});
  const auto energy = get("/api/v1/nodes/n1/energy?from=2026-03-01T10:00:00Z&to=2026-03-01T11:00:00Z", ops_);
  EXPECT_EQ(energy.at("gap_seconds"), 59 * 60);
}

TEST_F(OpenGapTest, ANodeGoneForGoodIsNotMissed) {
  fall_silent();
  clock_.advance(minutes{7 * 24 * 60});
  const auto energy = get("/api/v1/nodes/n1/energy?range=30d", ops_);
  EXPECT_EQ(energy.at("coverage"), 1.0);
  EXPECT_EQ(energy.at("open_gap_seconds"), 0);
}

TEST_F(OpenGapTest, ATaskOnASilentNodeIsMissedWhereItHeldADevice) {
  fall_silent("n1", {"t1"});
  EXPECT_DOUBLE_EQ(coverage("/api/v1/tasks/t1/energy?range=1h"), kOneOfEleven);
  const auto task = get("/api/v1/tasks?range=1h", ops_).at("tasks").at(0);
  EXPECT_DOUBLE_EQ(task.at("coverage").get<double>(), kOneOfEleven);
  EXPECT_EQ(task.at("gap_seconds"), 600);
  const auto part = get("/api/v1/tasks/t1/energy?range=1h", ops_).at("allocations").at(0);
  EXPECT_DOUBLE_EQ(part.at("coverage").get<double>(), kOneOfEleven);
  const auto stats = get("/api/v1/dashboard/stats?range=1h", ops_);
  EXPECT_DOUBLE_EQ(stats.at("top").at("tasks").at(0).at("coverage").get<double>(), kOneOfEleven);
}

TEST_F(OpenGapTest, ATaskThatLeftItsDeviceIsNotMissed) {
  one_minute("n1", {"t1"});
  post(beat("n1", "2026-03-01T10:01:10Z", 360));
  clock_.advance(at("2026-03-01T10:11:00Z") - clock_.utc_now());
  EXPECT_EQ(coverage("/api/v1/tasks/t1/energy?range=1h"), 1.0);
}

TEST_F(OpenGapTest, ADeviceThatGivesNothingIsMissedItsTasksTooUntilABeatNamesItWithoutThem) {
  one_minute("n1", {"t1"});
  clock_.advance(at("2026-03-01T10:11:00Z") - clock_.utc_now());
  post(beat("n1", "2026-03-01T10:11:00Z", std::nullopt, {"t1"}));
  EXPECT_DOUBLE_EQ(coverage("/api/v1/tasks/t1/energy?range=1h"), kOneOfEleven);
  EXPECT_DOUBLE_EQ(coverage("/api/v1/nodes/n1/energy?range=1h"), kOneOfEleven);
  post(beat("n1", "2026-03-01T10:11:10Z", std::nullopt));
  EXPECT_EQ(coverage("/api/v1/tasks/t1/energy?range=1h"), 1.0);
}

TEST_F(OpenGapTest, AFinishedTaskIsMissedUntilItsEndOnly) {
  call("POST", "/api/v1/tasks", ops_, R"({"task_id":"t1","team":"vision"})");
  fall_silent("n1", {"t1"});
  event("t1", "finished", "2026-03-01T10:06:00Z");
  EXPECT_EQ(get("/api/v1/tasks/t1/energy?range=1h", ops_).at("gap_seconds"), 300);
  event("t1", "finished", "2026-03-01T10:01:05Z");
  EXPECT_EQ(coverage("/api/v1/tasks/t1/energy?range=1h"), 1.0);
}

TEST_F(OpenGapTest, ATaskOnTwoNodesIsMissedOnTheSilentOne) {
  fall_silent("n1", {"t1"});
  post(beat("n2", "2026-03-01T10:10:00Z", 100, {"t1"}));
  post(beat("n2", "2026-03-01T10:11:00Z", 100, {"t1"}));
  const auto energy = get("/api/v1/tasks/t1/energy?range=1h", ops_);
  EXPECT_EQ(energy.at("covered_seconds"), 120);
  EXPECT_EQ(energy.at("open_gap_seconds"), 600) << "node-seconds";
}

TEST_F(OpenGapTest, AReturningHolderGetsNeitherEnergyNorGapForItsAbsence) {
  one_minute("n1", {"t1"});
  post(beat("n1", "2026-03-01T10:01:10Z", 360));
  clock_.advance(minutes{120});
  post(beat("n1", "2026-03-01T12:01:10Z", 360, {"t1"}));
  const auto energy = get("/api/v1/tasks/t1/energy?range=3h", ops_);
  EXPECT_EQ(energy.at("energy_uj"), "21600000000");
  EXPECT_EQ(energy.at("gap_seconds"), 0);
}

TEST_F(OpenGapTest, ATeamReadsItOfItsTasksAndTheirNodes) {
  call("POST", "/api/v1/tasks", ops_, R"({"task_id":"t1","team":"vision"})");
  fall_silent("n1", {"t1"});
  const auto vision = token(Role::tenant, "vision");
  const auto stats = get("/api/v1/dashboard/stats?range=1h", vision);
  EXPECT_DOUBLE_EQ(stats.at("energy_summary").at("coverage").get<double>(), kOneOfEleven);
  EXPECT_DOUBLE_EQ(get("/api/v1/nodes", vision).at("nodes").at(0).at("coverage").get<double>(), kOneOfEleven);
}

TEST_F(OpenGapTest, AccountsTellWhatIsBookedFromFirstToLastSample) {
  fall_silent();
  const auto account = get("/api/v1/energy/accounts?scope=node&ids=n1", ops_).at("accounts").at(0);
  EXPECT_EQ(account.at("coverage"), 1.0);
  EXPECT_EQ(account.at("gap_seconds"), 0);
  EXPECT_EQ(account.at("to"), "2026-03-01T10:01:00Z");
}

TEST_F(OpenGapTest, ASilentSourceIsNotCalledBooked) {
  one_minute("n1");
  const auto source = [&] {
    return get("/api/v1/settings/sources", ops_).at("nodes").at(0).at("sources").at(0);
  };
  EXPECT_EQ(source().at("state"), "booked");
  EXPECT_EQ(source().at("simulated"), false);
  clock_.advance(minutes{10});
  EXPECT_EQ(source().at("state"), "silent");
  EXPECT_EQ(source().at("last_read_at"), "2026-03-01T10:01:00Z");
  EXPECT_TRUE(source().at("why_not").is_string());
  post(beat("n2", "2026-03-01T10:11:00Z", 100, {}, "simulated"));
  const auto other = get("/api/v1/settings/sources", ops_).at("nodes").at(1).at("sources").at(0);
  EXPECT_EQ(other.at("simulated"), true);
}

}  // namespace
}  // namespace tidewatt::api
