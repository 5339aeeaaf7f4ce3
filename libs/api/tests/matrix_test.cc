// Who may ask what: every route, every role, every way to say who one is, as one table of wanted statuses.
#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "api_fixture.h"
#include "tidewatt/api/routes.h"
#include "tidewatt/net/server.h"

namespace tidewatt::api {
namespace {

using testing::ApiTest;
using testing::Json;

/// One route. The statuses of each column stand in this order:
///   bearer:  nobody, agent, cluster, viewer, tenant whose team it is, tenant of another team, ops
///   cookie and no_csrf (a cookie without the X-Tidewatt-CSRF header):  viewer, own team, other team, ops
/// Agents and clusters have no cookies: ProgramsGetNoSession says so.
struct Row {
  const char* route;
  const char* target;  ///< $TOKEN and $CODE are filled in
  const char* body;
  const char* bearer;
  const char* cookie;
  const char* no_csrf;
};

constexpr const char* kReview =
    R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1"}})";
constexpr const char* kOpenBearer = "200 200 200 200 200 200 200";
constexpr const char* kOpenCookie = "200 200 200 200";

/// n1 ran t1 of team "vision" (group g1), n2 ran t3 of team "language": own is vision, other is language.
const Row kRows[] = {
    {"POST /api/v1/heartbeats", "/api/v1/heartbeats", "$BEAT", "401 200 403 403 403 403 200",
     "403 403 403 200", "403 403 403 403"},
    // Who may write is told that this is no snappy block.
    {"POST /api/v1/write", "/api/v1/write", "x", "401 415 403 403 403 403 415", "403 403 403 415",
     "403 403 403 403"},
    {"POST /v1/traces", "/v1/traces", "x", "401 415 403 403 415 415 415", "403 415 415 415",
     "403 403 403 403"},
    {"GET /api/v1/nodes", "/api/v1/nodes", "", "401 403 403 200 200 200 200", "200 200 200 200",
     "200 200 200 200"},
    {"GET /api/v1/nodes/{id}", "/api/v1/nodes/n1", "", "401 403 403 200 200 404 200", "200 200 404 200",
     "200 200 404 200"},
    {"GET /api/v1/nodes/{id}/energy", "/api/v1/nodes/n1/energy", "", "401 403 403 200 200 404 200",
     "200 200 404 200", "200 200 404 200"},
    {"GET /api/v1/nodes/{id}/power", "/api/v1/nodes/n1/power", "", "401 403 403 200 200 404 200",
     "200 200 404 200", "200 200 404 200"},
    {"GET /api/v1/nodes/{id}/carbon-rate", "/api/v1/nodes/n1/carbon-rate", "", "401 403 403 200 200 404 200",
     "200 200 404 200", "200 200 404 200"},
    {"GET /api/v1/tasks", "/api/v1/tasks", "", "401 403 403 200 200 200 200", "200 200 200 200",
     "200 200 200 200"},
    {"POST /api/v1/tasks", "/api/v1/tasks", R"({"task_id":"t9"})", "401 403 403 403 403 403 201",
     "403 403 403 201", "403 403 403 403"},
    {"GET /api/v1/tasks/{id}", "/api/v1/tasks/t1", "", "401 403 403 200 200 404 200", "200 200 404 200",
     "200 200 404 200"},
    {"GET /api/v1/tasks/{id}/energy", "/api/v1/tasks/t1/energy", "", "401 403 403 200 200 404 200",
     "200 200 404 200", "200 200 404 200"},
    {"GET /api/v1/tasks/{id}/power", "/api/v1/tasks/t1/power", "", "401 403 403 200 200 404 200",
     "200 200 404 200", "200 200 404 200"},
    {"GET /api/v1/tasks/{id}/endpoints", "/api/v1/tasks/t1/endpoints", "", "401 403 403 200 200 404 200",
     "200 200 404 200", "200 200 404 200"},
    {"GET /api/v1/tasks/{id}/traces", "/api/v1/tasks/t1/traces", "", "401 403 403 200 200 404 200",
     "200 200 404 200", "200 200 404 200"},
    {"POST /api/v1/tasks/{id}/events", "/api/v1/tasks/t1/events", R"({"event":"finished"})",
     "401 403 403 403 403 403 204", "403 403 403 204", "403 403 403 403"},
    {"POST /api/v1/tasks/{id}/progress", "/api/v1/tasks/t1/progress", R"({"epoch":1})",
     "401 200 403 403 200 404 200", "403 200 404 200", "403 403 403 403"},
    {"POST /api/v1/tasks/{id}/usage", "/api/v1/tasks/t1/usage",
     R"({"request_id":"r","prompt_tokens":1,"completion_tokens":2})", "401 200 403 403 200 404 200",
     "403 200 404 200", "403 403 403 403"},
    {"POST /api/v1/usage", "/api/v1/usage",
     R"({"task_group_id":"g1","request_id":"r","prompt_tokens":1,"completion_tokens":2})",
     "401 200 403 403 200 404 200", "403 200 404 200", "403 403 403 403"},
    {"GET /api/v1/task-groups/{id}/efficiency", "/api/v1/task-groups/g1/efficiency", "",
     "401 403 403 200 200 404 200", "200 200 404 200", "200 200 404 200"},
    {"GET /api/v1/energy/accounts", "/api/v1/energy/accounts?scope=task&ids=t1", "",
     "401 403 403 200 200 200 200", "200 200 200 200", "200 200 200 200"},
    {"GET /api/v1/energy/export", "/api/v1/energy/export?format=json", "", "401 403 403 403 403 403 200",
     "403 403 403 200", "403 403 403 200"},
    {"GET /api/v1/ledger/seals", "/api/v1/ledger/seals", "", "401 403 403 200 403 403 200", "200 403 403 200",
     "200 403 403 200"},
    {"POST /api/v1/ledger/seals", "/api/v1/ledger/seals", R"({"month":"2025-01"})",
     "401 403 403 403 403 403 400", "403 403 403 400", "403 403 403 403"},
    {"GET /api/v1/ledger/verify", "/api/v1/ledger/verify", "", "401 403 403 403 403 403 200",
     "403 403 403 200", "403 403 403 200"},
    {"GET /api/v1/dashboard/stats", "/api/v1/dashboard/stats", "", "401 403 403 200 200 200 200",
     "200 200 200 200", "200 200 200 200"},
    {"GET /api/v1/settings/sources", "/api/v1/settings/sources", "", "401 403 403 200 403 403 200",
     "200 403 403 200", "200 403 403 200"},
    {"GET /api/v1/settings/coverage", "/api/v1/settings/coverage", "", "401 403 403 200 200 200 200",
     "200 200 200 200", "200 200 200 200"},
    {"GET /api/v1/factors", "/api/v1/factors", "", "401 403 403 200 200 200 200", "200 200 200 200",
     "200 200 200 200"},
    // No zone is configured here; see carbon_signals_test.
    {"GET /api/v1/carbon/zones", "/api/v1/carbon/zones", "", "401 403 403 200 200 200 200", "200 200 200 200",
     "200 200 200 200"},
    {"GET /api/v1/carbon/{zone}/latest", "/api/v1/carbon/DE/latest", "", "401 403 403 404 404 404 404",
     "404 404 404 404", "404 404 404 404"},
    {"GET /api/v1/carbon/{zone}/history", "/api/v1/carbon/DE/history", "", "401 403 403 404 404 404 404",
     "404 404 404 404", "404 404 404 404"},
    {"GET /api/v1/carbon/{zone}/forecast", "/api/v1/carbon/DE/forecast", "", "401 403 403 404 404 404 404",
     "404 404 404 404", "404 404 404 404"},
    // Tenants by their own tasks only; see accounting_test.
    {"GET /api/v1/carbon/accounting", "/api/v1/carbon/accounting?scope=cluster", "",
     "401 403 403 200 403 403 200", "200 403 403 200", "200 403 403 200"},
    {"GET /api/v1/reports/{period}", "/api/v1/reports/2026-03?scope=team", "", "401 403 403 200 200 200 200",
     "200 200 200 200", "200 200 200 200"},
    // No budget and no money is there; what tenants may do with their own: market_test.
    {"GET /api/v1/quotas", "/api/v1/quotas", "", "401 403 403 200 200 200 200", "200 200 200 200",
     "200 200 200 200"},
    {"POST /api/v1/quotas", "/api/v1/quotas", R"({"team":"vision","budget_kg":1,"key":"k"})",
     "401 403 403 403 403 403 201", "403 403 403 201", "403 403 403 403"},
    {"POST /api/v1/quotas/adjustments", "/api/v1/quotas/adjustments",
     R"({"team":"vision","change_kg":1,"reason":"r","key":"k"})", "401 403 403 403 403 403 404",
     "403 403 403 404", "403 403 403 403"},
    {"POST /api/v1/quotas/transfers", "/api/v1/quotas/transfers",
     R"({"team":"vision","to":"language","amount_kg":1,"key":"k"})", "401 403 403 403 409 403 409",
     "403 409 403 409", "403 403 403 403"},
    {"POST /api/v1/admission", "/api/v1/admission", R"({"team":"vision","task_id":"t1","estimate_kg":1})",
     "401 403 403 403 200 403 200", "403 200 403 200", "403 403 403 403"},
    {"DELETE /api/v1/admission/{id}", "/api/v1/admission/1", "", "401 403 403 403 404 404 404",
     "403 404 404 404", "403 403 403 403"},
    {"GET /api/v1/market/offers", "/api/v1/market/offers", "", "401 403 403 200 200 200 200",
     "200 200 200 200", "200 200 200 200"},
    {"POST /api/v1/market/offers", "/api/v1/market/offers",
     R"({"team":"vision","amount_kg":1,"price_per_kg":1,"key":"k"})", "401 403 403 403 409 403 409",
     "403 409 403 409", "403 403 403 403"},
    {"GET /api/v1/market/bids", "/api/v1/market/bids", "", "401 403 403 200 200 200 200", "200 200 200 200",
     "200 200 200 200"},
    {"POST /api/v1/market/bids", "/api/v1/market/bids",
     R"({"team":"vision","amount_kg":1,"price_per_kg":1,"key":"k"})", "401 403 403 403 409 403 409",
     "403 409 403 409", "403 403 403 403"},
    {"GET /api/v1/market/trades", "/api/v1/market/trades", "", "401 403 403 200 200 200 200",
     "200 200 200 200", "200 200 200 200"},
    {"DELETE /api/v1/market/orders/{id}", "/api/v1/market/orders/1", "", "401 403 403 403 404 404 404",
     "403 404 404 404", "403 403 403 403"},
    {"POST /api/v1/market/money", "/api/v1/market/money", R"({"team":"vision","amount":1,"key":"k"})",
     "401 403 403 403 403 403 201", "403 403 403 201", "403 403 403 403"},
    {"GET /api/v1/market/history", "/api/v1/market/history", "", "401 403 403 403 403 403 200",
     "403 403 403 200", "403 403 403 200"},
    {"POST /k8s/extender/filter", "/k8s/extender/filter", R"({"NodeNames":["n1"]})",
     "401 403 200 403 403 403 200", "403 403 403 200", "403 403 403 403"},
    {"POST /k8s/extender/prioritize", "/k8s/extender/prioritize", R"({"NodeNames":["n1"]})",
     "401 403 200 403 403 403 200", "403 403 403 200", "403 403 403 403"},
    {"POST /k8s/admission/mutate", "/k8s/admission/mutate?timeout=10s", kReview,
     "401 403 200 403 403 403 200", "403 403 403 200", "403 403 403 403"},
    {"POST /k8s/admission/validate", "/k8s/admission/validate?timeout=10s", kReview,
     "401 403 200 403 403 403 200", "403 403 403 200", "403 403 403 403"},
    // Neither a region nor a policy is configured here; see keda_test.
    {"GET /api/v1/carbon-intensity", "/api/v1/carbon-intensity?region=us-west", "",
     "401 403 404 404 404 404 404", "404 404 404 404", "404 404 404 404"},
    {"GET /api/v1/keda/replicas", "/api/v1/keda/replicas?policy=batch", "", "401 403 404 404 404 404 404",
     "404 404 404 404", "404 404 404 404"},
    {"GET /api/v1/audit", "/api/v1/audit", "", "401 403 403 403 403 403 200", "403 403 403 200",
     "403 403 403 200"},
    {"GET /api/v1/tokens", "/api/v1/tokens", "", "401 403 403 403 403 403 200", "403 403 403 200",
     "403 403 403 200"},
    {"POST /api/v1/tokens", "/api/v1/tokens", R"({"name":"x","role":"ops"})", "401 403 403 403 403 403 201",
     "403 403 403 201", "403 403 403 403"},
    {"DELETE /api/v1/tokens/{id}", "/api/v1/tokens/$TOKEN", "", "401 403 403 403 403 403 204",
     "403 403 403 204", "403 403 403 403"},
    {"POST /api/v1/tokens/{id}/rotate", "/api/v1/tokens/$TOKEN/rotate", "", "401 403 403 403 403 403 201",
     "403 403 403 201", "403 403 403 403"},
    {"GET /api/v1/session", "/api/v1/session", "", "401 403 403 200 200 200 200", "200 200 200 200",
     "200 200 200 200"},
    // Signing in looks at the body only, whoever one was before.
    {"POST /api/v1/session", "/api/v1/session", R"({"token":"$SECRET"})", "204 204 204 204 204 204 204",
     "204 204 204 204", "204 204 204 204"},
    {"DELETE /api/v1/session", "/api/v1/session", "", "401 403 403 204 204 204 204", "204 204 204 204",
     "403 403 403 403"},
    // As a plain request; the stream itself is TheStreamIsForReaders.
    {"GET /api/v1/stream", "/api/v1/stream", "", "401 403 403 400 400 400 400", "400 400 400 400",
     "400 400 400 400"},
    {"GET /login", "/login?code=$CODE", "", "303 303 303 303 303 303 303", "303 303 303 303",
     "303 303 303 303"},
    {"GET /api/v1/sign-in", "/api/v1/sign-in", "", kOpenBearer, kOpenCookie, kOpenCookie},
    // Not configured here; see sso_test.
    {"GET /login/sso", "/login/sso", "", "404 404 404 404 404 404 404", "404 404 404 404", "404 404 404 404"},
    {"GET /login/sso/callback", "/login/sso/callback", "", "404 404 404 404 404 404 404", "404 404 404 404",
     "404 404 404 404"},
    {"GET /healthz", "/healthz", "", kOpenBearer, kOpenCookie, kOpenCookie},
    {"GET /readyz", "/readyz", "", kOpenBearer, kOpenCookie, kOpenCookie},
    // From another machine; loopback needs nobody.
    {"GET /metrics", "/metrics", "", "401 403 403 200 403 403 200", "200 403 403 200", "200 403 403 200"},
    {"GET /api/openapi.json", "/api/openapi.json", "", kOpenBearer, kOpenCookie, kOpenCookie},
};

enum class Way : std::uint8_t { bearer, cookie, cookie_without_csrf };

struct Who {
  const char* name;
  std::optional<Role> role;  ///< nullopt = nobody
  const char* team;
};
constexpr std::array<Who, 7> kWho{{{"nobody", std::nullopt, ""},
                                   {"agent", Role::agent, ""},
                                   {"cluster", Role::cluster, ""},
                                   {"viewer", Role::viewer, ""},
                                   {"tenant of the team", Role::tenant, "vision"},
                                   {"tenant of another team", Role::tenant, "language"},
                                   {"ops", Role::ops, ""}}};
constexpr std::size_t kFirstWithCookie = 3;

/// A server of its own for each question: some of them change what the next would see.
class World final : public ApiTest {
 public:
  World() {
    const auto ops = token(Role::ops);
    call("POST", "/api/v1/tasks", ops, R"({"task_id":"t1","team":"vision","group_id":"g1"})");
    call("POST", "/api/v1/tasks", ops, R"({"task_id":"t3","team":"language","group_id":"g2"})");
    one_minute("n1", {"t1"});
    one_minute("n2", {"t3"});
  }
  void TestBody() override {}

  net::Request ask(const std::string& route, const std::string& target, const std::string& body,
                   const Who& who, Way way) {
    auto made = request(route.substr(0, route.find(' ')), filled(target), {}, filled(body));
    if (!who.role) return made;
    const auto secret = token(*who.role, who.team);
    if (way == Way::bearer) {
      made.headers["authorization"] = "Bearer " + secret;
      return made;
    }
    const auto principal = api_->access().by_token(secret);
    made.headers["cookie"] = "tidewatt_session=" + *api_->access().open_session(**principal);
    if (way == Way::cookie) made.headers["x-tidewatt-csrf"] = "1";
    return made;
  }
  net::Response answer(const net::Request& made) { return api_->handle(made); }
  Api& api() { return *api_; }
  std::string token_of(Role role) { return token(role); }
  net::Response answer_cluster(const net::Request& made) { return api_->handle_cluster(made); }
  net::Response post_session(const std::string& secret) {
    return call("POST", "/api/v1/session", {}, Json{{"token", secret}}.dump());
  }

 private:
  std::string filled(std::string text) {
    const auto fill = [&text](std::string_view mark, const auto& value) {
      if (const auto at = text.find(mark); at != std::string::npos) text.replace(at, mark.size(), value());
    };
    fill("$TOKEN", [this] {
      return api_->access().create_token("victim", Role::viewer, {}, std::nullopt, "test")->record.id;
    });
    fill("$SECRET", [this] { return token(Role::viewer); });
    fill("$CODE", [this] { return api_->access().make_login_code(); });
    fill("$BEAT", [] { return beat("n1", "2026-03-01T10:01:05Z", 360); });
    return text;
  }
};

std::vector<int> numbers(const char* text) {
  std::istringstream stream{text};
  std::vector<int> all;
  for (int value = 0; stream >> value;) all.push_back(value);
  return all;
}

TEST(AccessMatrix, EachRoleGetsTheWantedStatusOnEachRouteByEachWay) {
  for (const auto& row : kRows) {
    const auto column = [&row](const char* wanted_text, Way way, std::size_t first) {
      const auto wanted = numbers(wanted_text);
      ASSERT_EQ(wanted.size(), kWho.size() - first) << row.route;
      for (std::size_t i = first; i < kWho.size(); ++i) {
        World world;
        const auto answer = world.answer(world.ask(row.route, row.target, row.body, kWho.at(i), way));
        EXPECT_EQ(answer.status, wanted[i - first])
            << row.route << " as " << kWho.at(i).name << ", way " << static_cast<int>(way) << ": "
            << answer.body.substr(0, 200);
        if (way == Way::cookie_without_csrf && answer.status == 403 &&
            std::string_view{row.cookie} != row.no_csrf) {
          EXPECT_NE(answer.body.find("X-Tidewatt-CSRF"), std::string::npos) << row.route << answer.body;
        }
      }
    };
    column(row.bearer, Way::bearer, 0);
    column(row.cookie, Way::cookie, kFirstWithCookie);
    column(row.no_csrf, Way::cookie_without_csrf, kFirstWithCookie);
  }
}

TEST(AccessMatrix, HasOneRowForEachRouteAndNoOther) {
  std::multiset<std::string> rows;
  for (const auto& row : kRows) rows.insert(row.route);
  std::multiset<std::string> routes;
  for (const auto& route : route_table())
    routes.insert(std::string{route.method} + " " + std::string{route.path});
  EXPECT_EQ(rows, routes);
}

class OpenSink final : public net::EventSink {
 public:
  bool send(std::string_view, std::string_view) override { return true; }
  [[nodiscard]] bool open() const override { return true; }
};

TEST(AccessMatrix, TheStreamIsForReaders) {
  const std::array<int, 7> wanted{401, 403, 403, 200, 200, 200, 200};
  for (std::size_t i = 0; i < kWho.size(); ++i)
    for (const auto way : {Way::bearer, Way::cookie, Way::cookie_without_csrf}) {
      if (way != Way::bearer && i < kFirstWithCookie) continue;
      World world;
      const auto made = world.ask("GET /api/v1/stream", "/api/v1/stream", "", kWho.at(i), way);
      const auto refusal = world.api().open_stream(made, std::make_shared<OpenSink>());
      EXPECT_EQ(refusal ? refusal->status : 200, wanted.at(i)) << kWho.at(i).name;
    }
}

TEST(AccessMatrix, ProgramsGetNoSession) {
  World world;
  for (const auto role : {Role::agent, Role::cluster})
    EXPECT_EQ(world.post_session(world.token_of(role)).status, 401) << to_string(role);
}

TEST(AccessMatrix, TheClusterListenerServesItsRoutesAloneAndAsksNobody) {
  World world;
  const std::set<std::string> wanted{"GET /healthz",
                                     "GET /readyz",
                                     "POST /k8s/extender/filter",
                                     "POST /k8s/extender/prioritize",
                                     "POST /k8s/admission/mutate",
                                     "POST /k8s/admission/validate"};
  std::set<std::string> served;
  for (const auto& row : kRows) {
    const auto answer =
        world.answer_cluster(world.ask(row.route, row.target, row.body, kWho.back(), Way::bearer));
    if (answer.status != 404) served.insert(row.route);
    const auto nobody =
        world.answer_cluster(world.ask(row.route, row.target, row.body, kWho.front(), Way::bearer));
    EXPECT_EQ(nobody.status, answer.status) << row.route;
  }
  EXPECT_EQ(served, wanted);
}

}  // namespace
}  // namespace tidewatt::api
