// What people and agents are told when something fails within the server, or is about to.
#include "api_fixture.h"
#include "tidewatt/testing/faulty_store.h"

namespace tidewatt::api {
namespace {

using testing::ApiTest;
using testing::at;
using ::testing::HasSubstr;
using testing::Json;
using ::testing::Not;

class TroubleTest : public ApiTest {
 protected:
  TroubleTest() { api_ = std::make_unique<Api>(faulty_, faulty_ledger_, clock_, rng_, make_options()); }

  Json alert_of(const std::string& kind) {
    const auto stats = get("/api/v1/dashboard/stats", token(Role::ops));
    for (const auto& alert : stats.at("alerts"))
      if (alert.at("kind") == kind) return alert;
    return nullptr;
  }

  ::tidewatt::testing::FaultyStore faulty_{*store_};
  ledger::Ledger faulty_ledger_{faulty_, ledger::Rules{}};
  const Error away_{ErrorCode::unavailable, "PostgreSQL at db.internal:5432/tidewatt: connection refused",
                    "wait"};
};

TEST_F(TroubleTest, WhereTheStoreLiesIsForOperatorsOnly) {
  const auto ops = token(Role::ops);
  const auto agent = token(Role::agent);
  ASSERT_EQ(call("GET", "/api/v1/tokens", ops).status, 200);  // the list of tokens is remembered
  faulty_.ping_fails = faulty_.cursor_fails = away_;
  const auto ready = call("GET", "/readyz");
  EXPECT_EQ(ready.status, 503);
  EXPECT_THAT(ready.body, Not(HasSubstr("db.internal")));
  EXPECT_THAT(ready.body, HasSubstr("its log"));
  EXPECT_TRUE(ready.headers.contains("retry-after"));
  EXPECT_FALSE(ready.headers.contains("x-inner-failure"));
  const auto booked = call("POST", "/api/v1/heartbeats", agent, beat("n1", "2026-03-01T10:01:00Z", 100));
  EXPECT_THAT(booked.body, HasSubstr("retry"));
  EXPECT_THAT(booked.body, Not(HasSubstr("db.internal")));
  EXPECT_THAT(call("POST", "/api/v1/heartbeats", ops, beat("n1", "2026-03-01T10:01:00Z", 100)).body,
              HasSubstr("db.internal"));
  faulty_.tokens_fail = away_;
  EXPECT_THAT(call("GET", "/api/v1/tokens", ops).body, HasSubstr("db.internal"));
  // Once the list is forgotten nobody is known to be an operator.
  clock_.advance(Milliseconds{60'000});
  const auto unknown = call("GET", "/api/v1/nodes", ops);
  EXPECT_EQ(unknown.status, 503);
  EXPECT_THAT(unknown.body, Not(HasSubstr("db.internal")));
}

TEST_F(TroubleTest, LostCommitsAreToldWhereverSomebodyLooks) {
  EXPECT_EQ(call("GET", "/readyz").body, "ready\n");
  faulty_.damaged.push_back(
      {at("2026-03-01T09:00:00Z"), 17, "/data/tidewatt.db-wal.damaged-20260301T090000Z"});
  const auto ready = call("GET", "/readyz");
  EXPECT_EQ(ready.status, 200) << "it books and answers";
  EXPECT_THAT(ready.body, HasSubstr("damaged"));
  EXPECT_THAT(ready.body, Not(HasSubstr("/data")));
  EXPECT_THAT(call("GET", "/metrics", token(Role::ops)).body, HasSubstr("tidewatt_ledger_lost_commits 17\n"));
  const auto alert = alert_of("ledger_damaged");
  ASSERT_TRUE(alert.is_object());
  EXPECT_THAT(alert.at("text").get<std::string>(), HasSubstr("tidewatt.db-wal.damaged-20260301T090000Z"));
}

TEST_F(TroubleTest, ANodeWhoseBeatsAreTooOldSaysSoAndWhatToDo) {
  const auto sample = [](const std::string& boot, int seq, const std::string& time, int monotonic_s) {
    auto beat = Json::parse(ApiTest::beat("n1", time, 100));
    beat["boot_id"] = boot;
    beat["agent_id"] = "a";
    beat["seq"] = seq;
    beat["monotonic_ms"] = monotonic_s * 1000;
    return beat.dump();
  };
  post(sample("b1", 1, "2026-03-01T10:00:50Z", 1'000));
  post(sample("b1", 2, "2026-03-01T10:01:10Z", 1'020));
  for (int i = 0; i < 5; ++i) {
    clock_.advance(Milliseconds{20'000});
    post(sample("b2", i + 1, "2026-03-01T09:0" + std::to_string(i) + ":30Z", 50 + 20 * i));
    if (i == 0) {
      EXPECT_TRUE(alert_of("beats_stale").is_null()) << "beats that overtook each other are over sooner";
    }
  }
  const auto alert = alert_of("beats_stale");
  ASSERT_TRUE(alert.is_object());
  EXPECT_EQ(alert.at("subject"), "n1");
  EXPECT_THAT(alert.at("text").get<std::string>(), HasSubstr("chronyc"));
  const auto energy = get("/api/v1/nodes/n1/energy?range=24h", token(Role::ops));
  EXPECT_THAT(energy.at("notes").dump(), HasSubstr("beats_stale"));
  const auto node = get("/api/v1/nodes/n1", token(Role::ops));
  EXPECT_THAT(node.at("devices").at(0).at("reason").get<std::string>(), HasSubstr("no energy is booked"));
}

TEST_F(TroubleTest, ACertificateThatEndsSoonIsAnAlertAndAMetric) {
  net::ServerStats stats;
  api_->set_server_stats([&stats] { return stats; });
  EXPECT_TRUE(alert_of("certificate_ends").is_null()) << "no TLS";
  stats.certificate_end = clock_.utc_now() + std::chrono::hours{24 * 30};
  EXPECT_TRUE(alert_of("certificate_ends").is_null());
  stats.certificate_end = clock_.utc_now() + std::chrono::hours{24 * 20};
  const auto alert = alert_of("certificate_ends");
  ASSERT_TRUE(alert.is_object());
  EXPECT_THAT(alert.at("text").get<std::string>(), HasSubstr("2026-03-21"));
  EXPECT_THAT(call("GET", "/metrics", token(Role::ops)).body,
              HasSubstr("tidewatt_tls_certificate_end_timestamp_seconds 1774"));
}

TEST_F(TroubleTest, NamesThatAreStoredHoldNoControlCharacters) {
  const auto ops = token(Role::ops);
  for (const auto* body :
       {R"({"task_id":"a\nb"})", R"({"task_id":"a","team":"\u001b[31m"})",
        R"({"task_id":"a","group_id":"\u202e"})", R"({"task_id":"a","cluster":"c\u0085"})"}) {
    const auto refused = call("POST", "/api/v1/tasks", ops, body);
    EXPECT_EQ(refused.status, 400) << body;
    EXPECT_THAT(refused.body, HasSubstr("control characters")) << body;
  }
  EXPECT_EQ(call("POST", "/api/v1/tasks/a%0Ab/events", ops, R"({"event":"started"})").status, 400);
  EXPECT_EQ(call("POST", "/api/v1/tokens", ops, R"({"name":"x","role":"tenant","team":"a\nb"})").status, 400);
  EXPECT_EQ(call("POST", "/api/v1/tasks", ops, R"({"task_id":"训练/é"})").status, 201);
}

}  // namespace
}  // namespace tidewatt::api
