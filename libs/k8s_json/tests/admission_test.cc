#include "tidewatt/k8s_json/admission.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tidewatt::k8s_json {
namespace {

using k8s::ObjectKind;
using Json = nlohmann::json;

constexpr UtcTime kNow{Milliseconds{1'772'359'200'000}};  // 2026-03-01T10:00:00Z

Json job_pod() {
  return Json::parse(R"({
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {"generateName": "train-", "labels": {"carbon-tolerance": "daily", "job-name": "train", "team": "vision"},
                 "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "x", "controller": true}]},
    "spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}})");
}
std::string review(const Json& object, const Json& more = Json::object()) {
  Json request{{"uid", "705ab4f5"},
               {"kind", {{"group", ""}, {"version", "v1"}, {"kind", "Pod"}}},
               {"resource", {{"group", ""}, {"version", "v1"}, {"resource", "pods"}}},
               {"name", ""},
               {"namespace", "batch"},
               {"operation", "CREATE"},
               {"userInfo", {{"username", "system:serviceaccount:kube-system:job-controller"}}},
               {"object", object},
               {"oldObject", nullptr},
               {"dryRun", false},
               {"options", {{"kind", "CreateOptions"}}}};
  request.update(more);
  return Json{{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", request}}
      .dump();
}

std::string decoded(const std::string& base64) {
  static const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  int held = 0;
  for (const char c : base64) {
    if (c == '=') break;
    bits = bits << 6U | static_cast<unsigned>(alphabet.find(c));
    if ((held += 6) < 8) continue;
    held -= 8;
    out += static_cast<char>(bits >> static_cast<unsigned>(held) & 0xFFU);
  }
  return out;
}

/// The object as the API server has it after the answer's patch.
Json patched(const Json& object) {
  const auto request = read_admission_review(review(object));
  EXPECT_TRUE(request) << request.error().to_string();
  const auto answer = Json::parse(mutate_answer(*request, changes_of(*request, {}, kNow))).at("response");
  EXPECT_EQ(answer.at("uid"), "705ab4f5");
  EXPECT_EQ(answer.at("allowed"), true);
  if (!answer.contains("patch")) return object;
  EXPECT_EQ(answer.at("patchType"), "JSONPatch");
  return object.patch(Json::parse(decoded(answer.at("patch"))));
}

const Json kGate{{"name", "tidewatt.io/clean-window"}};

TEST(AdmissionReview, APodsPatchAddsGateLabelAndLatestStart) {
  const auto after = patched(job_pod());
  EXPECT_EQ(after.at("spec").at("schedulingGates"), Json::array({kGate}));
  EXPECT_EQ(after.at("metadata").at("labels").at("tidewatt.io/carbon-tolerance"), "daily");
  EXPECT_EQ(after.at("metadata").at("labels").at("job-name"), "train");
  EXPECT_EQ(after.at("metadata").at("annotations"),
            (Json{{"tidewatt.io/latest-start", "2026-03-02T10:00:00Z"}}));
}

TEST(AdmissionReview, ThePatchIsIdempotent) {
  const auto once = patched(job_pod());
  EXPECT_EQ(patched(once), once);
}

TEST(AdmissionReview, GatesLabelsAndAnnotationsThatAreThereStay) {
  auto pod = job_pod();
  pod["spec"]["schedulingGates"] = Json::array({{{"name", "kueue.x-k8s.io/admission"}}});
  pod["metadata"]["annotations"] = {{"a", "b"}};
  const auto after = patched(pod);
  EXPECT_EQ(after.at("spec").at("schedulingGates"),
            Json::array({{{"name", "kueue.x-k8s.io/admission"}}, kGate}));
  EXPECT_EQ(after.at("metadata").at("annotations").at("a"), "b");
  for (const auto& empty : {Json(nullptr), Json::array()}) {
    pod["spec"]["schedulingGates"] = empty;
    EXPECT_EQ(patched(pod).at("spec").at("schedulingGates"), Json::array({kGate}));
  }
}

TEST(AdmissionReview, OnlyTheControllerMakesAPodAJobs) {
  for (const auto& owner :
       {Json{{"apiVersion", "apps/v1"}, {"kind", "ReplicaSet"}, {"controller", true}},
        Json{{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"controller", false}},
        Json{{"apiVersion", "batch/v1"}, {"kind", "Job"}},
        Json{{"apiVersion", "mine/v1"}, {"kind", "Job"}, {"controller", true}}, Json(7)}) {
    auto pod = job_pod();
    pod["metadata"]["ownerReferences"] = Json::array({owner});
    EXPECT_EQ(patched(pod), pod) << owner;
  }
}

TEST(AdmissionReview, EveryShapeOfRequestIsAnswered) {
  const Json pod = job_pod();
  const std::vector<Json> shapes{
      {{"operation", "UPDATE"}, {"oldObject", pod}},
      {{"operation", "DELETE"}, {"object", nullptr}, {"oldObject", pod}},
      {{"operation", "CONNECT"}, {"subResource", "exec"}, {"object", {{"kind", "PodExecOptions"}}}},
      {{"subResource", "ephemeralcontainers"}, {"operation", "UPDATE"}},
      {{"subResource", "binding"}, {"object", {{"kind", "Binding"}}}},
      {{"kind", {{"group", "apps"}, {"version", "v1"}, {"kind", "Deployment"}}}},
      {{"kind", {{"group", "mine.example"}, {"version", "v1"}, {"kind", "Pod"}}}},
      {{"kind", nullptr}},
      {{"namespace", "kube-system"}},
      {{"object", nullptr}},
      {{"object", {{"metadata", nullptr}, {"spec", 7}}}},
      {{"object", {{"metadata", {{"labels", 7}, {"ownerReferences", {{"a", 1}}}}}}}}};
  for (const auto& shape : shapes) {
    const auto request = read_admission_review(review(pod, shape));
    ASSERT_TRUE(request) << shape << request.error().to_string();
    const auto answer = Json::parse(mutate_answer(*request, changes_of(*request, {}, kNow))).at("response");
    EXPECT_EQ(answer.at("allowed"), true) << shape;
    EXPECT_FALSE(answer.contains("patch")) << shape;
  }
}

TEST(AdmissionReview, ADryRunIsPatchedAsTheRealOne) {
  const auto request = read_admission_review(review(job_pod(), {{"dryRun", true}}));
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->dry_run);
  EXPECT_TRUE(changes_of(*request, {}, kNow).gate);
}

TEST(AdmissionReview, WarningsAreTold) {
  auto pod = job_pod();
  pod["metadata"]["labels"]["carbon-tolerance"] = "some\"day";
  const auto request = read_admission_review(review(pod));
  ASSERT_TRUE(request);
  const auto answer = Json::parse(mutate_answer(*request, changes_of(*request, {}, kNow))).at("response");
  EXPECT_FALSE(answer.contains("patch"));
  EXPECT_EQ(answer.at("warnings").size(), 1U);
}

TEST(AdmissionReview, TheTeamIsReadFromPodsAndJobsTemplates) {
  EXPECT_EQ(read_admission_review(review(job_pod()))->pod.team, "vision");
  auto pod = job_pod();
  pod["metadata"]["labels"]["tidewatt.io/team"] = "language";
  EXPECT_EQ(read_admission_review(review(pod))->pod.team, "language");
  pod["metadata"].erase("labels");
  EXPECT_EQ(read_admission_review(review(pod))->pod.team, "default");
  const Json job{{"metadata", {{"name", "train"}}}, {"spec", {{"template", job_pod()}}}};
  const auto request = read_admission_review(
      review(job, {{"kind", {{"group", "batch"}, {"version", "v1"}, {"kind", "Job"}}}}));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->kind, ObjectKind::job);
  EXPECT_EQ(request->pod.team, "vision");
}

TEST(AdmissionReview, ARefusalHasItsReason) {
  const auto request = read_admission_review(review(job_pod()));
  ASSERT_TRUE(request);
  const auto refused = Json::parse(validate_answer(*request, "too \"much\"")).at("response");
  EXPECT_EQ(refused.at("allowed"), false);
  EXPECT_EQ(refused.at("status").at("code"), 403);
  EXPECT_EQ(refused.at("status").at("message"), "too \"much\"");
  const auto allowed = Json::parse(validate_answer(*request, std::nullopt)).at("response");
  EXPECT_EQ(allowed, (Json{{"uid", "705ab4f5"}, {"allowed", true}}));
}

TEST(AdmissionReview, GarbageIsRefusedInOneLine) {
  for (const std::string& body :
       {std::string{}, std::string{"nope"}, std::string{"[]"}, std::string{"{}"},
        std::string{R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"})"},
        std::string{R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{}})"},
        std::string{
            R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","request":{"uid":"1"}})"}}) {
    const auto request = read_admission_review(body);
    ASSERT_FALSE(request) << body;
    EXPECT_EQ(request.error().to_string().find('\n'), std::string::npos);
  }
}

TEST(AdmissionReview, APodTellsItsEnergyAndPriority) {
  const auto facts = [](const Json& annotations, const Json& labels) {
    Json pod = job_pod();
    pod["metadata"]["annotations"] = annotations;
    pod["metadata"]["labels"].update(labels);
    pod["metadata"]["uid"] = "p-1";
    return read_admission_review(review(pod))->pod;
  };
  EXPECT_EQ(facts({{"tidewatt.io/estimated-energy-kwh", "1.5"}}, Json::object()).energy_kwh, 1.5);
  EXPECT_EQ(facts({{"tidewatt.io/estimated-power-watts", "500"}}, Json::object()).energy_kwh, 4)
      << "for 8 hours";
  EXPECT_EQ(
      facts({{"tidewatt.io/estimated-power-watts", "500"}}, {{"estimated-duration-hours", "2"}}).energy_kwh,
      1);
  for (const char* bad : {"-1", "nan", "1e99", "much", ""})
    EXPECT_FALSE(facts({{"tidewatt.io/estimated-energy-kwh", bad}}, Json::object()).energy_kwh) << bad;
  const auto both =
      facts(Json::object(), {{"carbon-priority", "low"}, {"tidewatt.io/carbon-priority", "high"}});
  EXPECT_EQ(both.priority, "high") << "the prefixed one wins";
  EXPECT_EQ(both.uid, "p-1");
  EXPECT_FALSE(both.energy_kwh);
}

}  // namespace
}  // namespace tidewatt::k8s_json
