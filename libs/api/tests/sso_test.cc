#include <gmock/gmock.h>

#include "api_fixture.h"
#include "tidewatt/testing/oidc_issuer.h"

namespace tidewatt::api {
namespace {

using oidc::testing::FakeWeb;
using oidc::testing::TestKey;
using testing::ApiTest;
using ::testing::HasSubstr;
using testing::Json;
using ::testing::StartsWith;

const TestKey& key() {
  static const TestKey one = TestKey::ec("k1");
  return one;
}

std::string parameter(const std::string& url, const std::string& name) {
  const auto at = url.find("&" + name + "=");
  if (at == std::string::npos) return {};
  const auto begin = at + name.size() + 2;
  return url.substr(begin, std::min(url.find('&', begin), url.size()) - begin);
}

class SsoTest : public ApiTest {
 protected:
  SsoTest() {
    web_.pages["https://issuer.example/.well-known/openid-configuration"] = [](const auto&) {
      return net::Response{200,
                           {},
                           Json{{"issuer", "https://issuer.example"},
                                {"authorization_endpoint", "https://issuer.example/auth"},
                                {"token_endpoint", "https://issuer.example/token"},
                                {"jwks_uri", "https://issuer.example/keys"}}
                               .dump()};
    };
    web_.pages["https://issuer.example/keys"] = [](const auto&) {
      return net::Response{200, {}, Json{{"keys", {key().jwk()}}}.dump()};
    };
    web_.pages["https://issuer.example/token"] = [this](const auto&) {
      return net::Response{200, {}, Json{{"id_token", id_token_}}.dump()};
    };
    options_ = make_options();
    options_.secure_cookies = true;
    options_.sso = SsoOptions{
        {"https://issuer.example", "tidewatt", "", "https://tw.example/login/sso/callback"},
        {{"admins", Role::ops, ""}, {"vision", Role::tenant, "vision"}, {"staff", Role::viewer, ""}},
        [this] { return web_.client(); }};
    restart(options_);
  }
  net::Response start(const std::string& next = "/nodes") {
    auto made = request("GET", "/login/sso");
    made.query["next"] = next;
    return api_->handle(made);
  }
  /// The way back; `started` is the answer that began it.
  net::Response finish(const net::Response& started, const std::vector<std::string>& groups) {
    const auto url = started.headers.at("location");
    id_token_ = key().token({{"iss", "https://issuer.example"},
                             {"aud", "tidewatt"},
                             {"sub", "u1"},
                             {"name", "Alice"},
                             {"exp", clock_.utc_now().time_since_epoch().count() / 1000 + 60},
                             {"nonce", parameter(url, "nonce")},
                             {"groups", groups}});
    auto made = request("GET", "/login/sso/callback?code=c1&state=" + parameter(url, "state"));
    const auto cookie = started.headers.at("set-cookie");
    made.headers["cookie"] = cookie.substr(0, cookie.find(';'));
    return api_->handle(made);
  }
  Json session_of(const net::Response& finished) {
    auto made = request("GET", "/api/v1/session");
    const auto cookie = finished.headers.at("set-cookie");
    made.headers["cookie"] = cookie.substr(0, cookie.find(';'));
    return Json::parse(api_->handle(made).body);
  }

  ApiOptions options_;
  FakeWeb web_;
  std::string id_token_;
};

TEST_F(SsoTest, TheSignInPageLearnsWhetherThereIsSso) {
  EXPECT_EQ(Json::parse(call("GET", "/api/v1/sign-in").body).at("sso_path"), "/login/sso");
  restart(make_options());
  EXPECT_TRUE(Json::parse(call("GET", "/api/v1/sign-in").body).at("sso_path").is_null());
}

TEST_F(SsoTest, SigningInGivesTheRoleOfTheFirstLineThatFits) {
  const auto started = start();
  ASSERT_EQ(started.status, 303);
  EXPECT_THAT(started.headers.at("location"), StartsWith("https://issuer.example/auth?"));
  EXPECT_THAT(started.headers.at("set-cookie"),
              HasSubstr("; HttpOnly; SameSite=Lax; Path=/login/sso; Max-Age=600; Secure"));
  const auto finished = finish(started, {"staff", "vision"});
  ASSERT_EQ(finished.status, 303);
  EXPECT_EQ(finished.headers.at("location"), "/nodes");
  EXPECT_THAT(finished.headers.at("set-cookie"), HasSubstr("HttpOnly; SameSite=Strict; Path=/"));
  const auto session = session_of(finished);
  EXPECT_EQ(session.at("role"), "tenant");
  EXPECT_EQ(session.at("team"), "vision");
  EXPECT_EQ(session.at("name"), "Alice");
  const auto entry = store_->audit(10)->at(0);
  EXPECT_EQ(entry.actor, "Alice");
  EXPECT_EQ(entry.action, "session.opened");
  EXPECT_EQ(entry.subject, "tenant:vision by SSO, subject u1");
}

TEST_F(SsoTest, AnAccountWithoutARoleIsNotLetIn) {
  const auto finished = finish(start(), {"visitors"});
  EXPECT_EQ(finished.headers.at("location"), "/login-page?error=sso_no_role");
  EXPECT_FALSE(finished.headers.contains("set-cookie"));
  EXPECT_EQ(store_->audit(10)->at(0).action, "sign_in.failed");
}

TEST_F(SsoTest, AnAnswerWorksOnceAndOnlyInItsBrowser) {
  const auto started = start();
  auto elsewhere = started;
  elsewhere.headers["set-cookie"] = "tidewatt_sso=other";
  EXPECT_EQ(finish(elsewhere, {"admins"}).headers.at("location"), "/login-page?error=sso_expired");
  EXPECT_EQ(finish(started, {"admins"}).headers.at("location"), "/nodes");
  EXPECT_EQ(finish(started, {"admins"}).headers.at("location"), "/login-page?error=sso_expired");
}

TEST_F(SsoTest, LeadsToPagesOfOursOnly) {
  for (const char* next : {"//evil.example", "https://evil.example", "/\\evil.example"})
    EXPECT_EQ(finish(start(next), {"admins"}).headers.at("location"), "/") << next;
}

TEST_F(SsoTest, WhenTheIssuerIsDownThePageSaysSoAndTokensStillWork) {
  web_.pages.clear();
  const auto started = start();
  EXPECT_EQ(started.status, 303);
  EXPECT_EQ(started.headers.at("location"), "/login-page?error=sso_down");
  EXPECT_EQ(call("POST", "/api/v1/session", {}, Json{{"token", token(Role::viewer)}}.dump()).status, 204);
}

TEST_F(SsoTest, WhatTheIssuerRefusesIsToldAsRefused) {
  const auto started = start();
  web_.pages["https://issuer.example/token"] = [](const auto&) {
    return net::Response{400, {}, R"({"error":"invalid_grant"})"};
  };
  EXPECT_EQ(finish(started, {"admins"}).headers.at("location"), "/login-page?error=sso_refused");
}

TEST_F(SsoTest, WhileTheIssuerThinksAboutOneTheNextBrowserAsksAgainByItself) {
  const auto first = start();
  const auto second = start();
  std::optional<net::Response> meanwhile;
  const auto works = web_.pages["https://issuer.example/token"];
  web_.pages["https://issuer.example/token"] = [&](const auto& asked) {
    const auto own = id_token_;
    if (!meanwhile) meanwhile = finish(second, {"admins"});
    id_token_ = own;
    return works(asked);
  };
  EXPECT_EQ(finish(first, {"admins"}).headers.at("location"), "/nodes");
  ASSERT_TRUE(meanwhile);
  EXPECT_EQ(meanwhile->status, 503);
  EXPECT_EQ(meanwhile->headers.at("refresh"), "1");
  EXPECT_EQ(finish(second, {"admins"}).headers.at("location"), "/nodes");
}

TEST_F(SsoTest, BeginningsAreLimitedPerAddress) {
  for (int i = 0; i < 20; ++i) EXPECT_EQ(start().status, 303);
  const auto refused = start();
  EXPECT_EQ(refused.status, 429);
  EXPECT_TRUE(refused.headers.contains("retry-after"));
}

}  // namespace
}  // namespace tidewatt::api
