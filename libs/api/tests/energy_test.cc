#include <algorithm>

#include "api_fixture.h"

namespace tidewatt::api {
namespace {

using testing::ApiTest;
using testing::at;
using ::testing::HasSubstr;
using testing::Json;

class EnergyTest : public ApiTest {
 protected:
  static bool has_note(const Json& answer, std::string_view code) {
    return std::any_of(answer.at("notes").begin(), answer.at("notes").end(),
                       [code](const Json& note) { return note.at("code") == code; });
  }
  static std::string node_with(const std::string& node, std::string_view time, const Json& rails,
                               const Json& platform, double gpu) {
    auto made = Json::parse(beat(node, time, gpu));
    if (gpu < 0) made.erase("gpu_stats");
    made["rails"] = rails;
    made["platform"] = platform;
    return made.dump();
  }
};

TEST_F(EnergyTest, ATotalIsExactAndSnapsToWholeHours) {
  const auto ops = token(Role::ops);
  one_minute("n1");
  const auto energy = get("/api/v1/nodes/n1/energy?range=30m", ops);
  EXPECT_EQ(energy.at("energy_uj"), "21600000000");
  EXPECT_DOUBLE_EQ(energy.at("energy_kwh").get<double>(), 0.006);
  EXPECT_EQ(energy.at("from"), "2026-03-01T09:00:00Z");
  EXPECT_EQ(energy.at("to"), "2026-03-01T11:00:00Z");
  EXPECT_EQ(energy.at("coverage"), 1.0);
  EXPECT_EQ(energy.at("unattributed_uj"), "21600000000");
  EXPECT_EQ(energy.at("method").at("integrated_uj"), "21600000000");
  EXPECT_EQ(energy.at("quality"), "measured");
  EXPECT_EQ(energy.at("rows"), 1);
  EXPECT_TRUE(has_note(energy, "total_hours"));
}

TEST_F(EnergyTest, NothingBookedIsNullAndNotZero) {
  const auto ops = token(Role::ops);
  post(beat("n1", "2026-03-01T10:01:00Z", std::nullopt));
  const auto energy = get("/api/v1/nodes/n1/energy?range=24h", ops);
  EXPECT_TRUE(energy.at("energy_kwh").is_null());
  EXPECT_TRUE(energy.at("energy_uj").is_null());
  EXPECT_TRUE(energy.at("coverage").is_null());
  EXPECT_TRUE(energy.at("carbon_kgco2e").is_null());
  EXPECT_EQ(energy.at("rows"), 0);
  EXPECT_TRUE(has_note(energy, "no_data"));
  EXPECT_FALSE(get("/api/v1/dashboard/stats", ops).contains("energy_summary"));
  const auto accounts = get("/api/v1/energy/accounts?scope=node&ids=other", ops);
  EXPECT_EQ(accounts.at("rows"), 0);
  EXPECT_TRUE(accounts.at("sum").is_null());
}

TEST_F(EnergyTest, AnUnknownNodeIsNotFound) {
  const auto response = call("GET", "/api/v1/nodes/nope/energy", token(Role::ops));
  EXPECT_EQ(response.status, 404);
  EXPECT_THAT(response.body, HasSubstr("nope"));
}

TEST_F(EnergyTest, BadRangesAreRefusedWithTheValue) {
  const auto ops = token(Role::ops);
  post(beat("n1", "2026-03-01T10:01:00Z", 1));
  for (const char* query :
       {"range=1x", "from=yesterday", "from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z", "range=0h"})
    EXPECT_EQ(call("GET", std::string{"/api/v1/nodes/n1/energy?"} + query, ops).status, 400) << query;
  EXPECT_THAT(call("GET", "/api/v1/nodes/n1/energy?range=1x", ops).body, HasSubstr("1x"));
}

TEST_F(EnergyTest, LowCoverageSaysThatRealEnergyIsHigher) {
  const auto ops = token(Role::ops);
  post(beat("n1", "2026-03-01T10:00:00Z", 100));
  clock_.advance(Milliseconds{600'000});
  post(beat("n1", "2026-03-01T10:10:00Z", 100));
  const auto energy = get("/api/v1/nodes/n1/energy", ops);
  EXPECT_EQ(energy.at("energy_uj"), "6000000000");  // 60 of 600 s
  EXPECT_DOUBLE_EQ(energy.at("coverage").get<double>(), 0.1);
  EXPECT_EQ(energy.at("gap_seconds"), 540);
  ASSERT_TRUE(has_note(energy, "gap"));
  EXPECT_THAT(energy.at("notes").dump(), HasSubstr("real energy is higher than shown"));
}

TEST_F(EnergyTest, ThePlatformMeterIsNeverAddedToItsComponents) {
  const auto ops = token(Role::ops);
  const Json rails = Json::array({{{"domain", "cpu_package"}, {"index", 0}, {"power_watts", 100}},
                                  {{"domain", "psys"}, {"index", 0}, {"power_watts", 50}}});
  const Json platform = Json::array({{{"domain", "platform"}, {"power_watts", 900}}});
  for (const char* time : {"2026-03-01T10:00:00Z", "2026-03-01T10:01:00Z"})
    post(node_with("n1", time, rails, platform, 360));
  const auto energy = get("/api/v1/nodes/n1/energy", ops);
  EXPECT_EQ(energy.at("energy_uj"), std::to_string((360LL + 100) * 60 * 1'000'000));
  EXPECT_EQ(energy.at("covered_seconds"), 60);
  std::map<std::string, bool> in_total;
  for (const auto& domain : energy.at("domains"))
    in_total[domain.at("domain").get<std::string>()] = domain.at("in_total").get<bool>();
  EXPECT_EQ(in_total, (std::map<std::string, bool>{
                          {"cpu_package", true}, {"gpu", true}, {"platform", false}, {"psys", false}}));
  EXPECT_TRUE(has_note(energy, "platform_not_added"));
  const auto node = get("/api/v1/nodes/n1", ops);
  EXPECT_EQ(node.at("power_watts"), 460.0);
  EXPECT_EQ(node.at("platform_power_watts"), 900.0);
}

TEST_F(EnergyTest, WithoutComponentsThePlatformMeterIsTheTotal) {
  const auto ops = token(Role::ops);
  const Json platform = Json::array({{{"domain", "platform"}, {"power_watts", 900}}});
  for (const char* time : {"2026-03-01T10:00:00Z", "2026-03-01T10:01:00Z"})
    post(node_with("n2", time, Json::array(), platform, -1));
  one_minute("n1");
  const auto energy = get("/api/v1/nodes/n2/energy", ops);
  EXPECT_EQ(energy.at("energy_uj"), std::to_string(900LL * 60 * 1'000'000));
  const auto node = get("/api/v1/nodes/n2", ops);
  EXPECT_EQ(node.at("power_boundary"), "platform");
  EXPECT_EQ(node.at("power_watts"), 900.0);
  const auto stats = get("/api/v1/dashboard/stats", ops);
  EXPECT_EQ(stats.at("energy_summary").at("energy_uj"), std::to_string((900LL + 360) * 60 * 1'000'000));
  EXPECT_EQ(stats.at("power_now").at("boundary"), "mixed");
}

TEST_F(EnergyTest, PartialSecondsStandOnEveryRowThatHoldsCoverage) {
  const auto ops = token(Role::ops);
  one_minute("n1", {"t1"});
  for (const char* target : {"/api/v1/nodes", "/api/v1/tasks"}) {
    const auto list = get(target, ops);
    for (const auto& row : list.at(list.contains("nodes") ? "nodes" : "tasks"))
      EXPECT_EQ(row.at("partial_seconds"), 0) << target;
  }
  EXPECT_EQ(get("/api/v1/nodes/n1", ops).at("devices").at(0).at("partial_seconds"), 0);
  const auto top = get("/api/v1/dashboard/stats", ops).at("top");
  for (const char* kind : {"tasks", "nodes", "teams"})
    EXPECT_EQ(top.at(kind).at(0).at("partial_seconds"), 0) << kind;
}

TEST_F(EnergyTest, ATaskListMayBeOfOneGroup) {
  const auto ops = token(Role::ops);
  one_minute("n1", {"t1", "t2"});
  EXPECT_EQ(call("POST", "/api/v1/tasks", ops, R"({"task_id":"t1","group_id":"llm"})").status, 201);
  const auto tasks = get("/api/v1/tasks?range=1h&group_id=llm", ops);
  EXPECT_EQ(tasks.at("total"), 1);
  EXPECT_EQ(tasks.at("sum").at("energy_uj"), "10800000000");
  EXPECT_EQ(get("/api/v1/tasks?range=1h&group_id=other", ops).at("total"), 0);
}

TEST_F(EnergyTest, ASessionSaysWhetherANodePlaysARecordedLog) {
  const auto ops = token(Role::ops);
  one_minute("n1");
  EXPECT_EQ(get("/api/v1/session", ops).at("replay"), false);
  const Json platform = Json::array({{{"domain", "platform"}, {"power_watts", 900}, {"source", "replay"}}});
  post(node_with("replay-1-0", "2026-03-01T10:01:00Z", Json::array(), platform, -1));
  EXPECT_EQ(get("/api/v1/session", ops).at("replay"), true);
}

TEST_F(EnergyTest, AlertsAreInNaturalOrderAndCountedBeyondTheCap) {
  const auto ops = token(Role::ops);
  for (int n = 60; n >= 1; --n) post(beat("n1-" + std::to_string(n), "2026-03-01T10:01:00Z", 100));
  clock_.advance(Milliseconds{3'600'000});
  const auto stats = get("/api/v1/dashboard/stats", ops);
  EXPECT_EQ(stats.at("alerts").size(), 50U);
  EXPECT_EQ(stats.at("alerts_total"), 60);
  EXPECT_EQ(stats.at("alerts").at(1).at("subject"), "n1-2");
  EXPECT_EQ(stats.at("alerts").at(9).at("subject"), "n1-10");
}

TEST_F(EnergyTest, SimulatedEnergySaysSoEverywhere) {
  const auto ops = token(Role::ops);
  post(beat("n1", "2026-03-01T10:00:00Z", 100, {}, "simulated"));
  post(beat("n1", "2026-03-01T10:01:00Z", 100, {}, "simulated"));
  one_minute("n2");
  const auto energy = get("/api/v1/nodes/n1/energy", ops);
  EXPECT_EQ(energy.at("quality"), "simulated");
  EXPECT_TRUE(has_note(energy, "simulated"));
  EXPECT_EQ(get("/api/v1/dashboard/stats", ops).at("energy_summary").at("quality"), "mixed");
  EXPECT_EQ(get("/api/v1/session", ops).at("simulated"), true);
}

TEST_F(EnergyTest, TasksAndUnattributedAddUpToTheNodes) {
  const auto ops = token(Role::ops);
  one_minute("n1", {"t1", "t2"});
  one_minute("n2");
  const auto tasks = get("/api/v1/tasks?range=1h", ops);
  EXPECT_EQ(tasks.at("sum").at("energy_uj"), "21600000000");
  EXPECT_EQ(tasks.at("unattributed").at("energy_uj"), "21600000000");
  EXPECT_EQ(get("/api/v1/dashboard/stats", ops).at("energy_summary").at("energy_uj"), "43200000000");
  const auto task = get("/api/v1/tasks/t1/energy", ops);
  EXPECT_EQ(task.at("energy_uj"), "10800000000");
  EXPECT_EQ(task.at("attribution"), "shared_estimated");
  EXPECT_TRUE(has_note(task, "shared_card"));
  ASSERT_EQ(task.at("allocations").size(), 1U);
  EXPECT_EQ(task.at("allocations").at(0).at("node_id"), "n1");
  EXPECT_EQ(task.at("allocations").at(0).at("energy_uj"), "10800000000");
}

TEST_F(EnergyTest, InferenceTasksSayWhyTheyHaveNoTokens) {
  const auto ops = token(Role::ops);
  call("POST", "/api/v1/tasks", ops, R"({"task_id":"chat","kind":"inference","group_id":"g"})");
  one_minute("n1", {"chat"});
  const auto task = get("/api/v1/tasks/chat/energy", ops);
  EXPECT_TRUE(task.at("token_efficiency").at("tokens_per_joule").is_null());
  EXPECT_EQ(task.at("token_efficiency").at("reason"), "no_usage_reported");
  EXPECT_EQ(get("/api/v1/task-groups/g/efficiency", ops).at("reason"), "no_usage_reported");
  EXPECT_EQ(call("GET", "/api/v1/task-groups/other/efficiency", ops).status, 404);
}

struct Visibility {
  bool configured;
  Role role;
  bool visible;
};

TEST_F(EnergyTest, CarbonFollowsTheOneRuleInEveryAnswer) {
  one_minute("n1", {"t1"});
  call("POST", "/api/v1/tasks", token(Role::ops), R"({"task_id":"t1","team":"vision"})");
  for (const auto& row : {Visibility{false, Role::ops, true}, Visibility{false, Role::viewer, false},
                          Visibility{false, Role::tenant, false}, Visibility{true, Role::ops, true},
                          Visibility{true, Role::viewer, true}, Visibility{true, Role::tenant, true}}) {
    auto options = make_options();
    if (row.configured) options.factor = configured_factor();
    restart(options);
    const auto secret = token(row.role, row.role == Role::tenant ? "vision" : "");
    for (const char* path :
         {"/api/v1/nodes/n1/energy", "/api/v1/tasks/t1/energy", "/api/v1/tasks", "/api/v1/dashboard/stats",
          "/api/v1/nodes/n1/carbon-rate", "/api/v1/energy/accounts?scope=task", "/api/v1/factors"}) {
      const auto body = get(path, secret).dump();
      const bool any = body.find("\"emission_factor\"") != std::string::npos ||
                       body.find("\"in_force\"") != std::string::npos ||
                       body.find("\"carbon_kgco2e\"") != std::string::npos ||
                       body.find("\"grams_per_hour\"") != std::string::npos;
      EXPECT_EQ(any, row.visible) << path << " " << to_string(row.role) << " " << row.configured;
      EXPECT_EQ(body.find("no_factor_configured") != std::string::npos, !row.visible) << path;
    }
    const auto energy = get("/api/v1/tasks/t1/energy", secret);
    EXPECT_EQ(has_note(energy, "placeholder_factor"), row.visible && !row.configured);
    if (row.configured) {
      EXPECT_DOUBLE_EQ(energy.at("carbon_kgco2e").get<double>(), 0.003);
    }
  }
}

TEST_F(EnergyTest, ListsSortUnknownLastBothWaysAndPage) {
  const auto ops = token(Role::ops);
  one_minute("b");
  post(beat("a", "2026-03-01T10:00:00Z", 10));
  post(beat("a", "2026-03-01T10:01:00Z", 10));
  post(beat("c", "2026-03-01T10:01:00Z", std::nullopt));
  const auto ids = [](const Json& list) {
    std::string text;
    for (const auto& node : list.at("nodes")) text += node.at("node_id").get<std::string>();
    return text;
  };
  EXPECT_EQ(ids(get("/api/v1/nodes?sort=-energy_kwh", ops)), "bac");
  EXPECT_EQ(ids(get("/api/v1/nodes?sort=energy_kwh", ops)), "abc");
  const auto first = get("/api/v1/nodes?sort=node_id&limit=2", ops);
  EXPECT_EQ(ids(first), "ab");
  EXPECT_EQ(first.at("total"), 3);
  const auto second =
      get("/api/v1/nodes?sort=node_id&limit=2&cursor=" + first.at("next_cursor").get<std::string>(), ops);
  EXPECT_EQ(ids(second), "c");
  EXPECT_TRUE(second.at("next_cursor").is_null());
  EXPECT_EQ(ids(get("/api/v1/nodes?q=B", ops)), "b");
  EXPECT_EQ(call("GET", "/api/v1/nodes?sort=colour", ops).status, 400);
  EXPECT_EQ(call("GET", "/api/v1/nodes?limit=1001", ops).status, 400);
  EXPECT_EQ(call("GET", "/api/v1/nodes?cursor=x", ops).status, 400);
}

TEST_F(EnergyTest, TheExportHoldsHourlyRowsInBothForms) {
  const auto ops = token(Role::ops);
  one_minute("=evil", {"t1"});
  const auto csv = call("GET", "/api/v1/energy/export?range=1h&scope=node", ops);
  EXPECT_THAT(csv.body, HasSubstr("2026-03-01T10:00:00Z,default,node,\"'=evil\",,gpu,21600000000,"));
  const auto json = get("/api/v1/energy/export?range=1h&format=json", ops);
  EXPECT_EQ(json.at("rows").size(), 4U);  // device, node, task, task_device
}

TEST_F(EnergyTest, TheExportsGuardAgainstFormulasSeesThroughBlanks) {
  const auto ops = token(Role::ops);
  for (const char* node : {"=a", " =b", "  +c", "\xc2\xa0-d",
                           "\xef\xbc\x9d"
                           "e",
                           "f=1"})
    one_minute(node);
  const auto csv = call("GET", "/api/v1/energy/export?range=1h&scope=node", ops).body;
  for (const char* guarded : {"\"'=a\"", "\"' =b\"", "\"'  +c\"", "\"'\xc2\xa0-d\"",
                              "\"'\xef\xbc\x9d"
                              "e\"",
                              ",f=1,"})
    EXPECT_THAT(csv, HasSubstr(guarded));
}

TEST_F(EnergyTest, AccountsAreNamedByListsOrOneByOneAndNeverByNothing) {
  const auto ops = token(Role::ops);
  for (const char* node : {"a", "b", "c", "a,b"}) one_minute(node);
  const auto ids = [&](const std::string& query) {
    std::string out;
    const auto answer = get("/api/v1/energy/accounts?scope=node" + query, ops);
    for (const auto& account : answer.at("accounts")) out += account.at("id").get<std::string>() + ";";
    return out;
  };
  EXPECT_EQ(ids(""), "a;a,b;b;c;");
  EXPECT_EQ(ids("&ids=a,b"), "a;b;");
  EXPECT_EQ(ids("&ids=a&ids=c"), "a;c;");
  EXPECT_EQ(ids("&id=a,b"), "a,b;") << "one id, comma and all";
  EXPECT_EQ(ids("&id=a,b&id=c&ids=a"), "a;a,b;c;");
  for (const char* none : {"&ids=", "&ids=,", "&id=", "&ids=&id="})
    EXPECT_EQ(call("GET", std::string{"/api/v1/energy/accounts?scope=node"} + none, ops).status, 400) << none;
}

TEST_F(EnergyTest, ANodeSaysWhyItsSourcesGiveNothing) {
  post(R"({"node_id":"n1","gpu_stats":[],"sources":[{"source":"nvidia","state":"failed","reason":"no driver"},
           {"source":"rapl","state":"ok"},{"source":"ipmi","state":"starting"}]})");
  const auto node = get("/api/v1/nodes/n1", token(Role::viewer));
  EXPECT_EQ(node.at("devices_total"), 0);
  const auto& states = node.at("source_states");
  ASSERT_EQ(states.size(), 3U);
  EXPECT_EQ(states.at(0), (Json{{"source", "nvidia"}, {"state", "failed"}, {"reason", "no driver"}}));
  EXPECT_TRUE(states.at(1).at("reason").is_null());
  const auto sources = get("/api/v1/settings/sources", token(Role::viewer)).at("nodes").at(0).at("sources");
  ASSERT_EQ(sources.size(), 2U) << "those that give nothing; the others are told by their devices";
  EXPECT_EQ(sources.at(1).at("source"), "nvidia");
  EXPECT_EQ(sources.at(1).at("devices"), 0);
  EXPECT_EQ(sources.at(1).at("state"), "unknown");
  EXPECT_EQ(sources.at(1).at("why_not"), "no driver");
  EXPECT_EQ(get("/api/v1/nodes/n1", token(Role::ops)).at("replay"), false);
}

TEST_F(EnergyTest, ARecordedLogIsCalledOneWhereverItsNodeIsShown) {
  post(R"({"node_id":"r","sampled_at":"2026-03-01T10:00:00Z",
           "platform":[{"domain":"platform","index":0,"power_watts":100,"source":"replay"}]})");
  const auto ops = token(Role::ops);
  EXPECT_EQ(get("/api/v1/nodes/r", ops).at("replay"), true);
  EXPECT_EQ(get("/api/v1/nodes", ops).at("nodes").at(0).at("replay"), true);
  EXPECT_EQ(get("/api/v1/session", ops).at("replay"), true);
  EXPECT_TRUE(has_note(get("/api/v1/nodes/r/energy", ops), "replay"));
}

TEST_F(EnergyTest, ACpuThatIsMeasuredNeedsNoEstimate) {
  const auto rail = [&](const std::string& time) {
    post(R"({"node_id":"n1","sampled_at":")" + time + R"(","rails":[{"domain":"cpu_package","index":0,
             "power_watts":80,"source":"rapl"}]})");
  };
  const auto ops = token(Role::ops);
  one_minute("n1");
  EXPECT_EQ(get("/api/v1/nodes/n1/power?range=1h", ops).at("cpu_estimate_reason"), "unknown_cpu_model");
  rail("2026-03-01T10:01:05Z");
  EXPECT_EQ(get("/api/v1/nodes/n1/power?range=1h", ops).at("cpu_estimate_reason"), "measured");
}

TEST_F(EnergyTest, AnIdWithSlashesIsOneSegment) {
  const auto ops = token(Role::ops);
  one_minute("rack/7");
  EXPECT_EQ(get("/api/v1/nodes/rack%2F7/energy", ops).at("id"), "rack/7");
}

TEST_F(EnergyTest, MetricsReadZeroDifferenceAfterAnAudit) {
  one_minute("n1", {"t1"});
  ASSERT_TRUE(api_->housekeep());
  const auto text = call("GET", "/metrics", token(Role::viewer)).body;
  EXPECT_THAT(text,
              HasSubstr("tidewatt_ledger_conservation_difference_joules{check=\"devices_minus_nodes\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("tidewatt_beats_total{outcome=\"accepted\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("tidewatt_nodes{state=\"live\"} 1\n"));
}

TEST_F(EnergyTest, AlertsNameSilentNodesAndLowCoverage) {
  const auto ops = token(Role::ops);
  one_minute("n1");
  clock_.advance(Milliseconds{600'000});
  auto alerts = get("/api/v1/dashboard/stats", ops).at("alerts");
  ASSERT_EQ(alerts.size(), 1U);
  EXPECT_EQ(alerts.at(0).at("kind"), "agent_silent");
  EXPECT_EQ(alerts.at(0).at("subject"), "n1");
  post(beat("n1", "2026-03-01T10:11:10Z", 100));
  alerts = get("/api/v1/dashboard/stats", ops).at("alerts");
  ASSERT_EQ(alerts.size(), 1U);
  EXPECT_EQ(alerts.at(0).at("kind"), "coverage_low");
}

}  // namespace
}  // namespace tidewatt::api
