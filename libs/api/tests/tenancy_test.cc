#include "api_fixture.h"

namespace tidewatt::api {
namespace {

using testing::ApiTest;
using testing::Json;

/// n1: t1 (vision) and t2 (language) share the card. n2: t3 (language) alone.
class TenancyTest : public ApiTest {
 protected:
  void SetUp() override {
    const auto ops = token(Role::ops);
    call("POST", "/api/v1/tasks", ops, R"({"task_id":"t1","team":"vision","group_id":"g1"})");
    call("POST", "/api/v1/tasks", ops, R"({"task_id":"t2","team":"language","group_id":"g2"})");
    call("POST", "/api/v1/tasks", ops, R"({"task_id":"t3","team":"language","group_id":"g2"})");
    one_minute("n1", {"t1", "t2"});
    one_minute("n2", {"t3"});
    tenant_ = token(Role::tenant, "vision");
  }
  std::string tenant_;
};

TEST_F(TenancyTest, SeesOnlyItsOwnTasks) {
  const auto tasks = get("/api/v1/tasks", tenant_);
  ASSERT_EQ(tasks.at("total"), 1);
  EXPECT_EQ(tasks.at("tasks").at(0).at("task_id"), "t1");
  EXPECT_EQ(tasks.at("sum").at("energy_uj"), "10800000000");
  EXPECT_FALSE(tasks.contains("unattributed"));
  EXPECT_EQ(call("GET", "/api/v1/tasks/t1/energy", tenant_).status, 200);
  EXPECT_EQ(call("GET", "/api/v1/tasks/t2/energy", tenant_).status, 404);
  EXPECT_EQ(call("GET", "/api/v1/tasks/t2/power", tenant_).status, 404);
  EXPECT_EQ(call("GET", "/api/v1/tasks?team=language", tenant_).body.find("t2"), std::string::npos);
  EXPECT_EQ(call("GET", "/api/v1/task-groups/g2/efficiency", tenant_).status, 404);
  EXPECT_EQ(call("GET", "/api/v1/task-groups/g1/efficiency", tenant_).status, 200);
}

TEST_F(TenancyTest, SeesOfANodeOnlyItsTasksPart) {
  const auto nodes = get("/api/v1/nodes", tenant_);
  ASSERT_EQ(nodes.at("total"), 1);
  const auto& node = nodes.at("nodes").at(0);
  EXPECT_EQ(node.at("node_id"), "n1");
  EXPECT_EQ(node.at("energy_uj"), "10800000000");
  EXPECT_TRUE(node.at("power_watts").is_null());
  EXPECT_TRUE(nodes.at("power_known_watts").is_null());
  EXPECT_EQ(get("/api/v1/nodes/n1/energy", tenant_).at("energy_uj"), "10800000000");
  EXPECT_FALSE(get("/api/v1/nodes/n1/energy", tenant_).contains("unattributed_uj"));
  EXPECT_TRUE(get("/api/v1/nodes/n1", tenant_).at("devices").empty());
  EXPECT_TRUE(get("/api/v1/nodes/n1/carbon-rate", tenant_).at("power_watts").is_null());
  for (const char* path : {"/api/v1/nodes/n2", "/api/v1/nodes/n2/energy", "/api/v1/nodes/n2/power",
                           "/api/v1/nodes/n2/carbon-rate"})
    EXPECT_EQ(call("GET", path, tenant_).status, 404) << path;
}

TEST_F(TenancyTest, SeesOfTheDashboardOnlyItsPart) {
  const auto stats = get("/api/v1/dashboard/stats", tenant_);
  EXPECT_EQ(stats.at("energy_summary").at("energy_uj"), "10800000000");
  EXPECT_TRUE(stats.at("power_now").at("power_watts").is_null());
  EXPECT_FALSE(stats.contains("unattributed"));
  const auto body = stats.dump();
  for (const char* secret : {"t2", "t3", "n2", "language", "21600000000"})
    EXPECT_EQ(body.find(secret), std::string::npos) << secret;
}

TEST_F(TenancyTest, SeesOnlyItsOwnAccounts) {
  const auto accounts = get("/api/v1/energy/accounts?scope=task", tenant_);
  EXPECT_EQ(accounts.at("rows"), 1);
  EXPECT_EQ(accounts.at("sum").at("energy_uj"), "10800000000");
  EXPECT_EQ(get("/api/v1/energy/accounts?scope=task&ids=t2", tenant_).at("rows"), 0);
  EXPECT_EQ(call("GET", "/api/v1/energy/accounts?scope=node", tenant_).status, 403);
}

TEST_F(TenancyTest, ATeamWithoutTasksSeesNothingRatherThanEverything) {
  const auto other = token(Role::tenant, "nobody");
  EXPECT_EQ(get("/api/v1/tasks", other).at("total"), 0);
  EXPECT_EQ(get("/api/v1/nodes", other).at("total"), 0);
  EXPECT_FALSE(get("/api/v1/dashboard/stats", other).contains("energy_summary"));
  EXPECT_EQ(get("/api/v1/energy/accounts?scope=task", other).at("rows"), 0);
}

}  // namespace
}  // namespace tidewatt::api
