#include "tidewatt/oidc/sign_on.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tidewatt/testing/manual_clock.h"
#include "tidewatt/testing/oidc_issuer.h"

namespace tidewatt::oidc {
namespace {

using testing::FakeWeb;
using ::testing::HasSubstr;
using testing::hs256_token;
using testing::Json;
using ::testing::StartsWith;
using testing::TestKey;

class CountingRng final : public Rng {
 public:
  std::uint64_t next() override { return ++count_ * 0x9E3779B97F4A7C15U; }

 private:
  std::uint64_t count_ = 0;
};

const TestKey& first_key() {
  static const TestKey key = TestKey::ec("k1");
  return key;
}

constexpr const char* kDiscovery = "https://issuer.example/.well-known/openid-configuration";
constexpr const char* kToken = "https://issuer.example/token";
constexpr const char* kKeys = "https://issuer.example/keys";

std::string parameter(const std::string& url, const std::string& name) {
  auto at = url.find("?" + name + "=");
  if (at == std::string::npos) at = url.find("&" + name + "=");
  if (at == std::string::npos) return {};
  const auto begin = at + name.size() + 2;
  return url.substr(begin, std::min(url.find('&', begin), url.size()) - begin);
}

class SignOnTest : public ::testing::Test {
 protected:
  SignOnTest() {
    web_.pages[kDiscovery] = [this](const auto&) { return net::Response{200, {}, discovery_.dump()}; };
    web_.pages[kKeys] = [this](const auto&) {
      return net::Response{200, {}, Json{{"keys", published_}}.dump()};
    };
    web_.pages[kToken] = [this](const auto&) {
      return net::Response{200, {}, Json{{"id_token", id_token_}}.dump()};
    };
    published_.push_back(first_key().jwk());
    restart();
  }
  void restart() {
    sign_on_ = std::make_unique<SignOn>(options_, [this] { return web_.client(); }, clock_, rng_);
  }
  [[nodiscard]] std::int64_t now() const { return clock_.utc_now().time_since_epoch().count() / 1000; }
  [[nodiscard]] Json claims(const SignOn::Started& started) const {
    return {
        {"iss", "https://issuer.example"},          {"aud", "tidewatt"}, {"sub", "u1"}, {"exp", now() + 300},
        {"nonce", parameter(started.url, "nonce")}, {"groups", {"ops"}}};
  }
  static SignOn::Answer answer_to(const SignOn::Started& started) {
    return {parameter(started.url, "state"), "code-1", "", "", started.browser_secret};
  }
  Result<SignOn::Finished> sign_in(const TestKey& key) {
    const auto started = *sign_on_->start("/nodes");
    id_token_ = key.token(claims(started));
    return sign_on_->finish(answer_to(started));
  }

  Options options_{"https://issuer.example", "tidewatt", "s3cret:/", "https://tw.example/login/sso/callback"};
  Json discovery_{{"issuer", "https://issuer.example"},
                  {"authorization_endpoint", "https://issuer.example/auth"},
                  {"token_endpoint", kToken},
                  {"jwks_uri", kKeys}};
  std::vector<Json> published_;
  std::string id_token_;
  FakeWeb web_;
  ::tidewatt::testing::ManualClock clock_{*parse_rfc3339("2026-03-01T10:00:00Z")};
  CountingRng rng_;
  std::unique_ptr<SignOn> sign_on_;
};

TEST_F(SignOnTest, SendsTheBrowserWithStateNonceAndAnS256Challenge) {
  const auto started = sign_on_->start("/");
  ASSERT_TRUE(started) << started.error().to_string();
  EXPECT_THAT(started->url,
              StartsWith("https://issuer.example/auth?response_type=code&client_id=tidewatt&redirect_uri="
                         "https%3A%2F%2Ftw.example%2Flogin%2Fsso%2Fcallback&scope=openid%20"));
  EXPECT_EQ(parameter(started->url, "code_challenge_method"), "S256");
  for (const char* name : {"state", "nonce", "code_challenge"})
    EXPECT_EQ(parameter(started->url, name).size(), 43U) << name;
  EXPECT_THAT(started->url, ::testing::Not(HasSubstr("s3cret")));
}

TEST_F(SignOnTest, AGoodAnswerSignsIn) {
  const auto done = sign_in(first_key());
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_EQ(done->identity.subject, "u1");
  EXPECT_EQ(done->next, "/nodes");
  const auto& request = web_.asked.at(1);
  EXPECT_EQ(request.url, kToken);
  EXPECT_THAT(request.body, HasSubstr("grant_type=authorization_code&code=code-1&redirect_uri="));
  EXPECT_THAT(request.body, HasSubstr("&code_verifier="));
  EXPECT_EQ(request.headers.at("authorization"),
            "Basic dGlkZXdhdHQ6czNjcmV0JTNBJTJG");  // tidewatt:s3cret%3A%2F
}

TEST_F(SignOnTest, TheSecretGoesIntoTheBodyWhereTheIssuerWantsItThere) {
  discovery_["token_endpoint_auth_methods_supported"] = {"client_secret_post"};
  ASSERT_TRUE(sign_in(first_key()));
  EXPECT_THAT(web_.asked.at(1).body, HasSubstr("&client_id=tidewatt&client_secret=s3cret%3A%2F"));
  EXPECT_FALSE(web_.asked.at(1).headers.contains("authorization"));
}

TEST_F(SignOnTest, APublicClientHasNoSecret) {
  options_.client_secret.clear();
  restart();
  ASSERT_TRUE(sign_in(first_key()));
  EXPECT_THAT(web_.asked.at(1).body, HasSubstr("&client_id=tidewatt"));
  EXPECT_FALSE(web_.asked.at(1).headers.contains("authorization"));
}

TEST_F(SignOnTest, AnAnswerWorksOnce) {
  const auto started = *sign_on_->start("/");
  id_token_ = first_key().token(claims(started));
  ASSERT_TRUE(sign_on_->finish(answer_to(started)));
  EXPECT_EQ(sign_on_->finish(answer_to(started)).error().code, ErrorCode::not_found);
}

TEST_F(SignOnTest, AnotherBrowserCanNeitherUseNorSpoilIt) {
  const auto started = *sign_on_->start("/");
  id_token_ = first_key().token(claims(started));
  auto stolen = answer_to(started);
  stolen.browser_secret = "guess";
  EXPECT_EQ(sign_on_->finish(stolen).error().code, ErrorCode::not_found);
  stolen.browser_secret.clear();
  EXPECT_EQ(sign_on_->finish(stolen).error().code, ErrorCode::not_found);
  EXPECT_TRUE(sign_on_->finish(answer_to(started)));
}

TEST_F(SignOnTest, ASignInEndsAfterTenMinutes) {
  const auto started = *sign_on_->start("/");
  clock_.advance(SignOn::kSignInLife);
  id_token_ = first_key().token(claims(started));
  EXPECT_EQ(sign_on_->finish(answer_to(started)).error().code, ErrorCode::not_found);
  EXPECT_EQ(web_.times(kToken), 0U);
}

TEST_F(SignOnTest, TokensThatAreNotForThisSignInAreRefused) {
  const auto refused = [this](const std::function<std::string(const Json&)>& forge) {
    const auto started = *sign_on_->start("/");
    id_token_ = forge(claims(started));
    const auto done = sign_on_->finish(answer_to(started));
    EXPECT_FALSE(done);
    return done ? ErrorCode::internal : done.error().code;
  };
  const auto with = [](Json good, const char* key, const Json& value) {
    good[key] = value;
    return first_key().token(good);
  };
  EXPECT_EQ(refused([&](const Json& good) { return with(good, "nonce", "other"); }),
            ErrorCode::permission_denied);
  EXPECT_EQ(refused([&](const Json& good) { return with(good, "aud", "other"); }),
            ErrorCode::permission_denied);
  EXPECT_EQ(refused([&](const Json& good) { return with(good, "exp", 1); }), ErrorCode::permission_denied);
  EXPECT_EQ(refused([](const Json& good) { return TestKey::ec("k1").token(good); }),
            ErrorCode::permission_denied);
  EXPECT_EQ(refused([](const Json& good) { return hs256_token("s3cret:/", good); }),
            ErrorCode::invalid_input);
  EXPECT_EQ(refused([](const Json& good) {
              return testing::base64url(R"({"alg":"none"})") + "." + testing::base64url(good.dump()) + ".";
            }),
            ErrorCode::invalid_input);
}

TEST_F(SignOnTest, ANewKeyOfTheIssuerIsLookedForAtMostOnceAMinute) {
  ASSERT_TRUE(sign_in(first_key()));
  EXPECT_EQ(web_.times(kKeys), 1U);
  const auto second = TestKey::ec("k2");
  const auto third = TestKey::ec("k3");
  clock_.advance(Milliseconds{59'999});
  EXPECT_EQ(sign_in(second).error().code, ErrorCode::permission_denied);
  EXPECT_EQ(web_.times(kKeys), 1U) << "asked a minute ago";
  clock_.advance(Milliseconds{1});
  published_ = {second.jwk(), third.jwk()};
  EXPECT_TRUE(sign_in(second));
  EXPECT_TRUE(sign_in(third));
  EXPECT_EQ(web_.times(kKeys), 2U);
  EXPECT_FALSE(sign_in(first_key())) << "a key that the issuer took back";
  EXPECT_EQ(web_.times(kKeys), 2U);
}

TEST_F(SignOnTest, KeysAreAskedForAgainAfterAnHour) {
  ASSERT_TRUE(sign_in(first_key()));
  clock_.advance(Milliseconds{3'600'000});
  published_ = {TestKey::ec("k2").jwk()};
  EXPECT_FALSE(sign_in(first_key()));
  EXPECT_EQ(web_.times(kDiscovery), 2U);
}

TEST_F(SignOnTest, AnIssuerThatIsDownIsToldAsSuchAndAskedAgainLater) {
  const auto works = web_.pages[kDiscovery];
  web_.pages[kDiscovery] = [](const auto&) -> Result<net::Response> {
    return fail(ErrorCode::unavailable, "can't connect");
  };
  EXPECT_EQ(sign_on_->start("/").error().code, ErrorCode::unavailable);
  web_.pages[kDiscovery] = [](const auto&) { return net::Response{500, {}, "oops"}; };
  EXPECT_EQ(sign_on_->start("/").error().code, ErrorCode::unavailable);
  web_.pages[kDiscovery] = works;
  EXPECT_TRUE(sign_in(first_key()));
  web_.pages[kToken] = [](const auto&) -> Result<net::Response> {
    return fail(ErrorCode::timed_out, "slow");
  };
  EXPECT_EQ(sign_in(first_key()).error().code, ErrorCode::timed_out);
  web_.pages[kToken] = [](const auto&) { return net::Response{400, {}, R"({"error":"invalid_grant"})"}; };
  const auto refused = sign_in(first_key());
  EXPECT_EQ(refused.error().code, ErrorCode::permission_denied);
  EXPECT_THAT(refused.error().message, HasSubstr("invalid_grant"));
}

TEST_F(SignOnTest, ADiscoveryDocumentOfAnotherIssuerOrWithOpenAddressesIsRefused) {
  const Json good = discovery_;
  for (const auto& [key, value] :
       std::vector<std::pair<const char*, Json>>{{"issuer", "https://evil.example"},
                                                 {"token_endpoint", "http://issuer.example/t"},
                                                 {"jwks_uri", "http://127.0.0.1/k"},
                                                 {"authorization_endpoint", nullptr}}) {
    discovery_ = good;
    discovery_[key] = value;
    EXPECT_EQ(sign_on_->start("/").error().code, ErrorCode::invalid_input) << key;
  }
}

TEST_F(SignOnTest, WhatTheIssuerRefusesIsRefused) {
  const auto started = *sign_on_->start("/");
  auto answer = answer_to(started);
  answer.error = "access_denied";
  const auto done = sign_on_->finish(answer);
  EXPECT_EQ(done.error().code, ErrorCode::permission_denied);
  EXPECT_THAT(done.error().message, HasSubstr("access_denied"));
  EXPECT_EQ(web_.times(kToken), 0U);
}

TEST_F(SignOnTest, AnAnswerOfAnotherIssuerIsRefused) {
  auto answer = answer_to(*sign_on_->start("/"));
  answer.issuer = "https://evil.example";
  EXPECT_EQ(sign_on_->finish(answer).error().code, ErrorCode::permission_denied);
  EXPECT_EQ(web_.times(kToken), 0U);
}

TEST_F(SignOnTest, WhileOneExchangeHoldsItsThreadTheNextIsToldToWaitAndMayComeBack) {
  const auto first = *sign_on_->start("/");
  const auto second = *sign_on_->start("/");
  std::optional<ErrorCode> meanwhile;
  id_token_ = first_key().token(claims(first));
  const auto works = web_.pages[kToken];
  web_.pages[kToken] = [&](const auto& request) {
    meanwhile = sign_on_->finish(answer_to(second)).error().code;
    return works(request);
  };
  EXPECT_TRUE(sign_on_->finish(answer_to(first)));
  EXPECT_EQ(meanwhile, ErrorCode::conflict);
  web_.pages[kToken] = works;
  id_token_ = first_key().token(claims(second));
  EXPECT_TRUE(sign_on_->finish(answer_to(second)));
}

TEST_F(SignOnTest, TheOldestSignInGivesWayToANewOne) {
  const auto first = *sign_on_->start("/");
  for (std::size_t i = 0; i < SignOn::kMostSignIns; ++i) ASSERT_TRUE(sign_on_->start("/"));
  EXPECT_EQ(sign_on_->finish(answer_to(first)).error().code, ErrorCode::not_found);
}

TEST(IssuerProblem, WantsHttpsExceptOnThisMachine) {
  for (const char* good : {"https://issuer.example", "https://issuer.example/realms/a",
                           "http://127.0.0.1:8080", "http://localhost/x"})
    EXPECT_EQ(issuer_problem(good), "") << good;
  for (const char* bad : {"", "issuer.example", "http://issuer.example", "ftp://x",
                          "http://localhost@evil.example", "http://127.0.0.1.evil.example", "https://a?b"})
    EXPECT_NE(issuer_problem(bad), "") << bad;
}

}  // namespace
}  // namespace tidewatt::oidc
