#include "tidewatt/api/access.h"

#include "api_fixture.h"

namespace tidewatt::api {
namespace {

using testing::ApiTest;
using ::testing::HasSubstr;
using testing::Json;

class AccessTest : public ApiTest {
 protected:
  Access& access() { return api_->access(); }
  static std::string cookie_of(const net::Response& response) {
    const auto header = response.headers.at("set-cookie");
    return header.substr(0, header.find(';'));
  }
  net::Response with_cookie(const std::string& method, const std::string& target, const std::string& cookie,
                            bool csrf, const std::string& body = {}) {
    auto made = request(method, target, {}, body);
    made.headers["cookie"] = "other=1; " + cookie;
    if (csrf) made.headers["x-tidewatt-csrf"] = "1";
    return api_->handle(made);
  }
};

TEST(Sha256, IsTheKnownDigest) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(AccessTest, OnlyTheHashOfATokenIsStored) {
  const auto made = access().create_token("ci", Role::viewer, {}, std::nullopt, "me");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->secret.size(), 64U);
  const auto stored = store_->tokens()->at(0);
  EXPECT_EQ(stored.sha256_hex, sha256_hex(made->secret));
  EXPECT_EQ((*access().by_token(made->secret))->role, Role::viewer);
  EXPECT_FALSE(*access().by_token(stored.sha256_hex));
}

TEST_F(AccessTest, ARevokedTokenStopsWorkingAtOnceAndSoDoItsSessions) {
  const auto made = *access().create_token("ci", Role::viewer, {}, std::nullopt, "me");
  const auto cookie = *access().open_session(**access().by_token(made.secret));
  EXPECT_TRUE(*access().by_session(cookie));
  ASSERT_TRUE(access().revoke_token(made.record.id, "me"));
  EXPECT_FALSE(*access().by_token(made.secret));
  EXPECT_FALSE(*access().by_session(cookie));
}

TEST_F(AccessTest, ATokenEndsAtItsExpiry) {
  const auto made =
      *access().create_token("ci", Role::viewer, {}, clock_.utc_now() + Milliseconds{1000}, "me");
  EXPECT_TRUE(*access().by_token(made.secret));
  clock_.advance(Milliseconds{1000});
  EXPECT_FALSE(*access().by_token(made.secret));
}

TEST_F(AccessTest, ATenantNeedsATeamAndNobodyElseHasOne) {
  EXPECT_FALSE(access().create_token("x", Role::tenant, {}, std::nullopt, "me"));
  EXPECT_FALSE(access().create_token("x", Role::viewer, "vision", std::nullopt, "me"));
  EXPECT_FALSE(access().create_token("", Role::viewer, {}, std::nullopt, "me"));
}

TEST_F(AccessTest, ASessionEndsAfterTwelveHours) {
  const auto cookie = *access().open_session(Principal{Role::ops, {}, "n", {}, {}, false});
  clock_.advance(Access::kSessionLife - Milliseconds{1});
  EXPECT_TRUE(*access().by_session(cookie));
  clock_.advance(Milliseconds{1});
  EXPECT_FALSE(*access().by_session(cookie));
}

TEST_F(AccessTest, ALoginCodeWorksOnceAndForFifteenMinutes) {
  const auto code = access().make_login_code();
  EXPECT_TRUE(*access().redeem(code));
  EXPECT_FALSE(*access().redeem(code));
  const auto late = access().make_login_code();
  clock_.advance(Access::kLoginCodeLife);
  EXPECT_FALSE(*access().redeem(late));
}

TEST_F(AccessTest, TheLoginLinkLeadsToALocalPageOnly) {
  for (const auto& [next, location] :
       std::vector<std::pair<std::string, std::string>>{{"/nodes", "/nodes"},
                                                        {"//evil.example", "/"},
                                                        {"/\\evil.example", "/"},
                                                        {"https://evil.example", "/"},
                                                        {"", "/"}}) {
    auto made = request("GET", "/login");
    made.query["code"] = access().make_login_code();
    made.query["next"] = next;
    const auto response = api_->handle(made);
    EXPECT_EQ(response.status, 303);
    EXPECT_EQ(response.headers.at("location"), location) << next;
    EXPECT_THAT(response.headers.at("set-cookie"), HasSubstr("HttpOnly; SameSite=Strict; Path=/"));
  }
  const auto used = call("GET", "/login?code=nonsense");
  EXPECT_EQ(used.headers.at("location"), "/login-page?error=used");
  EXPECT_FALSE(used.headers.contains("set-cookie"));
}

TEST_F(AccessTest, ChangesByCookieNeedTheCsrfHeader) {
  auto made = request("GET", "/login");
  made.query["code"] = access().make_login_code();
  const auto cookie = cookie_of(api_->handle(made));
  const std::string body = R"({"name":"x","role":"viewer"})";
  EXPECT_EQ(with_cookie("GET", "/api/v1/session", cookie, false).status, 200);
  const auto refused = with_cookie("POST", "/api/v1/tokens", cookie, false, body);
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr("X-Tidewatt-CSRF"));
  EXPECT_EQ(with_cookie("POST", "/api/v1/tokens", cookie, true, body).status, 201);
  EXPECT_EQ(with_cookie("DELETE", "/api/v1/session", cookie, true).status, 204);
  EXPECT_EQ(with_cookie("GET", "/api/v1/session", cookie, false).status, 401);
}

TEST_F(AccessTest, SigningInTakesATokenButNoAgents) {
  const auto good = token(Role::viewer);
  EXPECT_EQ(call("POST", "/api/v1/session", {}, Json{{"token", good}}.dump()).status, 204);
  EXPECT_EQ(call("POST", "/api/v1/session", {}, Json{{"token", "x"}}.dump()).status, 401);
  EXPECT_EQ(call("POST", "/api/v1/session", {}, Json{{"token", token(Role::agent)}}.dump()).status, 401);
  EXPECT_EQ(call("POST", "/api/v1/session", {}, "[]").status, 400);
}

TEST_F(AccessTest, GuessingTokensIsSlowedDownPerAddress) {
  int refused = 0;
  for (int i = 0; i < 30; ++i) {
    const auto response = call("POST", "/api/v1/session", {}, R"({"token":"guess"})");
    if (response.status == 429) {
      ++refused;
      EXPECT_TRUE(response.headers.contains("retry-after"));
    }
  }
  EXPECT_EQ(refused, 10);
}

TEST_F(AccessTest, ATokenBeyondItsRateIsToldWhenToComeBack) {
  auto options = make_options();
  options.people = {1, 2};
  restart(options);
  const auto viewer = token(Role::viewer);
  EXPECT_EQ(call("GET", "/api/v1/session", viewer).status, 200);
  EXPECT_EQ(call("GET", "/api/v1/session", viewer).status, 200);
  const auto refused = call("GET", "/api/v1/session", viewer);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.headers.at("retry-after"), "1");
}

TEST_F(AccessTest, AdminActionsStandInTheAuditLog) {
  const auto ops = token(Role::ops);
  const auto created =
      call("POST", "/api/v1/tokens", ops, R"({"name":"team","role":"tenant","team":"vision"})");
  ASSERT_EQ(created.status, 201);
  const auto id = Json::parse(created.body).at("id").get<std::string>();
  EXPECT_EQ(call("DELETE", "/api/v1/tokens/" + id, ops).status, 204);
  EXPECT_EQ(call("DELETE", "/api/v1/tokens/nope", ops).status, 404);
  const auto entries = get("/api/v1/audit", ops).at("entries");
  EXPECT_EQ(entries.at(0).at("action"), "token.revoked");
  EXPECT_EQ(entries.at(1).at("action"), "token.created");
  EXPECT_THAT(entries.at(1).at("subject").get<std::string>(), HasSubstr("tenant:vision"));
}

TEST_F(AccessTest, TokensAreListedWithoutSecretsOrHashes) {
  const auto ops = token(Role::ops);
  const auto list = call("GET", "/api/v1/tokens", ops).body;
  EXPECT_EQ(list.find(ops), std::string::npos);
  EXPECT_EQ(list.find(sha256_hex(ops)), std::string::npos);
}

}  // namespace
}  // namespace tidewatt::api
