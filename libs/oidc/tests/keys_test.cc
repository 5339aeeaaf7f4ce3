#include "tidewatt/oidc/keys.h"

#include <gtest/gtest.h>

#include "tidewatt/testing/oidc_issuer.h"

namespace tidewatt::oidc {
namespace {

using testing::Json;
using testing::TestKey;

const TestKey& rsa() {
  static const TestKey key = TestKey::rsa("r1");
  return key;
}
const TestKey& ec() {
  static const TestKey key = TestKey::ec("e1");
  return key;
}

KeySet set_of(const std::vector<Json>& keys) { return *KeySet::parse(Json{{"keys", keys}}.dump()); }
Status verdict(const KeySet& keys, const std::string& text) {
  TW_TRY(const auto token, parse_token(text));
  return keys.verify(token);
}
ErrorCode refusal(const KeySet& keys, const std::string& text) {
  const auto said = verdict(keys, text);
  EXPECT_FALSE(said) << text;
  return said ? ErrorCode::internal : said.error().code;
}

TEST(KeySet, VerifiesWhatItsKeysSigned) {
  const auto keys = set_of({rsa().jwk(), ec().jwk()});
  EXPECT_EQ(keys.size(), 2U);
  for (int i = 0; i < 50; ++i) {  // r and s of ECDSA begin with zero bytes now and then
    const auto said = verdict(keys, ec().token(Json{{"i", i}}));
    EXPECT_TRUE(said) << said.error().to_string();
  }
  EXPECT_TRUE(verdict(keys, rsa().token(Json{{"sub", "a"}})));
}

TEST(KeySet, ATokenThatWasChangedIsRefused) {
  const auto keys = set_of({rsa().jwk(), ec().jwk()});
  for (const auto* key : {&rsa(), &ec()}) {
    const auto good = key->token(Json{{"sub", "a"}});
    const auto payload = good.find('.') + 1;
    auto changed = good;
    changed[payload + 3] = changed[payload + 3] == 'A' ? 'B' : 'A';
    EXPECT_EQ(refusal(keys, changed), ErrorCode::permission_denied);
    auto forged = good;
    const auto middle = good.rfind('.') + 20;
    forged[middle] = forged[middle] == 'A' ? 'B' : 'A';
    EXPECT_EQ(refusal(keys, forged), ErrorCode::permission_denied);
    EXPECT_EQ(refusal(keys, good.substr(0, good.rfind('.') + 1)), ErrorCode::permission_denied)
        << "no signature";
  }
}

TEST(KeySet, AnotherKeyOfTheSameNameIsRefused) {
  const auto keys = set_of({rsa().jwk(), ec().jwk()});
  EXPECT_EQ(refusal(keys, TestKey::ec("e1").token(Json::object())), ErrorCode::permission_denied);
  EXPECT_EQ(refusal(keys, TestKey::rsa("r1").token(Json::object())), ErrorCode::permission_denied);
}

TEST(KeySet, AnUnknownKeyIsNotFoundSoThatTheIssuerCanBeAsked) {
  EXPECT_EQ(refusal(set_of({rsa().jwk()}), TestKey::rsa("r2").token(Json::object())), ErrorCode::not_found);
  EXPECT_EQ(refusal(set_of({}), rsa().token(Json::object())), ErrorCode::not_found);
}

TEST(KeySet, TheAlgorithmMustBeTheKeysOwn) {
  auto header = ec().header();
  header["kid"] = "r1";
  EXPECT_EQ(refusal(set_of({rsa().jwk()}), ec().token(header, "{}")), ErrorCode::not_found);
}

TEST(KeySet, WithoutAKeyIdTheOnlyFittingKeyCounts) {
  auto header = ec().header();
  header.erase("kid");
  const auto token = ec().token(header, "{}");
  EXPECT_TRUE(verdict(set_of({rsa().jwk(), ec().jwk()}), token));
  EXPECT_EQ(refusal(set_of({ec().jwk(), TestKey::ec("e2").jwk()}), token), ErrorCode::permission_denied);
}

TEST(KeySet, LeavesOutWhatItCannotUse) {
  auto encryption = rsa().jwk();
  encryption["use"] = "enc";
  auto other_algorithm = rsa().jwk();
  other_algorithm["alg"] = "PS256";
  auto off_the_curve = ec().jwk();
  off_the_curve["y"] = off_the_curve["x"];
  auto short_point = ec().jwk();
  short_point["x"] = "AAAA";
  auto even_broken = rsa().jwk();
  even_broken["n"] = "!";
  const Json secret{{"kty", "oct"}, {"k", "AAAA"}, {"alg", "HS256"}};
  const auto keys = set_of({encryption, other_algorithm, off_the_curve, short_point, even_broken, secret,
                            Json(7), TestKey::rsa("weak", 1024).jwk(), ec().jwk()});
  EXPECT_EQ(keys.size(), 1U);
}

TEST(KeySet, WhatIsNoKeySetIsRefused) {
  for (const char* text : {"", "[]", "{}", R"({"keys":{}})", "<html>"})
    EXPECT_FALSE(KeySet::parse(text)) << text;
}

}  // namespace
}  // namespace tidewatt::oidc
