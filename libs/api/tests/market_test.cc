// Quotas, admission and the market over HTTP, with measured carbon from booked beats.
#include "api_fixture.h"

namespace tidewatt::api {
namespace {

using testing::ApiTest;
using ::testing::HasSubstr;
using testing::Json;

class MarketApi : public ApiTest {
 protected:
  MarketApi() {
    auto options = make_options();
    options.factor = configured_factor();  // 0.5 kg/kWh
    restart(options);
    ops_ = token(Role::ops);
    vision_ = token(Role::tenant, "vision");
    speech_ = token(Role::tenant, "speech");
  }
  Json send(const std::string& path, const Json& body, const std::string& who, int status = 201) {
    const auto answer = call("POST", "/api/v1" + path, who, body.dump());
    EXPECT_EQ(answer.status, status) << path << ": " << answer.body;
    return Json::parse(answer.body, nullptr, false);
  }
  void allot(const std::string& team, double kg) {
    send("/quotas", {{"team", team}, {"budget_kg", kg}, {"key", "allot " + team}}, ops_);
  }
  Json quota(const std::string& team) {
    const auto rows = get("/api/v1/quotas?team=" + team, ops_).at("quotas");
    return rows.empty() ? Json() : rows.at(0);
  }

  std::string ops_, vision_, speech_;
};

TEST_F(MarketApi, ABudgetIsUsedByWhatIsMeasured) {
  allot("vision", 0.010);
  call("POST", "/api/v1/tasks", ops_, R"({"task_id":"t1","team":"vision"})");
  const auto admitted = send("/admission", {{"task_id", "t1"}, {"energy_kwh", 0.012}}, vision_, 200);
  EXPECT_EQ(admitted.at("reason"), "within_budget");
  EXPECT_EQ(admitted.at("estimate_g"), 6);
  EXPECT_EQ(quota("vision").at("reserved_kg"), 0.006);
  one_minute("n1", {"t1"});  // 6 Wh: 3 g
  ASSERT_TRUE(api_->housekeep());
  EXPECT_EQ(quota("vision").at("used_kg"), 0.003);
  EXPECT_EQ(quota("vision").at("reserved_kg"), 0.003) << "what was measured took its place";
  EXPECT_EQ(quota("vision").at("remaining_kg"), 0.004);
  call("POST", "/api/v1/tasks/t1/events", ops_, R"({"event":"finished","at":"2026-03-01T10:01:10Z"})");
  clock_.advance(std::chrono::seconds{30});  // the next round of the desk
  ASSERT_TRUE(api_->housekeep());
  EXPECT_EQ(quota("vision").at("reserved_kg"), 0);
  EXPECT_EQ(quota("vision").at("remaining_kg"), 0.007);
  EXPECT_EQ(quota("vision").at("utilization"), 0.3);
}

TEST_F(MarketApi, ADryRunChargesNothingAndARefusalSaysWhatToDo) {
  allot("vision", 1);
  const auto dry = send("/admission", {{"estimate_kg", 0.4}, {"dry_run", true}}, vision_, 200);
  EXPECT_EQ(dry.at("allowed"), true);
  EXPECT_TRUE(dry.at("reservation_id").is_null());
  EXPECT_EQ(quota("vision").at("reserved_kg"), 0);
  const auto refused = send("/admission", {{"task_id", "big"}, {"estimate_kg", 2}}, vision_, 200);
  EXPECT_EQ(refused.at("allowed"), false);
  EXPECT_EQ(refused.at("reason"), "over_budget");
  EXPECT_EQ(refused.at("remaining_kg"), 1);
  EXPECT_THAT(refused.at("advice").get<std::string>(), HasSubstr("1 kg left"));
  EXPECT_EQ(
      send("/admission", {{"task_id", "big"}, {"estimate_kg", 2}, {"priority", "critical"}}, vision_, 200)
          .at("reason"),
      "critical");
  EXPECT_EQ(quota("vision").at("overdraft_kg"), 1);
  EXPECT_EQ(quota("vision").at("remaining_kg"), 0);
}

TEST_F(MarketApi, TheSameTaskIsChargedOnceAndWhatNeverStartsComesBack) {
  allot("vision", 1);
  const Json ask{{"task_id", "t1"}, {"estimate_kg", 0.4}};
  const auto first = send("/admission", ask, vision_, 200);
  EXPECT_EQ(send("/admission", ask, vision_, 200).at("reservation_id"), first.at("reservation_id"));
  EXPECT_EQ(quota("vision").at("reserved_kg"), 0.4);
  clock_.advance(std::chrono::hours{24});
  ASSERT_TRUE(api_->housekeep());
  EXPECT_EQ(quota("vision").at("reserved_kg"), 0);
  // By hand at once.
  const auto other = send("/admission", {{"task_id", "t2"}, {"estimate_kg", 0.4}}, vision_, 200);
  const auto path = "/api/v1/admission/" + std::to_string(other.at("reservation_id").get<int>());
  EXPECT_EQ(call("DELETE", path, speech_).status, 404) << "another team's";
  EXPECT_EQ(call("DELETE", path, vision_).status, 204);
  EXPECT_EQ(quota("vision").at("remaining_kg"), 1);
}

TEST_F(MarketApi, TeamsTradeAndARepeatedRequestTradesOnce) {
  allot("vision", 100), allot("speech", 10);
  send("/market/money", {{"team", "speech"}, {"amount", 50}, {"key", "m"}}, ops_);
  const auto offer =
      send("/market/offers", {{"amount_kg", 30}, {"price_per_kg", 0.5}, {"key", "o"}}, vision_);
  EXPECT_EQ(offer.at("order").at("left_kg"), 30);
  const Json bid{{"amount_kg", 20}, {"price_per_kg", 0.8}, {"key", "b"}};
  const auto done = send("/market/bids", bid, speech_);
  EXPECT_EQ(done.at("trades").at(0).at("cost"), 10) << "at the resting order's price";
  EXPECT_TRUE(done.at("trades").at(0).at("seller").is_null()) << "a tenant isn't told who sold";
  const auto again = send("/market/bids", bid, speech_, 200);
  EXPECT_EQ(again.at("repeated"), true);
  EXPECT_EQ(quota("speech").at("budget_kg"), 30);
  EXPECT_EQ(quota("speech").at("money").at("cash"), 40);
  EXPECT_EQ(quota("vision").at("budget_kg"), 80);
  auto other = bid;
  other["amount_kg"] = 21;
  send("/market/bids", other, speech_, 409);
  send("/market/bids", bid, vision_, 409);  // the key is its own; its own offer is what it would meet
  EXPECT_EQ(get("/api/v1/market/trades", vision_).at("trades").size(), 1U);
  EXPECT_EQ(get("/api/v1/market/offers", ops_).at("offers").at(0).at("left_kg"), 10);
  const auto id = std::to_string(offer.at("order").at("id").get<int>());
  EXPECT_EQ(call("DELETE", "/api/v1/market/orders/" + id, speech_).status, 404);
  EXPECT_EQ(call("DELETE", "/api/v1/market/orders/" + id, vision_).status, 204);
  EXPECT_EQ(get("/api/v1/market/history?limit=3", ops_).at("next_after"), 3);
}

TEST_F(MarketApi, ATenantActsForItsOwnTeam) {
  allot("vision", 100);
  send("/market/offers", {{"team", "vision"}, {"amount_kg", 1}, {"price_per_kg", 1}, {"key", "o"}}, speech_,
       403);
  send("/quotas/transfers", {{"team", "vision"}, {"to", "speech"}, {"amount_kg", 1}, {"key", "t"}}, speech_,
       403);
  EXPECT_TRUE(get("/api/v1/quotas?team=vision", speech_).at("quotas").empty());
  send("/quotas/transfers", {{"to", "speech"}, {"amount_kg", 1}, {"key", "t"}}, vision_);
  EXPECT_EQ(quota("speech").at("made_of").at("transferred_kg"), 1);
  send("/quotas", {{"team", "vision"}, {"budget_kg", 5}, {"key", "x"}}, vision_, 403);
  send("/market/offers", {{"amount_kg", 1}, {"price_per_kg", 1}}, vision_, 400);  // no key
}

TEST_F(MarketApi, AMonthEndsAtMidnight) {
  allot("vision", 100);
  clock_.advance(std::chrono::hours{31 * 24});
  ASSERT_TRUE(api_->housekeep());
  const auto march = get("/api/v1/quotas?month=2026-03", ops_).at("quotas").at(0);
  EXPECT_EQ(march.at("remaining_kg"), 0);
  EXPECT_EQ(march.at("expired_kg"), 100);
  EXPECT_EQ(send("/admission", {{"task_id", "t"}, {"estimate_kg", 1}}, vision_, 200).at("reason"),
            "no_budget");
}

TEST_F(MarketApi, WithoutAFactorEverybodyIsAllowedAndNothingIsShown) {
  restart(make_options());
  allot("vision", 1);
  const auto answer =
      send("/admission", {{"team", "vision"}, {"task_id", "t"}, {"estimate_kg", 9}}, ops_, 200);
  EXPECT_EQ(answer.at("allowed"), true);
  EXPECT_EQ(answer.at("reason"), "no_factor");
  EXPECT_TRUE(quota("vision").at("used_kg").is_null());
  EXPECT_TRUE(quota("vision").at("remaining_kg").is_null());
}

TEST_F(MarketApi, ABookOutlivesTheServer) {
  allot("vision", 1);
  send("/admission", {{"task_id", "t1"}, {"estimate_kg", 0.4}}, vision_, 200);
  auto options = make_options();
  options.factor = configured_factor();
  restart(options);
  EXPECT_EQ(quota("vision").at("reserved_kg"), 0.4);
}

TEST_F(MarketApi, KubernetesIsHeldToTheBudget) {
  allot("vision", 1);
  const auto cluster = token(Role::cluster);
  const auto review = [&](const std::string& verb, const std::string& uid, const char* kwh,
                          const Json& more = Json::object(), const Json& labels = Json::object()) {
    Json metadata{{"uid", "pod-" + uid}, {"labels", {{"team", "vision"}}}};
    metadata["labels"].update(labels);
    if (kwh != nullptr) metadata["annotations"] = {{"tidewatt.io/estimated-energy-kwh", kwh}};
    Json request{{"uid", uid},
                 {"kind", {{"group", ""}, {"version", "v1"}, {"kind", "Pod"}}},
                 {"namespace", "batch"},
                 {"operation", "CREATE"},
                 {"object", {{"metadata", metadata}, {"spec", Json::object()}}}};
    request.update(more);
    const Json body{{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", request}};
    const auto answer = call("POST", "/k8s/admission/" + verb, cluster, body.dump());
    EXPECT_EQ(answer.status, 200) << answer.body;
    return Json::parse(answer.body, nullptr, false).at("response");
  };
  EXPECT_EQ(review("validate", "a", "1.5", {{"dryRun", true}}).at("allowed"), true);
  EXPECT_EQ(quota("vision").at("reserved_kg"), 0) << "a dry run";
  EXPECT_EQ(review("validate", "a", "1.7").at("allowed"), true);
  EXPECT_EQ(review("validate", "a", "1.7").at("allowed"), true);
  EXPECT_EQ(quota("vision").at("reserved_kg"), 0.85) << "asked twice, charged once";
  const auto refused = review("validate", "b", "0.4");
  EXPECT_EQ(refused.at("allowed"), false);
  EXPECT_THAT(refused.at("status").at("message").get<std::string>(), HasSubstr("0.15 kg left"));
  EXPECT_EQ(review("validate", "c", nullptr).at("allowed"), true)
      << "without an estimate, while some is left";
  EXPECT_TRUE(review("mutate", "d", "0.1", Json::object(), {{"carbon-priority", "low"}}).contains("patch"));
  EXPECT_FALSE(review("mutate", "d", "0.1").contains("patch"));
  clock_.advance(std::chrono::hours{24});
  ASSERT_TRUE(api_->housekeep());
  EXPECT_EQ(quota("vision").at("reserved_kg"), 0) << "the pod never appeared";
}

}  // namespace
}  // namespace tidewatt::api
