// Spans over HTTP: whose they are, and that a task's energy is shared over them exactly.
#include "api_fixture.h"

namespace tidewatt::api {
namespace {

using testing::ApiTest;
using testing::at;
using testing::Json;

class OtlpTest : public ApiTest {
 protected:
  void SetUp() override {
    ops_ = token(Role::ops);
    sender_ = token(Role::agent);
    ASSERT_EQ(call("POST", "/api/v1/tasks", ops_, R"({"task_id":"shop","team":"web"})").status, 201);
  }

  /// Seconds after 10:00, in nanoseconds.
  static std::string ns(double s) {
    const auto ms =
        at("2026-03-01T10:00:00Z").time_since_epoch().count() + static_cast<std::int64_t>(s * 1000);
    return std::to_string(ms) + "000000";
  }
  static Json span(const std::string& id, double begin, double end, const std::string& name,
                   const std::string& parent = {}) {
    Json made{{"traceId", "0a0b0c0d010203040506070809101112"},
              {"spanId", id},
              {"name", name},
              {"kind", parent.empty() ? 2 : 1},
              {"startTimeUnixNano", ns(begin)},
              {"endTimeUnixNano", ns(end)}};
    if (!parent.empty()) made["parentSpanId"] = parent;
    return made;
  }
  static std::string body(const Json& attributes, const std::vector<Json>& spans) {
    Json list = Json::array();
    for (const auto& [key, value] : attributes.items())
      list.push_back({{"key", key}, {"value", {{"stringValue", value}}}});
    return Json{
        {"resourceSpans", {{{"resource", {{"attributes", list}}}, {"scopeSpans", {{{"spans", spans}}}}}}}}
        .dump();
  }
  net::Response send(const std::string& text, const std::string& bearer,
                     const std::string& type = "application/json") {
    auto made = request("POST", "/v1/traces", bearer, text);
    made.headers["content-type"] = type;
    return api_->handle(made);
  }
  Json endpoints(const std::string& task = "shop") {
    return get("/api/v1/tasks/" + task + "/endpoints?from=2026-03-01T10:00:00Z&to=2026-03-01T11:00:00Z",
               ops_);
  }
  static Json row(const Json& answer, const std::string& route) {
    for (const auto& one : answer.at("endpoints"))
      if (one.at("route") == route) return one;
    return nullptr;
  }
  static std::int64_t uj(const Json& value) { return std::stoll(value.get<std::string>()); }

  std::string ops_;
  std::string sender_;
};

TEST_F(OtlpTest, SpansAndNoSpanAreTheTasksEnergyToTheMicrojoule) {
  const Json shop{{"service.name", "shop"}, {"tidewatt.task_id", "shop"}};
  post(beat("n1", "2026-03-01T10:00:00Z", 360.001, {"shop"}));
  EXPECT_EQ(send(body(shop, {span("0000000000000001", 1, 2, "GET /early")}), sender_).body, "{}");
  post(beat("n1", "2026-03-01T10:00:10Z", 360.001, {"shop"}));  // the first interval is left out
  EXPECT_EQ(send(body(shop, {span("0000000000000002", 10, 16, "GET /a"),
                             span("0000000000000003", 12, 15, "query", "0000000000000002"),
                             span("0000000000000004", 15, 18, "GET /b")}),
                 sender_)
                .body,
            "{}");
  post(beat("n1", "2026-03-01T10:00:20Z", 360.001, {"shop"}));
  const auto answer = endpoints();
  EXPECT_EQ(answer.at("energy_uj"), "7200020000");
  EXPECT_EQ(answer.at("not_observed_energy_uj"), "3600010000");
  EXPECT_EQ(answer.at("no_span_energy_uj"), "720002000");
  EXPECT_EQ(uj(row(answer, "GET /a").at("energy_uj")) + uj(row(answer, "GET /b").at("energy_uj")) +
                uj(answer.at("no_span_energy_uj")),
            3'600'010'000);
  EXPECT_EQ(answer.at("spans_energy_uj"), "2880008000");
  EXPECT_EQ(row(answer, "GET /a").at("requests"), 1);
  EXPECT_EQ(row(answer, "GET /a").at("energy_per_request_uj"), row(answer, "GET /a").at("energy_uj"));
  EXPECT_EQ(row(answer, "GET /a").at("coverage"), 1.0);
  EXPECT_EQ(row(answer, "GET /early").at("energy_uj"), nullptr);
  EXPECT_EQ(row(answer, "GET /early").at("energy_per_request_uj"), nullptr);
  EXPECT_EQ(answer.at("attribution"), "estimated");
  const auto traces = get("/api/v1/tasks/shop/traces", ops_).at("traces");
  ASSERT_EQ(traces.size(), 1U);
  EXPECT_EQ(traces[0].at("trace_id"), "0a0b0c0d010203040506070809101112");
  EXPECT_EQ(traces[0].at("energy_uj"), "2880008000");
  EXPECT_EQ(traces[0].at("spans"), 4);
}

TEST_F(OtlpTest, APodIsFoundByWhatItsAgentCallsIt) {
  one_minute("n2", {"pod/u-1"});
  EXPECT_EQ(send(body({{"service.name", "x"}, {"k8s.pod.uid", "u-1"}}, {span("0000000000000001", 1, 2, "a")}),
                 sender_)
                .body,
            "{}");
  EXPECT_EQ(endpoints("pod%2Fu-1").at("endpoints").size(), 1U);
  // And a service by its name, where there is such a task.
  EXPECT_EQ(send(body({{"service.name", "shop"}}, {span("0000000000000002", 1, 2, "b")}), sender_).body,
            "{}");
  EXPECT_EQ(endpoints().at("endpoints").at(0).at("route"), "b");
}

TEST_F(OtlpTest, SpansOfNobodysTaskAreRejectedAloneAndTold) {
  const auto answer = Json::parse(
      send(body({{"service.name", "unheard-of"}}, {span("0000000000000001", 1, 2, "a")}), sender_).body);
  EXPECT_EQ(answer.at("partialSuccess").at("rejectedSpans"), "1");
  EXPECT_NE(answer.at("partialSuccess").at("errorMessage").get<std::string>().find("tidewatt.task_id"),
            std::string::npos);
}

TEST_F(OtlpTest, ATenantSendsSpansOfItsOwnTasksAlone) {
  const Json shop{{"service.name", "shop"}, {"tidewatt.task_id", "shop"}};
  const auto text = body(shop, {span("0000000000000001", 1, 2, "a")});
  EXPECT_NE(send(text, token(Role::tenant, "other")).body, "{}");
  EXPECT_EQ(endpoints().at("endpoints").size(), 0U);
  EXPECT_EQ(send(text, token(Role::tenant, "web")).body, "{}");
  EXPECT_EQ(endpoints().at("endpoints").size(), 1U);
  EXPECT_EQ(send(text, token(Role::viewer)).status, 403);
  EXPECT_EQ(send(text, {}).status, 401);
}

TEST_F(OtlpTest, OtherBodiesAreRefused) {
  EXPECT_EQ(send("{}", sender_, "text/plain").status, 415);
  EXPECT_EQ(send("x", sender_).status, 400);
  const auto refused = send("\x08\x01", sender_, "application/x-protobuf");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.headers.at("content-type"), "application/x-protobuf");
  EXPECT_EQ(send("", sender_, "application/x-protobuf").status, 200);
}

TEST_F(OtlpTest, WithoutSpansThereIsAReasonAndNoZero) {
  one_minute("n1", {"shop"});
  const auto answer = endpoints();
  EXPECT_EQ(answer.at("reason"), "no_spans");
  EXPECT_EQ(answer.at("spans_energy_uj"), nullptr);
  EXPECT_EQ(answer.at("no_span_energy_uj"), nullptr);
  EXPECT_EQ(answer.at("not_observed_energy_uj"), answer.at("energy_uj"));
}

}  // namespace
}  // namespace tidewatt::api
