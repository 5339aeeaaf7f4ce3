// Reports over a real ledger: what is in them, for whom, and what a correction after the seal changes.
#include "api_fixture.h"
#include "tidewatt/carbon/signals.h"

namespace tidewatt::api {
namespace {

using testing::at;
using testing::Json;

/// A zone whose hours are known but for one.
class OneZone final : public carbon::Signals {
 public:
  carbon::SeriesIdentity identity{"DE", carbon::SignalKind::average, carbon::SignalBoundary::direct,
                                  carbon::SignalBasis::consumption};
  std::vector<carbon::StoredPoint> points;

  void tell(std::string_view start, double grams, std::string_view fetched) {
    carbon::StoredPoint stored;
    stored.point.start = at(start);
    stored.point.end = stored.point.start + std::chrono::hours{1};
    stored.point.intensity = carbon::CarbonIntensity{grams};
    stored.point.quality = carbon::SignalQuality::measured;
    stored.point.series = identity;
    stored.fetched_at = at(fetched);
    points.push_back(stored);
  }
  [[nodiscard]] std::vector<carbon::ZoneStatus> zones() const override {
    carbon::ZoneStatus status;
    status.identity = identity;
    return {status};
  }
  [[nodiscard]] std::optional<carbon::ZoneStatus> zone(const std::string&) const override {
    return zones().front();
  }
  [[nodiscard]] std::optional<std::vector<carbon::StoredPoint>> history(const std::string&, const UtcRange&,
                                                                        bool) const override {
    return points;
  }
  [[nodiscard]] std::optional<carbon::ZoneForecast> forecast(const std::string&, int) const override {
    return std::nullopt;
  }
};

class AccountingTest : public testing::ApiTest {
 protected:
  AccountingTest() {
    clock_.advance(at("2026-03-01T12:00:00Z") - clock_.utc_now());
    zone_->tell("2026-03-01T10:00:00Z", 300, "2026-03-01T11:00:00Z");
    auto options = make_options();
    options.factor = configured_factor();
    options.factor.factor.boundary = carbon::SignalBoundary::direct;
    options.signals = zone_;
    restart(options);
    ops_ = token(Role::ops);
    call("POST", "/api/v1/tasks", ops_, R"({"task_id":"t1","team":"vision"})");
    call("POST", "/api/v1/tasks", ops_, R"({"task_id":"t2","team":"language"})");
    // 6 Wh in an hour with intensity, 6 Wh in one without.
    minute("2026-03-01T10:10", "t1");
    minute("2026-03-01T11:10", "t1");
  }
  void minute(const std::string& from, const std::string& task) {
    const auto begin = at(from + ":00Z");
    for (int i = 0; i <= 1; ++i)
      post(in_zone(beat("n1", format_rfc3339_short(begin + std::chrono::minutes{i}), 360, {task})));
  }
  static std::string in_zone(const std::string& beat) {
    auto json = Json::parse(beat);
    json["zone"] = "DE";
    return json.dump();
  }
  Json report(const std::string& query, const std::string& who) {
    const auto response = call("GET", "/api/v1/reports/2026-03" + query, who);
    EXPECT_EQ(response.status, 200) << response.body;
    return Json::parse(response.body, nullptr, false);
  }
  std::shared_ptr<OneZone> zone_ = std::make_shared<OneZone>();
  std::string ops_;
};

TEST_F(AccountingTest, BothMethodsStandBesideEachOtherWithTheUncoveredHourDisclosed) {
  const auto total = report("", ops_)["total"];
  // The gap between the two minutes is booked as one: see coverage. What counts here is what was booked.
  const double kwh = total["energy_kwh"];
  const auto& carbon = total["carbon"];
  EXPECT_NEAR(carbon["annual_factor"]["kgco2e"]["value"].get<double>(), kwh * 0.5, 1e-12);
  const auto& hourly = carbon["hourly_signal"];
  EXPECT_EQ(hourly["uncovered_hours"], 1);
  EXPECT_NEAR(hourly["kgco2e"]["value"].get<double>(), hourly["covered_kwh"].get<double>() * 0.3, 1e-12);
  EXPECT_NEAR(hourly["covered_kwh"].get<double>() + hourly["uncovered_kwh"].get<double>(), kwh, 1e-12);
  EXPECT_GT(hourly["uncovered_kwh"].get<double>(), 0);
}

TEST_F(AccountingTest, ACorrectionAfterTheSealIsALineOfItsOwn) {
  const auto before = report("", ops_);
  EXPECT_EQ(before["sealed"], false);
  clock_.advance(at("2026-04-10T00:00:00Z") - clock_.utc_now());
  ASSERT_EQ(call("POST", "/api/v1/ledger/seals", ops_, R"({"month":"2026-03"})").status, 200);
  const auto sealed = report("", ops_);
  EXPECT_EQ(sealed["sealed"], true);
  EXPECT_EQ(sealed["total"]["energy_uj"], before["total"]["energy_uj"]);
  const auto bytes = call("GET", "/api/v1/reports/2026-03", ops_).body;
  // Another node's spool arrives late, and the provider restates the hour.
  post(in_zone(beat("n2", "2026-03-01T10:10:00Z", 360, {"t1"})));
  post(in_zone(beat("n2", "2026-03-01T10:11:00Z", 360, {"t1"})));
  zone_->tell("2026-03-01T10:00:00Z", 900, "2026-04-11T00:00:00Z");
  const auto late = report("", ops_)["total"];
  EXPECT_EQ(late["energy_uj"], sealed["total"]["energy_uj"]);
  EXPECT_EQ(late["carbon"], sealed["total"]["carbon"]);
  ASSERT_TRUE(late["adjustments"].is_object()) << late.dump();
  EXPECT_EQ(late["adjustments"]["energy_uj"], "21600000000");
  EXPECT_NEAR(late["adjustments"]["annual_factor_kgco2e"]["value"].get<double>(), 0.003, 1e-12);
  EXPECT_NEAR(late["adjustments"]["hourly_signal_kgco2e"]["value"].get<double>(), 0.0018, 1e-12);
}

TEST_F(AccountingTest, WhatAMoveSavedIsToldOnceItsBaselineIsRecorded) {
  const auto saved = [&] { return report("?scope=team&id=vision", ops_)["total"]["carbon"]["savings"]; };
  EXPECT_EQ(saved()["attributional_kgco2e"]["reason"], "no_move_recorded");
  const auto told =
      call("POST", "/api/v1/tasks", ops_,
           R"({"task_id":"t1","team":"vision","would_have_started_at":"2026-03-01T08:30:00Z"})");
  EXPECT_EQ(Json::parse(told.body)["would_have_started_at"], "2026-03-01T08:30:00Z");
  EXPECT_EQ(saved()["attributional_kgco2e"]["reason"], "no_intensity_of_baseline");
  const auto hourly = report("?scope=team&id=vision", ops_)["total"]["carbon"]["hourly_signal"];
  for (const auto& [hour, grams] : {std::pair{"08", 500}, std::pair{"09", 700}, std::pair{"11", 100}})
    zone_->tell("2026-03-01T" + std::string{hour} + ":00:00Z", grams, "2026-03-01T11:00:00Z");
  // At 10 h 300 g instead of 500 g, at 11 h, which was the uncovered one, 100 g instead of 700 g.
  EXPECT_NEAR(saved()["attributional_kgco2e"]["value"].get<double>(),
              hourly["covered_kwh"].get<double>() * 0.2 + hourly["uncovered_kwh"].get<double>() * 0.6, 1e-12);
  // Told once, it stays.
  call("POST", "/api/v1/tasks", ops_,
       R"({"task_id":"t1","team":"vision","finished_at":"2026-03-01T12:00:00Z"})");
  EXPECT_EQ(saved()["moved_tasks"], 1);
}

TEST_F(AccountingTest, TheSameQuestionGetsTheSameBytesInEachFormat) {
  for (const auto* format : {"json", "csv", "md", "html"}) {
    const auto target = std::string{"/api/v1/reports/2026-03?scope=team&format="} + format;
    const auto first = call("GET", target, ops_);
    EXPECT_EQ(first.status, 200);
    EXPECT_EQ(first.body, call("GET", target, ops_).body);
  }
}

TEST_F(AccountingTest, ATenantSeesItsOwnTeamAndNothingOfTheSite) {
  const auto vision = token(Role::tenant, "vision");
  const auto language = token(Role::tenant, "language");
  EXPECT_EQ(report("", vision)["lines"].size(), 1U);
  EXPECT_EQ(report("", vision)["lines"][0]["id"], "vision");
  EXPECT_TRUE(report("?scope=task&id=t1", language)["lines"].empty());
  EXPECT_TRUE(report("?scope=team&id=vision", language)["lines"].empty());
  EXPECT_TRUE(report("", language)["unattributed_kwh"].is_null());
  for (const auto* scope : {"cluster", "node"})
    EXPECT_EQ(call("GET", std::string{"/api/v1/reports/2026-03?scope="} + scope, vision).status, 403);
}

TEST_F(AccountingTest, WithoutAFactorOnlyOperatorsSeeCarbon) {
  auto options = make_options();
  options.signals = zone_;
  restart(options);
  const auto viewer = report("", token(Role::viewer));
  EXPECT_EQ(viewer["carbon_hidden_reason"], "no_factor_configured");
  EXPECT_FALSE(viewer["total"].contains("carbon"));
  EXPECT_TRUE(report("", ops_)["total"].contains("carbon"));
}

TEST_F(AccountingTest, WhatCantBeAskedIsSaid) {
  for (const auto& [target, what] : {std::pair{"/api/v1/reports/November", "2026-Q4"},
                                     std::pair{"/api/v1/reports/2026-03?scope=rack", "task_group"},
                                     std::pair{"/api/v1/reports/2026-03?format=pdf", "html"},
                                     std::pair{"/api/v1/reports/2026-03?simulated=yes", "leave_out"},
                                     std::pair{"/api/v1/carbon/accounting?range=400d", "366 days"}}) {
    const auto refused = call("GET", target, ops_);
    EXPECT_EQ(refused.status, 400) << target;
    EXPECT_NE(refused.body.find(what), std::string::npos) << refused.body;
  }
  EXPECT_EQ(call("GET", "/api/v1/carbon/accounting?range=24h&scope=node&id=n1", ops_).status, 200);
}

}  // namespace
}  // namespace tidewatt::api
