#include "api_fixture.h"

namespace tidewatt::api {
namespace {

using testing::ApiTest;
using ::testing::HasSubstr;
using testing::Json;

class HeartbeatsTest : public ApiTest {};

TEST_F(HeartbeatsTest, OneBeatAndAnArrayAreAnsweredPerBeat) {
  EXPECT_EQ(post(beat("n1", "2026-03-01T10:00:00Z", 100)).at("results").size(), 1U);
  const auto results = post("[" + beat("n1", "2026-03-01T10:00:20Z", 100) + ",{\"gpu_stats\":[]}," +
                            beat("n1", "2026-03-01T10:00:40Z", 100) + "]")
                           .at("results");
  EXPECT_EQ(results.at(0).at("status"), "accepted");
  EXPECT_EQ(results.at(1).at("status"), "rejected");
  EXPECT_THAT(results.at(1).at("reason").get<std::string>(), HasSubstr("node_id"));
  EXPECT_EQ(results.at(2).at("status"), "accepted");
}

TEST_F(HeartbeatsTest, ABodyThatIsNoJsonIsAProblem) {
  for (const char* body : {"", "nonsense", "[]", "3"}) {
    const auto response = call("POST", "/api/v1/heartbeats", token(Role::agent), body);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_EQ(Json::parse(response.body).at("code"), "invalid_body");
  }
}

TEST_F(HeartbeatsTest, ABeatFromTheFutureIsRejectedWithItsReason) {
  const auto result = post(beat("n1", "2026-03-01T11:00:00Z", 100)).at("results").at(0);
  EXPECT_EQ(result.at("status"), "rejected");
  EXPECT_THAT(result.at("reason").get<std::string>(), HasSubstr("future"));
}

TEST_F(HeartbeatsTest, ABeatMakesItsNodeLiveAndSilenceMakesItSilent) {
  const auto ops = token(Role::ops);
  post(beat("n1", "2026-03-01T10:01:10Z", 250));
  auto node = get("/api/v1/nodes/n1", ops);
  EXPECT_EQ(node.at("state"), "live");
  EXPECT_EQ(node.at("power_watts"), 250.0);
  clock_.advance(Milliseconds{91'000});
  node = get("/api/v1/nodes/n1", ops);
  EXPECT_EQ(node.at("state"), "silent");
  EXPECT_TRUE(node.at("power_watts").is_null());
  EXPECT_EQ(node.at("silent_seconds"), 91);
}

TEST_F(HeartbeatsTest, FinishedTasksGetNoEnergyAfterTheirEnd) {
  const auto ops = token(Role::ops);
  EXPECT_EQ(call("POST", "/api/v1/tasks", ops,
                 R"({"task_id":"t1","team":"vision","started_at":"2026-03-01T09:00:00Z"})")
                .status,
            201);
  EXPECT_EQ(
      call("POST", "/api/v1/tasks/t1/events", ops, R"({"event":"finished","at":"2026-03-01T10:00:30Z"})")
          .status,
      204);
  one_minute("n1", {"t1"});
  const auto energy = get("/api/v1/tasks/t1/energy?range=1h", ops);
  EXPECT_EQ(energy.at("energy_uj"), "10800000000");
}

}  // namespace
}  // namespace tidewatt::api
