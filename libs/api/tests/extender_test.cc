// The scheduler extender over booked beats and zones that a fake tells about.
#include "api_fixture.h"
#include "fixed_signals.h"

namespace tidewatt::api {
namespace {

using testing::ApiTest;
using testing::FixedSignals;
using testing::Json;

class Extender : public ApiTest {
 protected:
  Extender() {
    signals_->set("DE", 400);
    signals_->set("FR", 50);
    auto options = make_options();
    options.signals = signals_;
    options.kubernetes.nodes.node_budget = Watts{400};
    options.kubernetes.nodes.zone_of = {{"zone-a", "DE"}, {"zone-b", "FR"}};
    restart(options);
    cluster_ = token(Role::cluster);
  }
  static std::string node(const std::string& name, const std::string& zone) {
    return Json{{"metadata", {{"name", name}, {"labels", {{"topology.kubernetes.io/zone", zone}}}}}}.dump();
  }
  static std::string objects(const std::vector<std::string>& nodes,
                             const std::string& tolerance = "monthly") {
    std::string items;
    for (const auto& one : nodes) items += (items.empty() ? "" : ",") + one;
    return R"({"Pod":{"metadata":{"labels":{"carbon-tolerance":")" + tolerance +
           R"("}}},"Nodes":{"metadata":{},"items":[)" + items + R"(]},"NodeNames":null})";
  }
  Json ask(const std::string& verb, const std::string& body) {
    const auto answer = call("POST", "/k8s/extender/" + verb, cluster_, body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return Json::parse(answer.body, nullptr, false);
  }
  std::map<std::string, int> points(const std::string& body) {
    std::map<std::string, int> out;
    for (const auto& row : ask("prioritize", body)) out[row.at("Host")] = row.at("Score");
    return out;
  }
  using Points = std::map<std::string, int>;

  std::shared_ptr<FixedSignals> signals_ = std::make_shared<FixedSignals>();
  std::string cluster_;
};

TEST_F(Extender, CleanerNodesScoreHigher) {
  EXPECT_EQ(points(objects({node("a", "zone-a"), node("b", "zone-b")})), (Points{{"a", 2}, {"b", 8}}));
}

TEST_F(Extender, MeasuredPowerAgainstTheBudgetCounts) {
  one_minute("a");  // 360 W of 400 W
  EXPECT_EQ(
      points(R"({"Pod":{"metadata":{"labels":{"carbon-tolerance":"immediate"}}},"NodeNames":["a","new"]})"),
      (Points{{"a", 1}, {"new", 5}}));
}

TEST_F(Extender, ANodeAtItsBudgetIsFilteredOutWithTheReason) {
  post(beat("a", "2026-03-01T10:00:00Z", 400));
  post(beat("a", "2026-03-01T10:01:00Z", 400));
  const auto by_name = ask("filter", R"({"Pod":{},"Nodes":null,"NodeNames":["a","b"]})");
  EXPECT_EQ(by_name.at("NodeNames"), Json::array({"b"}));
  EXPECT_EQ(by_name.at("FailedNodes"), (Json{{"a", "power budget reached: 400 W of 400 W"}}));
  const auto whole = ask("filter", objects({node("a", "zone-a"), node("b", "zone-b")}));
  EXPECT_EQ(whole.at("Nodes").at("items"), Json::array({Json::parse(node("b", "zone-b"))}));
}

TEST_F(Extender, SilentAndPartlyKnownNodesHaveUnknownPower) {
  post(beat("a", "2026-03-01T10:00:00Z", 400));
  post(beat("b", "2026-03-01T10:01:00Z", std::nullopt));
  clock_.advance(Milliseconds{91'000});
  const auto body =
      R"({"Pod":{"metadata":{"labels":{"carbon-tolerance":"immediate"}}},"NodeNames":["a","b"]})";
  EXPECT_EQ(points(body), (Points{{"a", 5}, {"b", 5}}));
  EXPECT_EQ(ask("filter", body).at("FailedNodes"), Json::object());
}

TEST_F(Extender, DegradedSignalsLeavePowerAlone) {
  one_minute("a");
  signals_->set("DE", 400, "the provider fails");
  signals_->set("FR", 50, "the provider fails");
  EXPECT_EQ(points(objects({node("a", "zone-a"), node("b", "zone-b")})), (Points{{"a", 1}, {"b", 5}}));
}

TEST_F(Extender, SignalsAndNodesAreLookedAtAgain) {
  EXPECT_GT(points(objects({node("a", "zone-a"), node("b", "zone-b")}))["b"], 5);
  signals_->set("DE", 10);
  api_->renew_cluster_view();
  EXPECT_GT(points(objects({node("a", "zone-a"), node("b", "zone-b")}))["a"], 5);
  signals_->set("DE", 900);
  clock_.advance(Milliseconds{16'000});
  EXPECT_LT(points(objects({node("a", "zone-a"), node("b", "zone-b")}))["a"], 5);
}

TEST_F(Extender, OtherClustersNodesOfTheSameNameAreNotLookedAt) {
  auto other = Json::parse(beat("a", "2026-03-01T10:01:00Z", 400));
  other["cluster"] = "elsewhere";
  post(other.dump());
  EXPECT_EQ(ask("filter", R"({"NodeNames":["a"]})").at("FailedNodes"), Json::object());
}

TEST_F(Extender, NothingToChooseFromIsAnsweredNotRefused) {
  for (const char* body : {"{}", R"({"Pod":null,"Nodes":null,"NodeNames":null})", R"({"NodeNames":[]})"}) {
    EXPECT_EQ(ask("prioritize", body), Json::array());
    EXPECT_EQ(ask("filter", body).at("Error"), "");
  }
}

TEST_F(Extender, GarbageIsABadRequest) {
  for (const char* body : {"", "nope", "[1]", R"({"NodeNames":[7]})"})
    for (const char* verb : {"filter", "prioritize"})
      EXPECT_EQ(call("POST", std::string{"/k8s/extender/"} + verb, cluster_, body).status, 400) << body;
}

TEST_F(Extender, FiveThousandNodesKeepTheirOrder) {
  std::string names;
  for (int i = 0; i < 5'000; ++i) names += (i == 0 ? "\"n" : ",\"n") + std::to_string(i) + "\"";
  const auto all = ask("prioritize", R"({"NodeNames":[)" + names + "]}");
  ASSERT_EQ(all.size(), 5'000U);
  EXPECT_EQ(all.at(4'999).at("Host"), "n4999");
  EXPECT_EQ(ask("filter", R"({"NodeNames":[)" + names + "]}").at("NodeNames").size(), 5'000U);
}

}  // namespace
}  // namespace tidewatt::api
