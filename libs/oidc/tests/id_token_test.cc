#include "tidewatt/oidc/id_token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tidewatt::oidc {
namespace {

using Json = nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kNow = 1'772'359'270;

class IdTokenTest : public ::testing::Test {
 protected:
  Result<Identity> check(const Json& claims) const {
    return check_id_token(claims.dump(), expected_, UtcTime{Milliseconds{kNow * 1000}});
  }
  /// The good claims with some of them changed; null takes one away.
  [[nodiscard]] Json with(const Json& changes) const {
    Json claims = good_;
    claims.merge_patch(changes);
    return claims;
  }
  Expected expected_{"https://issuer.example", "tidewatt", "n-1", "groups"};
  Json good_{{"iss", "https://issuer.example"},
             {"aud", "tidewatt"},
             {"sub", "248289761001"},
             {"exp", kNow + 300},
             {"iat", kNow - 1},
             {"nonce", "n-1"},
             {"preferred_username", "alice"},
             {"groups", {"vision", "admins"}}};
};

TEST_F(IdTokenTest, TellsWhoItIsAndWhatTheRoleClaimSays) {
  const auto who = check(good_);
  ASSERT_TRUE(who) << who.error().to_string();
  EXPECT_EQ(who->subject, "248289761001");
  EXPECT_EQ(who->name, "alice");
  EXPECT_THAT(who->values, ElementsAre("vision", "admins"));
}

TEST_F(IdTokenTest, RefusesWhatIsNotForUs) {
  for (const auto& changes : std::vector<Json>{{{"iss", "https://issuer.example/"}},
                                               {{"iss", nullptr}},
                                               {{"iss", 7}},
                                               {{"aud", "other"}},
                                               {{"aud", nullptr}},
                                               {{"aud", {"other"}}},
                                               {{"aud", Json::array()}},
                                               {{"aud", 7}},
                                               {{"aud", {"tidewatt", "other"}}},
                                               {{"azp", "other"}},
                                               {{"aud", {"tidewatt", "other"}}, {"azp", "other"}},
                                               {{"nonce", "n-2"}},
                                               {{"nonce", nullptr}},
                                               {{"nonce", ""}}}) {
    const auto who = check(with(changes));
    ASSERT_FALSE(who) << changes;
    EXPECT_EQ(who.error().code, ErrorCode::permission_denied) << changes;
  }
}

TEST_F(IdTokenTest, TakesAListOfAudiencesWhenItSaysThatWeAsked) {
  EXPECT_TRUE(check(with({{"aud", {"tidewatt"}}})));
  EXPECT_TRUE(check(with({{"aud", {"other", "tidewatt"}}, {"azp", "tidewatt"}})));
}

TEST_F(IdTokenTest, AllowsAMinuteOfClockSkewAndNoMore) {
  EXPECT_TRUE(check(with({{"exp", kNow - 59}})));
  EXPECT_EQ(check(with({{"exp", kNow - 60}})).error().code, ErrorCode::permission_denied);
  EXPECT_TRUE(check(with({{"nbf", kNow + 60}})));
  EXPECT_EQ(check(with({{"nbf", kNow + 61}})).error().code, ErrorCode::permission_denied);
  EXPECT_TRUE(check(with({{"iat", kNow + 60}})));
  EXPECT_EQ(check(with({{"iat", kNow + 61}})).error().code, ErrorCode::permission_denied);
  EXPECT_THAT(check(with({{"exp", kNow - 600}})).error().to_string(), HasSubstr("clock"));
}

TEST_F(IdTokenTest, RefusesTimesThatAreNone) {
  for (const auto& changes : std::vector<Json>{{{"exp", nullptr}},
                                               {{"exp", "tomorrow"}},
                                               {{"exp", 1e300}},
                                               {{"exp", -1e300}},
                                               {{"nbf", "x"}},
                                               {{"iat", Json::array()}}})
    EXPECT_FALSE(check(with(changes))) << changes;
}

TEST_F(IdTokenTest, NeedsASubject) {
  EXPECT_FALSE(check(with({{"sub", nullptr}})));
  EXPECT_FALSE(check(with({{"sub", ""}})));
}

TEST_F(IdTokenTest, NamesAreReadableAndShort) {
  EXPECT_EQ(check(with({{"preferred_username", "a\nb\x7f"}}))->name, "ab");
  EXPECT_EQ(check(with({{"preferred_username", nullptr}, {"email", "a@b.example"}}))->name, "a@b.example");
  EXPECT_EQ(check(with({{"preferred_username", nullptr}}))->name, "248289761001");
  std::string wide;
  for (int i = 0; i < 200; ++i) wide += "\xe6\xb0\xb4";
  const auto name = check(with({{"preferred_username", wide}}))->name;
  EXPECT_EQ(name.size(), 126U) << "whole characters: 42 of three bytes";
}

TEST_F(IdTokenTest, TheRoleClaimMayBeATextAListOrDeeper) {
  EXPECT_THAT(check(with({{"groups", "admins"}}))->values, ElementsAre("admins"));
  EXPECT_THAT(check(with({{"groups", nullptr}}))->values, IsEmpty());
  EXPECT_THAT(check(with({{"groups", {{"a", 1}}}}))->values, IsEmpty());
  EXPECT_THAT(check(with({{"groups", {7, "x"}}}))->values, ElementsAre("x"));
  expected_.role_claim = "realm_access.roles";
  EXPECT_THAT(check(with({{"realm_access", {{"roles", {"ops"}}}}}))->values, ElementsAre("ops"));
  EXPECT_THAT(check(with({{"realm_access.roles", {"flat"}}}))->values, ElementsAre("flat"));
  EXPECT_THAT(check(with({{"realm_access", "x"}}))->values, IsEmpty());
}

TEST_F(IdTokenTest, WhatIsNoObjectIsRefused) {
  for (const char* text : {"", "[]", "null", "\"x\"", "{"})
    EXPECT_FALSE(check_id_token(text, expected_, UtcTime{})) << text;
}

}  // namespace
}  // namespace tidewatt::oidc
