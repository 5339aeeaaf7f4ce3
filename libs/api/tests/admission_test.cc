// The admission webhooks, with team quotas from booked beats.
#include "api_fixture.h"

namespace tidewatt::api {
namespace {

using testing::ApiTest;
using ::testing::HasSubstr;
using testing::Json;

class Admission : public ApiTest {
 protected:
  Admission() {
    auto options = make_options();
    options.kubernetes.team_quotas = {{"vision", WattHours{5}}};
    restart(options);
    cluster_ = token(Role::cluster);
  }
  static std::string review(const std::string& team, const Json& more = Json::object()) {
    Json request{
        {"uid", "u-1"},
        {"kind", {{"group", ""}, {"version", "v1"}, {"kind", "Pod"}}},
        {"namespace", "batch"},
        {"operation", "CREATE"},
        {"object",
         {{"metadata",
           {{"generateName", "train-"},
            {"labels", {{"team", team}, {"carbon-tolerance", "daily"}}},
            {"ownerReferences", {{{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"controller", true}}}}}},
          {"spec", {{"containers", Json::array()}}}}}};
    request.update(more);
    return Json{{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", request}}
        .dump();
  }
  Json ask(const std::string& verb, const std::string& body) {
    const auto answer = call("POST", "/k8s/admission/" + verb + "?timeout=10s", cluster_, body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return Json::parse(answer.body, nullptr, false).at("response");
  }

  std::string cluster_;
};

TEST_F(Admission, AJobsPodIsGatedAndTheQueryOfThePathIsNoMatter) {
  const auto answer = ask("mutate", review("language"));
  EXPECT_EQ(answer.at("uid"), "u-1");
  EXPECT_EQ(answer.at("patchType"), "JSONPatch");
  EXPECT_FALSE(ask("mutate", review("language", {{"namespace", "kube-system"}})).contains("patch"));
}

TEST_F(Admission, ATeamBeyondItsQuotaIsRefusedWithTheReason) {
  call("POST", "/api/v1/tasks", token(Role::ops), R"({"task_id":"t1","team":"vision"})");
  EXPECT_EQ(ask("validate", review("vision")).at("allowed"), true);
  one_minute("n1", {"t1"});  // 6 Wh
  EXPECT_EQ(ask("validate", review("vision")).at("allowed"), true) << "the look before holds for a minute";
  clock_.advance(Milliseconds{61'000});
  const auto refused = ask("validate", review("vision"));
  EXPECT_EQ(refused.at("allowed"), false);
  EXPECT_THAT(refused.at("status").at("message").get<std::string>(), HasSubstr("team \"vision\" has used"));
  EXPECT_EQ(ask("validate", review("vision", {{"dryRun", true}})).at("allowed"), false);
  EXPECT_EQ(ask("validate", review("language")).at("allowed"), true) << "no quota, no limit";
  EXPECT_EQ(ask("validate", review("vision", {{"operation", "UPDATE"}})).at("allowed"), true);
}

TEST_F(Admission, AQuotaIsForACalendarMonth) {
  call("POST", "/api/v1/tasks", token(Role::ops), R"({"task_id":"t1","team":"vision"})");
  one_minute("n1", {"t1"});
  EXPECT_EQ(ask("validate", review("vision")).at("allowed"), false);
  clock_.advance(std::chrono::hours{31 * 24});
  EXPECT_EQ(ask("validate", review("vision")).at("allowed"), true);
}

TEST_F(Admission, GarbageIsABadRequest) {
  for (const char* verb : {"mutate", "validate"})
    for (const char* body : {"", "nope", "{}"})
      EXPECT_EQ(call("POST", std::string{"/k8s/admission/"} + verb, cluster_, body).status, 400) << body;
}

}  // namespace
}  // namespace tidewatt::api
