// What tasks report, and what the server makes of it.
#include "api_fixture.h"

namespace tidewatt::api {
namespace {

using testing::ApiTest;
using testing::at;
using testing::Json;

class TaskReportsTest : public ApiTest {
 protected:
  void SetUp() override {
    ops_ = token(Role::ops);
    agent_token_ = token(Role::agent);
    for (const auto* task :
         {R"({"task_id":"t1","team":"vision","group_id":"chat","kind":"inference"})",
          R"({"task_id":"t2","team":"vision","group_id":"chat"})", R"({"task_id":"t3","team":"language"})"})
      ASSERT_EQ(call("POST", "/api/v1/tasks", ops_, task).status, 201);
  }
  Json progress(int epoch, std::optional<double> joules, std::optional<int> total = 10) {
    Json body{{"epoch", epoch},
              {"at", format_rfc3339(at("2026-03-01T10:00:00Z") + Milliseconds{epoch * 1000})}};
    if (joules) body["energy_joules_total"] = *joules;
    if (total) body["epochs_total"] = *total;
    const auto answer = call("POST", "/api/v1/tasks/t3/progress", agent_token_, body.dump());
    EXPECT_EQ(answer.status, 200) << answer.body;
    return Json::parse(answer.body, nullptr, false);
  }
  net::Response usage(const Json& body, const std::string& target = "/api/v1/usage") {
    return call("POST", target, agent_token_, body.dump());
  }
  std::string ops_;
  std::string agent_token_;
};

TEST_F(TaskReportsTest, ATaskWithoutProgressHasNoneAndSaysSo) {
  const auto task = get("/api/v1/tasks/t3", ops_);
  EXPECT_TRUE(task.at("progress").is_null());
  EXPECT_TRUE(task.at("prediction").is_null());
  EXPECT_EQ(task.at("prediction_reason"), "no_progress_reported");
  EXPECT_TRUE(task.at("first_prediction").is_null());
  EXPECT_EQ(task.at("token_efficiency").at("reason"), "task_has_no_group");
}

TEST_F(TaskReportsTest, PredictionAppearsWithTheFifthEpochAndIsJudgedAtTheEnd) {
  for (int n = 1; n <= 4; ++n) progress(n, 100.0 * n);
  EXPECT_EQ(get("/api/v1/tasks/t3", ops_).at("prediction_reason"), "too_few_epochs");
  progress(5, 500);
  auto task = get("/api/v1/tasks/t3", ops_);
  EXPECT_TRUE(task.at("prediction_reason").is_null());
  const auto& prediction = task.at("prediction");
  EXPECT_EQ(prediction.at("epochs"), 5);
  EXPECT_NEAR(prediction.at("energy_joules"), 500, 1);
  EXPECT_LT(prediction.at("interval_90_joules").at(0), prediction.at("energy_joules"));
  EXPECT_EQ(prediction.at("finish_at"), "2026-03-01T10:00:10Z");
  EXPECT_EQ(task.at("progress").at("epoch"), 5);
  for (int n = 6; n <= 10; ++n) progress(n, 500 + 110.0 * (n - 5));
  task = get("/api/v1/tasks/t3", ops_);
  EXPECT_EQ(task.at("prediction_reason"), "all_epochs_done");
  const auto& first = task.at("first_prediction");
  EXPECT_DOUBLE_EQ(first.at("actual_joules"), 550);
  EXPECT_NEAR(first.at("error_percent"), (500.0 / 550 - 1) * 100, 0.2);
  EXPECT_EQ(first.at("in_interval"), false);
  EXPECT_EQ(task.at("progress").at("epochs").size(), 10U);
}

TEST_F(TaskReportsTest, AnEpochCountsOnce) {
  EXPECT_EQ(progress(1, 100).at("status"), "accepted");
  EXPECT_EQ(progress(1, 999).at("status"), "duplicate");
  EXPECT_DOUBLE_EQ(get("/api/v1/tasks/t3", ops_).at("progress").at("energy_joules_total"), 100);
}

TEST_F(TaskReportsTest, WhatIsNoProgressIsRefused) {
  for (const auto* body :
       {"{}", R"({"epoch":-1})", R"({"epoch":1.5})", R"({"epoch":1,"energy_joules_total":-2})",
        R"({"epoch":1,"energy_joules_total":1e300})", R"({"epoch":1,"at":"soon"})",
        R"({"epoch":1,"epochs_total":"ten"})", R"({"epoch":1,"loss":0.5})", "[1]"}) {
    EXPECT_EQ(call("POST", "/api/v1/tasks/t3/progress", agent_token_, body).status, 400) << body;
    EXPECT_TRUE(get("/api/v1/tasks/t3", ops_).at("progress").is_null()) << body;
  }
}

TEST_F(TaskReportsTest, ATaskThatNobodyRegisteredBecomesKnownButNotByATenant) {
  const std::string target = "/api/v1/tasks/new%2Fone/progress";
  EXPECT_EQ(call("POST", target, token(Role::tenant, "vision"), R"({"epoch":1})").status, 404);
  EXPECT_EQ(call("POST", target, agent_token_, R"({"epoch":1})").status, 200);
  EXPECT_EQ(get("/api/v1/tasks/new%2Fone", ops_).at("progress").at("epoch"), 1);
}

TEST_F(TaskReportsTest, TokensPerJouleIsOfWholeHoursThatAreOver) {
  one_minute("n1", {"t1"});  // 21,600 J between 10:00 and 10:01
  const Json request{{"task_group_id", "chat"},
                     {"request_id", "r1"},
                     {"prompt_tokens", 40'000},
                     {"completion_tokens", 3'200}};
  EXPECT_EQ(Json::parse(usage(request).body).at("status"), "accepted");
  EXPECT_EQ(Json::parse(usage(request).body).at("status"), "duplicate");
  EXPECT_EQ(get("/api/v1/task-groups/chat/efficiency", ops_).at("reason"), "hour_not_over");
  clock_.advance(std::chrono::hours{1});
  // Of the hour that runs now, neither counts.
  EXPECT_EQ(
      usage({{"request_id", "r2"}, {"prompt_tokens", 5}, {"completion_tokens", 5}}, "/api/v1/tasks/t2/usage")
          .status,
      200);
  const auto got = get("/api/v1/task-groups/chat/efficiency", ops_);
  EXPECT_DOUBLE_EQ(got.at("tokens_per_joule"), 43'200.0 / 21'600);
  EXPECT_DOUBLE_EQ(got.at("joules_per_output_token"), 21'600.0 / 3'200);
  EXPECT_TRUE(got.at("reason").is_null());
  EXPECT_EQ(got.at("energy_uj"), "21600000000");
  EXPECT_EQ(got.at("to"), "2026-03-01T11:00:00Z");
  EXPECT_EQ(get("/api/v1/tasks/t1", ops_).at("token_efficiency"), got);
  EXPECT_EQ(get("/api/v1/tasks/t1/energy", ops_).at("token_efficiency"), got);
  const auto tasks = get("/api/v1/tasks", ops_);
  for (const auto& row : tasks.at("tasks")) {
    if (row.at("task_id") == "t3")
      EXPECT_EQ(row.at("tokens_reason"), "task_has_no_group");
    else
      EXPECT_DOUBLE_EQ(row.at("tokens_per_joule"), 2) << row.at("task_id");
  }
}

TEST_F(TaskReportsTest, NoTokensAndNoUsageAreNotTheSame) {
  one_minute("n1", {"t1"});
  clock_.advance(std::chrono::hours{1});
  EXPECT_EQ(get("/api/v1/task-groups/chat/efficiency", ops_).at("reason"), "no_usage_reported");
  ASSERT_EQ(usage({{"task_group_id", "chat"},
                   {"request_id", "r1"},
                   {"prompt_tokens", 0},
                   {"completion_tokens", 0},
                   {"at", "2026-03-01T10:30:00Z"}})
                .status,
            200);
  EXPECT_EQ(get("/api/v1/task-groups/chat/efficiency", ops_).at("reason"), "no_tokens");
}

TEST_F(TaskReportsTest, UsageIsRefusedWhereItCouldNotBeCountedOnce) {
  const Json good{
      {"task_group_id", "chat"}, {"request_id", "r1"}, {"prompt_tokens", 1}, {"completion_tokens", 1}};
  const auto with = [&good](const char* key, const Json& value) {
    Json changed = good;
    changed[key] = value;
    return changed;
  };
  for (const auto& [body, status] :
       {std::pair{with("request_id", ""), 400}, std::pair{with("prompt_tokens", -1), 400},
        std::pair{with("prompt_tokens", nullptr), 400}, std::pair{with("at", "2026-02-01T00:00:00Z"), 400},
        std::pair{with("at", "2026-03-01T12:00:00Z"), 400}, std::pair{with("task_group_id", "nobody"), 404},
        std::pair{with("model", "x"), 400}})
    EXPECT_EQ(usage(body).status, status) << body;
  Json without_group = good;
  without_group.erase("task_group_id");
  EXPECT_EQ(usage(without_group, "/api/v1/tasks/t3/usage").status, 409) << "it has no group";
}

TEST_F(TaskReportsTest, OfAGroupOfSeveralTeamsATenantSeesNoFigure) {
  ASSERT_EQ(
      call("POST", "/api/v1/tasks", ops_, R"({"task_id":"t4","team":"language","group_id":"chat"})").status,
      201);
  one_minute("n1", {"t1"});
  ASSERT_EQ(
      usage({{"task_group_id", "chat"}, {"request_id", "r1"}, {"prompt_tokens", 9}, {"completion_tokens", 9}})
          .status,
      200);
  clock_.advance(std::chrono::hours{1});
  const auto tenant = token(Role::tenant, "vision");
  const auto got = get("/api/v1/task-groups/chat/efficiency", tenant);
  EXPECT_EQ(got.at("reason"), "group_of_several_teams");
  EXPECT_TRUE(got.at("tokens").is_null());
  EXPECT_TRUE(got.at("energy_uj").is_null());
  EXPECT_FALSE(get("/api/v1/task-groups/chat/efficiency", ops_).at("tokens_per_joule").is_null());
}

}  // namespace
}  // namespace tidewatt::api
