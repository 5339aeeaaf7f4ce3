#include "tidewatt/api/routes.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "api_fixture.h"
#include "tidewatt/api/web_files.h"

namespace tidewatt::api {
namespace {

using testing::ApiTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Json;

class RoutesTest : public ApiTest {};

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
  std::map<std::string, std::string> expected;
  for (const auto& route : route_table()) {
    std::string roles;
    for (const auto role : {Role::agent, Role::cluster, Role::ops, Role::tenant, Role::viewer})
      if (route.roles.has(role)) roles += to_string(role).front();
    expected[std::string{route.method} + " " + std::string{route.path}] =
        route.roles.is_anyone() ? "*" : roles;
  }
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
