#include "tidewatt/k8s/manifests.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tidewatt/k8s/base64.h"

namespace tidewatt::k8s {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ManifestOptions options() {
  ManifestOptions made;
  made.image = "registry.example/tidewatt:0.1.0";
  made.ca_bundle_base64 = "Q0E=";
  return made;
}

/// The documents of a kind, by their text.
std::vector<std::string> documents(const std::string& text, const std::string& kind) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find("---\n", at), text.size());
    const auto document = text.substr(at, end - at);
    if (document.find("\nkind: " + kind + "\n") != std::string::npos) found.push_back(document);
    at = end + 4;
  }
  return found;
}

TEST(Manifests, ServerAndAgentGetNoRoleAndNoTokenOfTheCluster) {
  const auto text = manifests(options());
  for (const char* right :
       {"privileged: true", "hostPID", "hostNetwork", "automountServiceAccountToken: true"})
    EXPECT_THAT(text, Not(HasSubstr(right)));
  for (const char* kind : {"RoleBinding", "ClusterRoleBinding"})
    for (const auto& binding : documents(text, kind))
      EXPECT_THAT(
          binding,
          HasSubstr("subjects: [{kind: ServiceAccount, name: tidewatt-controller, namespace: tidewatt}]"));
  EXPECT_THAT(text, HasSubstr("automountServiceAccountToken: false"));
}

TEST(Manifests, TheControllerMayWhatItDoesAndNoMore) {
  const auto text = manifests(options());
  const auto cluster = documents(text, "ClusterRole");
  ASSERT_EQ(cluster.size(), 1U);
  EXPECT_THAT(cluster[0],
              HasSubstr("rules:\n"
                        "- {apiGroups: [\"\"], resources: [pods], verbs: [get, list, watch, patch]}\n"
                        "- {apiGroups: [batch], resources: [jobs], verbs: [get, list, watch, patch]}\n"
                        "- {apiGroups: [\"\"], resources: [events], verbs: [create]}\n"));
  const auto own = documents(text, "Role");
  ASSERT_EQ(own.size(), 1U);
  EXPECT_THAT(own[0], HasSubstr("resourceNames: [tidewatt-controller], verbs: [get, update]"));
  for (const auto& role : {cluster[0], own[0]})
    for (const char* too_much : {"*", "secrets", "delete", "pods/status", "configmaps", "nodes"})
      EXPECT_THAT(role, Not(HasSubstr(too_much)));
}

TEST(Manifests, TheControllerIsToldItsZone) {
  auto with = options();
  EXPECT_THAT(manifests(with), Not(HasSubstr("--zone")));
  with.zone = "DE";
  EXPECT_THAT(manifests(with), HasSubstr("/token/viewer.token, --zone, \"DE\"]"));
  with.zone = "D\"E";
  EXPECT_NE(manifest_problem(with), "");
}

TEST(Manifests, PodsAreHeldInNamespacesThatOptedInAlone) {
  const auto text = manifests(options());
  EXPECT_THAT(text, HasSubstr("matchLabels: {tidewatt.io/clean-window: enabled}"));
  EXPECT_THAT(text, HasSubstr("failurePolicy: Ignore"));
  EXPECT_THAT(text, Not(HasSubstr("failurePolicy: Fail")));
}

TEST(Manifests, WithoutAnAuthorityThereAreNoWebhooks) {
  auto without = options();
  without.ca_bundle_base64.clear();
  EXPECT_THAT(manifests(without), Not(HasSubstr("WebhookConfiguration")));
}

TEST(Manifests, WhatWouldBreakOutOfItsPlaceIsRefused) {
  EXPECT_EQ(manifest_problem(options()), "");
  for (const char* bad : {"", "-a", "a b", "a\nkind: Role", "A"}) {
    auto made = options();
    made.name_space = bad;
    EXPECT_NE(manifest_problem(made), "") << bad;
  }
  for (const char* bad : {"", "a\"b", "a b", "a\n"}) {
    auto made = options();
    made.image = bad;
    EXPECT_NE(manifest_problem(made), "") << bad;
  }
  auto made = options();
  made.ca_bundle_base64 = "a\nb";
  EXPECT_NE(manifest_problem(made), "");
  made = options();
  made.storage = "1 {";
  EXPECT_NE(manifest_problem(made), "");
}

TEST(Base64, PadsAsRfc4648Says) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("\xff\xfe\xfd\xfc"), "//79/A==");
}

TEST(Base64, ReadsWhatItWritesAndNothingElse) {
  for (const std::string text : {"", "f", "fo", "foo", "foob", "\xff\xfe\xfd\xfc"})
    EXPECT_EQ(from_base64(base64(text)), text);
  EXPECT_EQ(from_base64("Zm\n9v\n"), "foo");
  for (const char* bad : {"Z", "Zg=", "Zg==Zg==", "Z===", "Zm9v!", "=Zg="})
    EXPECT_FALSE(from_base64(bad)) << bad;
}

}  // namespace
}  // namespace tidewatt::k8s
