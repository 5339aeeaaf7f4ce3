#include "tidewatt/oidc/token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tidewatt/testing/oidc_issuer.h"

namespace tidewatt::oidc {
namespace {

using testing::base64url;
using testing::Json;

std::string with_header(const std::string& header) {
  return base64url(header) + "." + base64url("{}") + ".AAAA";
}

TEST(ParseToken, TakesThePartsOfASignedToken) {
  const auto token = parse_token(with_header(R"({"alg":"ES256","kid":"k1"})"));
  ASSERT_TRUE(token) << token.error().to_string();
  EXPECT_EQ(token->algorithm, Algorithm::es256);
  EXPECT_EQ(token->key_id, "k1");
  EXPECT_EQ(token->payload, "{}");
  EXPECT_EQ(token->signature, std::string(3, '\0'));
}

TEST(ParseToken, RefusesEveryAlgorithmButTheTwo) {
  for (const char* algorithm :
       {"none", "None", "NONE", "HS256", "HS512", "RS384", "PS256", "ES384", "EdDSA", "rs256", ""}) {
    const auto token = parse_token(with_header(Json{{"alg", algorithm}}.dump()));
    ASSERT_FALSE(token) << algorithm;
    EXPECT_EQ(token.error().code, ErrorCode::invalid_input);
  }
  for (const char* header : {R"({})", R"({"alg":null})", R"({"alg":["RS256"]})", R"([])", "x"})
    EXPECT_FALSE(parse_token(with_header(header))) << header;
}

TEST(ParseToken, RefusesWhatIsNoToken) {
  const auto good = with_header(R"({"alg":"RS256"})");
  ASSERT_TRUE(parse_token(good));
  for (const std::string& bad :
       {std::string{}, std::string{"."}, std::string{".."}, std::string{"a.b.c"}, good + ".x", good + "=",
        good.substr(0, good.rfind('.')), "!" + good, good + std::string(70'000, 'A')})
    EXPECT_FALSE(parse_token(bad)) << bad.substr(0, 60);
}

TEST(ParseToken, RefusesCriticalExtensionsAndOddKeyIds) {
  EXPECT_FALSE(parse_token(with_header(R"({"alg":"RS256","crit":["exp"],"exp":1})")));
  EXPECT_FALSE(parse_token(with_header(R"({"alg":"RS256","kid":7})")));
}

}  // namespace
}  // namespace tidewatt::oidc
