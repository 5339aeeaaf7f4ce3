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

TEST_F(AccessTest, ATokensNameIsOneShortLine) {
  for (const auto& bad : {std::string{}, std::string{"  "}, std::string{"a\nb"}, std::string{"a\x1b[2J"},
                          std::string(129, 'x')})
    EXPECT_EQ(access().create_token(bad, Role::viewer, {}, std::nullopt, "me").error().code,
              ErrorCode::invalid_input)
        << bad;
  EXPECT_TRUE(access().create_token("机架 7", Role::viewer, {}, std::nullopt, "me"));
}

TEST_F(AccessTest, ARevokedTokenStopsWorkingAtOnceAndSoDoItsSessions) {
  const auto made = *access().create_token("ci", Role::viewer, {}, std::nullopt, "me");
  const auto cookie = *access().open_session(**access().by_token(made.secret));
  EXPECT_TRUE(*access().by_session(cookie));
  ASSERT_TRUE(access().revoke_token(made.record.id, "me"));
  EXPECT_FALSE(*access().by_token(made.secret));
  EXPECT_FALSE(*access().by_session(cookie));
}

TEST_F(AccessTest, ARotatedTokenHandsOnNameRoleTeamAndExpiry) {
  const auto expiry = clock_.utc_now() + Milliseconds{86'400'000};
  const auto old = *access().create_token("ci", Role::tenant, "vision", expiry, "me");
  const auto rotated = access().rotate_token(old.record.id, Milliseconds{60'000}, "me");
  ASSERT_TRUE(rotated) << rotated.error().to_string();
  EXPECT_NE(rotated->successor.secret, old.secret);
  EXPECT_NE(rotated->successor.record.id, old.record.id);
  const auto who = **access().by_token(rotated->successor.secret);
  EXPECT_EQ(who.role, Role::tenant);
  EXPECT_EQ(who.team, "vision");
  EXPECT_EQ(who.name, "ci");
  EXPECT_EQ(who.expires_at, expiry);
}

TEST_F(AccessTest, ARotatedTokenAndItsSessionsWorkForTheGraceAndNoLonger) {
  const auto old = *access().create_token("ci", Role::viewer, {}, std::nullopt, "me");
  const auto cookie = *access().open_session(**access().by_token(old.secret));
  const auto rotated = *access().rotate_token(old.record.id, Milliseconds{60'000}, "me");
  EXPECT_EQ(rotated.old_until, clock_.utc_now() + Milliseconds{60'000});
  clock_.advance(Milliseconds{59'999});
  EXPECT_TRUE(*access().by_token(old.secret));
  EXPECT_TRUE(*access().by_session(cookie));
  clock_.advance(Milliseconds{1});
  EXPECT_FALSE(*access().by_token(old.secret));
  EXPECT_FALSE(*access().by_session(cookie));
  EXPECT_TRUE(*access().by_token(rotated.successor.secret));
}

TEST_F(AccessTest, RotatingWithoutGraceRefusesTheOldTokenAtOnce) {
  const auto old = *access().create_token("ci", Role::viewer, {}, std::nullopt, "me");
  ASSERT_TRUE(access().rotate_token(old.record.id, Milliseconds{0}, "me"));
  EXPECT_FALSE(*access().by_token(old.secret));
}

TEST_F(AccessTest, AGraceNeverLengthensATokensLife) {
  const auto expiry = clock_.utc_now() + Milliseconds{5'000};
  const auto old = *access().create_token("ci", Role::viewer, {}, expiry, "me");
  EXPECT_EQ(access().rotate_token(old.record.id, Milliseconds{60'000}, "me")->old_until, expiry);
  EXPECT_TRUE(*access().by_token(old.secret));
  clock_.advance(Milliseconds{5'000});
  EXPECT_FALSE(*access().by_token(old.secret));
}

TEST_F(AccessTest, OnlyALivingTokenIsRotated) {
  const auto gone = *access().create_token("ci", Role::viewer, {}, std::nullopt, "me");
  ASSERT_TRUE(access().revoke_token(gone.record.id, "me"));
  EXPECT_EQ(access().rotate_token(gone.record.id, Milliseconds{0}, "me").error().code, ErrorCode::conflict);
  const auto late = *access().create_token("ci", Role::viewer, {}, clock_.utc_now() + Milliseconds{1}, "me");
  clock_.advance(Milliseconds{1});
  EXPECT_EQ(access().rotate_token(late.record.id, Milliseconds{0}, "me").error().code, ErrorCode::conflict);
  EXPECT_EQ(access().rotate_token("nope", Milliseconds{0}, "me").error().code, ErrorCode::not_found);
  EXPECT_EQ(store_->tokens()->size(), 2U);
}

TEST_F(AccessTest, RotatingOverTheApiTakesAGraceOfUpToSevenDays) {
  const auto ops = token(Role::ops);
  const auto old = *access().create_token("ci", Role::viewer, {}, std::nullopt, "me");
  const auto path = "/api/v1/tokens/" + old.record.id + "/rotate";
  for (const char* bad :
       {R"({"grace_seconds":-1})", R"({"grace_seconds":604801})", R"({"grace_seconds":1.5})",
        R"({"grace_seconds":"60"})", R"({"grace_seconds":18446744073709551615})", R"({"grace":60})", "[]"})
    EXPECT_EQ(call("POST", path, ops, bad).status, 400) << bad;
  const auto answer = call("POST", path, ops, R"({"grace_seconds":604800})");
  ASSERT_EQ(answer.status, 201) << answer.body;
  const auto rotated = Json::parse(answer.body);
  EXPECT_EQ(rotated.at("replaces"), old.record.id);
  EXPECT_EQ(rotated.at("own"), false);
  EXPECT_EQ(rotated.at("replaced_until"), "2026-03-08T10:01:10Z");
  EXPECT_EQ(call("GET", "/api/v1/nodes", rotated.at("token").get<std::string>()).status, 200);
  EXPECT_EQ(call("GET", "/api/v1/nodes", old.secret).status, 200);
  const auto audit = get("/api/v1/audit", ops).at("entries");
  EXPECT_EQ(audit.at(0).at("action"), "token.rotated");
  const auto subject = audit.at(0).at("subject").get<std::string>();
  EXPECT_THAT(subject, HasSubstr(old.record.id));
  EXPECT_THAT(subject, HasSubstr(rotated.at("id").get<std::string>()));
  EXPECT_EQ(audit.dump().find(rotated.at("token").get<std::string>()), std::string::npos);
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

TEST_F(AccessTest, ALookAheadDoesNotSpendALoginLink) {
  auto made = request("HEAD", "/login");
  made.query["code"] = access().make_login_code();
  const auto looked = api_->handle(made);
  EXPECT_EQ(looked.status, 405);
  EXPECT_EQ(looked.headers.at("allow"), "GET");
  EXPECT_FALSE(looked.headers.contains("set-cookie"));
  for (const auto* path : {"/login/sso", "/login/sso/callback"})
    EXPECT_EQ(call("HEAD", path).status, 405) << path;
  made.method = "GET";
  EXPECT_FALSE(cookie_of(api_->handle(made)).empty());
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

/// action and subject of each entry, latest first.
using Entries = std::vector<std::pair<std::string, std::string>>;
Entries entries_of(const std::vector<ledger::AuditEntry>& all) {
  Entries entries;
  for (const auto& entry : all) entries.emplace_back(entry.action, entry.subject);
  return entries;
}

TEST_F(AccessTest, SessionsAreInTheAuditLogWithTheirRole) {
  const auto secret = token(Role::tenant, "vision");
  const auto answer = call("POST", "/api/v1/session", {}, Json{{"token", secret}}.dump());
  with_cookie("DELETE", "/api/v1/session", cookie_of(answer), true);
  const auto entries = *store_->audit(10);
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries.at(0).action, "session.closed");
  EXPECT_EQ(entries.at(1).action, "session.opened");
  EXPECT_EQ(entries.at(1).subject, "tenant:vision");
  EXPECT_EQ(entries.at(1).actor, "t");
}

TEST_F(AccessTest, FailedSignInsAreInTheAuditLogWithoutFloodingIt) {
  auto options = make_options();
  options.sign_in = {};
  restart(options);
  for (int i = 0; i < 50; ++i) call("POST", "/api/v1/session", {}, R"({"token":"hunter2"})");
  call("GET", "/login?code=hunter2");
  EXPECT_THAT(entries_of(*store_->audit(10)),
              ::testing::ElementsAre(std::pair{"sign_in.failed", "192.0.2.7: wrong token"}));
  clock_.advance(FailedAttempts::kWindow);
  ASSERT_TRUE(api_->housekeep());
  EXPECT_THAT(entries_of(*store_->audit(10)),
              ::testing::ElementsAre(std::pair{"sign_in.failed", "192.0.2.7: 50 more in 10 minutes"},
                                     std::pair{"sign_in.failed", "192.0.2.7: wrong token"}));
  EXPECT_THAT(call("GET", "/metrics", token(Role::ops)).body,
              HasSubstr("tidewatt_sign_ins_failed_total 51\n"));
}

TEST_F(AccessTest, ARevokedTokenThatIsStillUsedShowsInTheAuditLog) {
  const auto made = *access().create_token("ci", Role::agent, {}, std::nullopt, "me");
  ASSERT_TRUE(access().revoke_token(made.record.id, "me"));
  for (int i = 0; i < 50; ++i) call("POST", "/api/v1/heartbeats", made.secret, "{}");
  const auto entries = *store_->audit(10);
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries.at(0).action, "token.refused");
  EXPECT_THAT(call("GET", "/metrics", token(Role::ops)).body,
              HasSubstr("tidewatt_tokens_refused_total 50\n"));
}

TEST_F(AccessTest, RequestsThatAreForbiddenCountAgainstTheRateToo) {
  auto options = make_options();
  options.people = {1, 2};
  restart(options);
  const auto viewer = token(Role::viewer);
  EXPECT_EQ(call("GET", "/api/v1/audit", viewer).status, 403);
  EXPECT_EQ(call("GET", "/api/v1/audit", viewer).status, 403);
  const auto refused = call("GET", "/api/v1/audit", viewer);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.headers.at("content-type"), "application/problem+json");
  EXPECT_EQ(Json::parse(refused.body).at("code"), "rate_limited");
}

TEST_F(AccessTest, ATokenAndItsSessionsShareOneRate) {
  auto options = make_options();
  options.people = {1, 2};
  restart(options);
  const auto viewer = token(Role::viewer);
  const auto cookie = cookie_of(call("POST", "/api/v1/session", {}, Json{{"token", viewer}}.dump()));
  EXPECT_EQ(with_cookie("GET", "/api/v1/session", cookie, false).status, 200);
  EXPECT_EQ(call("GET", "/api/v1/session", viewer).status, 200);
  EXPECT_EQ(with_cookie("GET", "/api/v1/session", cookie, false).status, 429);
  EXPECT_EQ(call("GET", "/api/v1/session", token(Role::viewer)).status, 200) << "another token's own rate";
}

TEST_F(AccessTest, AgentsHaveARateOfTheirOwn) {
  auto options = make_options();
  options.people = {1, 1};
  options.agents = {1, 2};
  restart(options);
  const auto agent = token(Role::agent);
  const auto body = beat("n1", "2026-03-01T10:00:00Z", 1);
  EXPECT_EQ(call("POST", "/api/v1/heartbeats", agent, body).status, 200);
  EXPECT_EQ(call("POST", "/api/v1/heartbeats", agent, body).status, 200);
  EXPECT_EQ(call("POST", "/api/v1/heartbeats", agent, body).status, 429);
  clock_.advance(Milliseconds{1000});
  EXPECT_EQ(call("POST", "/api/v1/heartbeats", agent, body).status, 200);
}

TEST_F(AccessTest, NoSecretIsInTheAuditLog) {
  const auto ops = token(Role::ops);
  const auto code = access().make_login_code();
  const auto cookie = cookie_of(call("POST", "/api/v1/session", {}, Json{{"token", ops}}.dump()));
  call("GET", "/login?code=" + code);
  call("GET", "/login?code=" + code);
  call("POST", "/api/v1/session", {}, R"({"token":"guessed-secret"})");
  call("GET", "/api/v1/nodes", "guessed-secret");
  with_cookie("DELETE", "/api/v1/session", cookie, true);
  const auto log = call("GET", "/api/v1/audit", ops).body;
  for (const auto& secret : {ops, code, cookie.substr(cookie.find('=') + 1), std::string{"guessed-secret"}})
    EXPECT_EQ(log.find(secret), std::string::npos) << secret;
}

TEST_F(AccessTest, TokensAreListedWithoutSecretsOrHashes) {
  const auto ops = token(Role::ops);
  const auto list = call("GET", "/api/v1/tokens", ops).body;
  EXPECT_EQ(list.find(ops), std::string::npos);
  EXPECT_EQ(list.find(sha256_hex(ops)), std::string::npos);
}

}  // namespace
}  // namespace tidewatt::api
