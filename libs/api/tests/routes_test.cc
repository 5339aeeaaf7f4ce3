#include "tidewatt/api/routes.h"

#include <map>
#include <set>

#include "api_fixture.h"
#include "tidewatt/api/web_files.h"

namespace tidewatt::api {
namespace {

using testing::ApiTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Json;

class RoutesTest : public ApiTest {
 protected:
  static std::string concrete(std::string_view path_template) {
    std::string path{path_template};
    const auto brace = path.find('{');
    if (brace != std::string::npos) path.replace(brace, path.find('}') - brace + 1, "x");
    return path;
  }
};

TEST(MatchPath, DecodesEachSegmentByItself) {
  EXPECT_THAT(*match_path("/api/v1/nodes/{id}/energy", "/api/v1/nodes/rack%2F7%20a/energy"),
              ElementsAre("rack/7 a"));
  EXPECT_FALSE(match_path("/api/v1/nodes/{id}", "/api/v1/nodes/a/b"));
  EXPECT_FALSE(match_path("/api/v1/nodes/{id}", "/api/v1/nodes/"));
  EXPECT_FALSE(match_path("/api/v1/nodes/{id}", "/api/v1/nodes"));
  EXPECT_FALSE(match_path("/api/v1/nodes", "/api/v1/nodes/"));
  EXPECT_FALSE(match_path("/api/v1/nodes/{id}", "/api/v1/nodes/%zz"));
  EXPECT_FALSE(match_path("/api/v1/nodes/{id}", "/api/v1/nodes/%2"));
}

/// Who may do what, written out by hand: o = ops, v = viewer, t = tenant, a = agent, * = anyone.
const std::map<std::string, std::string> kMatrix{
    {"POST /api/v1/heartbeats", "oa"},
    {"GET /api/v1/nodes", "ovt"},
    {"GET /api/v1/nodes/{id}", "ovt"},
    {"GET /api/v1/nodes/{id}/energy", "ovt"},
    {"GET /api/v1/nodes/{id}/power", "ovt"},
    {"GET /api/v1/nodes/{id}/carbon-rate", "ovt"},
    {"GET /api/v1/tasks", "ovt"},
    {"POST /api/v1/tasks", "o"},
    {"GET /api/v1/tasks/{id}/energy", "ovt"},
    {"GET /api/v1/tasks/{id}/power", "ovt"},
    {"POST /api/v1/tasks/{id}/events", "o"},
    {"GET /api/v1/task-groups/{id}/efficiency", "ovt"},
    {"GET /api/v1/energy/accounts", "ovt"},
    {"GET /api/v1/energy/export", "o"},
    {"GET /api/v1/ledger/seals", "ov"},
    {"POST /api/v1/ledger/seals", "o"},
    {"GET /api/v1/ledger/verify", "o"},
    {"GET /api/v1/dashboard/stats", "ovt"},
    {"GET /api/v1/settings/sources", "ov"},
    {"GET /api/v1/settings/coverage", "otv"},
    {"GET /api/v1/factors", "ovt"},
    {"GET /api/v1/audit", "o"},
    {"GET /api/v1/tokens", "o"},
    {"POST /api/v1/tokens", "o"},
    {"DELETE /api/v1/tokens/{id}", "o"},
    {"GET /api/v1/session", "ovt"},
    {"POST /api/v1/session", "*"},
    {"DELETE /api/v1/session", "ovt"},
    {"GET /api/v1/stream", "ovt"},
    {"GET /login", "*"},
    {"GET /healthz", "*"},
    {"GET /readyz", "*"},
    {"GET /metrics", "ov"},
    {"GET /api/openapi.json", "*"},
};

TEST_F(RoutesTest, EachRoleMayDoWhatTheMatrixSaysAndNothingElse) {
  const std::map<char, std::string> tokens{{'o', token(Role::ops)},
                                           {'v', token(Role::viewer)},
                                           {'t', token(Role::tenant, "vision")},
                                           {'a', token(Role::agent)}};
  std::set<std::string> routes;
  for (const auto& route : route_table()) {
    const std::string name = std::string{route.method} + " " + std::string{route.path};
    routes.insert(name);
    ASSERT_TRUE(kMatrix.contains(name)) << name;
    const std::string& allowed = kMatrix.at(name);
    const std::string method{route.method};
    const bool anyone = allowed == "*";
    const auto nobody = call(method, concrete(route.path));
    EXPECT_EQ(nobody.status == 401 && nobody.body.find("not_signed_in") != std::string::npos, !anyone)
        << name;
    if (anyone) continue;
    for (const auto& [letter, secret] : tokens) {
      const auto response = call(method, concrete(route.path), secret);
      const bool may = allowed.find(letter) != std::string::npos;
      const bool forbidden = response.status == 403 && response.body.find("may not") != std::string::npos;
      EXPECT_EQ(forbidden, !may) << name << " as " << letter << ": " << response.body;
      EXPECT_NE(response.status, 401) << name << " as " << letter;
    }
  }
  EXPECT_EQ(routes.size(), kMatrix.size());
}

TEST_F(RoutesTest, OpenApiDescribesEveryRouteWithItsRolesAndNoOther) {
  const auto document = Json::parse(openapi_document());
  std::map<std::string, std::string> described;
  for (const auto& [path, methods] : document.at("paths").items())
    for (const auto& [method, operation] : methods.items()) {
      std::string upper = method;
      for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      std::string roles;
      for (const auto& role : operation.at("x-roles")) {
        const auto text = role.get<std::string>();
        if (text == "anyone")
          roles = "*";
        else if (text != "loopback")
          roles += text.front();
      }
      std::sort(roles.begin(), roles.end());
      described[upper + " " + path] = roles;
    }
  auto expected = kMatrix;
  for (auto& [name, roles] : expected) std::sort(roles.begin(), roles.end());
  EXPECT_EQ(described, expected);
}

TEST_F(RoutesTest, UnknownPathsAndMethodsAreProblemsThatSayWhatToDo) {
  const auto missing = call("GET", "/api/v1/nope", token(Role::ops));
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.headers.at("content-type"), "application/problem+json");
  EXPECT_EQ(Json::parse(missing.body).at("type"), "https://tidewatt.dev/problems/not_found");
  const auto method = call("DELETE", "/api/v1/nodes");
  EXPECT_EQ(method.status, 405);
  EXPECT_EQ(method.headers.at("allow"), "GET");
}

TEST_F(RoutesTest, MetricsAreOpenOnLoopbackOnly) {
  auto made = request("GET", "/metrics");
  EXPECT_EQ(api_->handle(made).status, 401);
  made.remote_address = "127.0.0.1";
  EXPECT_EQ(api_->handle(made).status, 200);
}

TEST_F(RoutesTest, AnUnchangedAnswerIsNotSentAgain) {
  const auto ops = token(Role::ops);
  auto made = request("GET", "/api/v1/factors", ops);
  const auto first = api_->handle(made);
  made.headers["if-none-match"] = first.headers.at("etag");
  const auto second = api_->handle(made);
  EXPECT_EQ(second.status, 304);
  EXPECT_TRUE(second.body.empty());
}

TEST_F(RoutesTest, EveryAnswerCarriesTheSecurityHeaders) {
  for (const auto& response : {call("GET", "/"), call("GET", "/healthz"), call("GET", "/api/v1/nodes")}) {
    EXPECT_THAT(response.headers.at("content-security-policy"), HasSubstr("default-src 'self'"));
    EXPECT_THAT(response.headers.at("content-security-policy"), HasSubstr("frame-ancestors 'none'"));
    EXPECT_EQ(response.headers.at("x-content-type-options"), "nosniff");
  }
}

TEST_F(RoutesTest, PagesAreServedForEveryPathOutsideTheApi) {
  for (const char* path : {"/", "/nodes/gpu-a01", "/login-page"}) {
    const auto response = call("GET", path);
    EXPECT_EQ(response.status, 200);
    EXPECT_THAT(response.headers.at("content-type"), HasSubstr("text/html"));
  }
  EXPECT_EQ(call("POST", "/nodes").status, 405);
}

}  // namespace
}  // namespace tidewatt::api
