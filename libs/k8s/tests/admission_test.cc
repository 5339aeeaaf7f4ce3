#include "tidewatt/k8s/admission.h"

#include <gmock/gmock.h>

namespace tidewatt::k8s {
namespace {

using ::testing::HasSubstr;

constexpr UtcTime kNow{Milliseconds{1'772'359'200'000}};

AdmissionRequest job_pod(const std::string& tolerance = "daily") {
  AdmissionRequest request;
  request.uid = "u1";
  request.kind = ObjectKind::pod;
  request.name_space = "batch";
  request.operation = "CREATE";
  request.pod.of_job = true;
  request.pod.has_labels = true;
  request.pod.tolerance = tolerance;
  return request;
}
PodChanges changes(const AdmissionRequest& request) { return changes_of(request, {}, kNow); }

TEST(Admission, AJobsPodThatMayWaitIsHeldUntilItsLatestStart) {
  const auto made = changes(job_pod());
  EXPECT_TRUE(made.gate);
  EXPECT_EQ(made.label, Tolerance::daily);
  EXPECT_EQ(made.latest_start, kNow + std::chrono::hours{24});
  EXPECT_EQ(changes(job_pod("weekly")).latest_start, kNow + std::chrono::hours{24 * 7});
}

TEST(Admission, ImmediateIsNeverHeldNorIsWhatSaysNothing) {
  EXPECT_TRUE(changes(job_pod("immediate")).none());
  EXPECT_TRUE(changes(job_pod("")).none());
}

TEST(Admission, LowPriorityOfANearlySpentBudgetWaitsAWeekButNeverWhatIsImmediate) {
  const auto made = changes_of(job_pod("daily"), {}, kNow, true);
  EXPECT_TRUE(made.constrained);
  EXPECT_EQ(made.label, Tolerance::weekly);
  EXPECT_EQ(changes_of(job_pod(""), {}, kNow, true).label, Tolerance::weekly);
  EXPECT_EQ(changes_of(job_pod("monthly"), {}, kNow, true).label, Tolerance::monthly);
  const auto immediate = changes_of(job_pod("immediate"), {}, kNow, true);
  EXPECT_TRUE(immediate.constrained);
  EXPECT_FALSE(immediate.gate);
  EXPECT_FALSE(immediate.label);
}

TEST(Admission, WhatSaysNothingHasTheToleranceThatTheOperatorSet) {
  AdmissionRules rules;
  rules.default_tolerance = Tolerance::weekly;
  EXPECT_EQ(changes_of(job_pod(""), rules, kNow).label, Tolerance::weekly);
  EXPECT_TRUE(changes_of(job_pod("immediate"), rules, kNow).none());
}

TEST(Admission, AToleranceThatNobodyKnowsHoldsNothingAndIsTold) {
  const auto made = changes(job_pod("someday"));
  EXPECT_TRUE(made.none());
  ASSERT_EQ(made.warnings.size(), 1U);
  EXPECT_THAT(made.warnings[0], HasSubstr("\"someday\""));
}

TEST(Admission, OnlyNewPodsOfJobsAreTouched) {
  std::vector<AdmissionRequest> others(8, job_pod());
  others[0].pod.of_job = false;
  others[1].operation = "UPDATE";
  others[2].operation = "DELETE";
  others[3].sub_resource = "ephemeralcontainers";
  others[4].kind = ObjectKind::job;
  others[5].kind = ObjectKind::other;
  others[6].pod.has_node = true;
  others[7].operation = "CONNECT";
  for (std::size_t i = 0; i < others.size(); ++i) EXPECT_TRUE(changes(others[i]).none()) << i;
}

TEST(Admission, TheClustersOwnNamespacesAndOursAreUntouched) {
  for (const char* name : {"kube-system", "kube-public", "kube-node-lease", "tidewatt"}) {
    auto request = job_pod();
    request.name_space = name;
    EXPECT_TRUE(changes(request).none()) << name;
    EXPECT_FALSE(refusal_of(request, {}, {{"default", {WattHours{1}, WattHours{2}}}})) << name;
  }
}

TEST(Admission, AskingAgainAboutTheChangedPodChangesNothing) {
  auto request = job_pod();
  request.pod.label = "daily";
  request.pod.gated = true;
  request.pod.has_latest_start = true;
  EXPECT_TRUE(changes_of(request, {}, kNow + std::chrono::hours{1}).none());
}

TEST(Admission, WhatThePodSaysItselfStays) {
  auto request = job_pod();
  request.pod.has_latest_start = true;
  const auto made = changes(request);
  EXPECT_FALSE(made.latest_start);
  EXPECT_TRUE(made.gate);
}

TEST(Quota, ATeamThatUsedItUpIsRefusedWithBothFigures) {
  auto request = job_pod();
  request.pod.team = "vision";
  const TeamQuotas quotas{{"vision", {WattHours{500'000}, WattHours{512'340}}}};
  const auto refusal = refusal_of(request, {}, quotas);
  ASSERT_TRUE(refusal);
  EXPECT_THAT(*refusal, HasSubstr("team \"vision\" has used 512.3 kWh of its 500.0 kWh"));
  request.dry_run = true;
  EXPECT_EQ(refusal_of(request, {}, quotas), refusal) << "a dry run is answered as the real one";
  request.kind = ObjectKind::job;
  EXPECT_EQ(refusal_of(request, {}, quotas), refusal);
}

TEST(Quota, WithoutAQuotaOrAKnownUseEveryoneIsAllowed) {
  auto request = job_pod();
  EXPECT_FALSE(refusal_of(request, {}, {}));
  EXPECT_FALSE(refusal_of(request, {}, {{"vision", {WattHours{1}, WattHours{2}}}}));
  EXPECT_FALSE(refusal_of(request, {}, {{"default", {WattHours{1}, std::nullopt}}}));
  EXPECT_FALSE(refusal_of(request, {}, {{"default", {WattHours{2}, WattHours{1}}}}));
}

TEST(Quota, WhatIsThereAlreadyMayChange) {
  auto request = job_pod();
  const TeamQuotas spent{{"default", {WattHours{1}, WattHours{2}}}};
  for (const char* operation : {"UPDATE", "DELETE", "CONNECT"}) {
    request.operation = operation;
    EXPECT_FALSE(refusal_of(request, {}, spent)) << operation;
  }
  request.operation = "CREATE";
  request.kind = ObjectKind::other;
  EXPECT_FALSE(refusal_of(request, {}, spent));
}

}  // namespace
}  // namespace tidewatt::k8s
