#include "tidewatt/k8s/manifests.h"

#include <gmock/gmock.h>

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

TEST(Manifests, NobodyGetsARoleOrATokenOfTheCluster) {
  const auto text = manifests(options());
  for (const char* right :
       {"kind: Role", "kind: ClusterRole", "kind: RoleBinding", "kind: ClusterRoleBinding",
        "privileged: true", "hostPID", "hostNetwork", "automountServiceAccountToken: true"})
    EXPECT_THAT(text, Not(HasSubstr(right)));
  EXPECT_THAT(text, HasSubstr("automountServiceAccountToken: false"));
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

}  // namespace
}  // namespace tidewatt::k8s
