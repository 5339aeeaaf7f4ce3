// Routes, alerts and metrics over zones that a fake tells about.
#include "tidewatt/carbon/signals.h"

#include "api_fixture.h"

namespace tidewatt::api {
namespace {

using testing::ApiTest;
using ::testing::HasSubstr;
using testing::Json;
using ::testing::Not;

class FakeSignals final : public carbon::Signals {
 public:
  carbon::ZoneStatus status;
  std::vector<carbon::StoredPoint> points;

  [[nodiscard]] std::vector<carbon::ZoneStatus> zones() const override { return {status}; }
  [[nodiscard]] std::optional<carbon::ZoneStatus> zone(const std::string& zone) const override {
    return zone == "DE" ? std::optional{status} : std::nullopt;
  }
  [[nodiscard]] std::optional<std::vector<carbon::StoredPoint>> history(const std::string& zone,
                                                                        const UtcRange&,
                                                                        bool all) const override {
    if (zone != "DE") return std::nullopt;
    return all ? points : std::vector{points.back()};
  }
  [[nodiscard]] std::optional<carbon::ZoneForecast> forecast(const std::string& zone,
                                                             int hours) const override {
    if (zone != "DE") return std::nullopt;
    carbon::ZoneForecast out{status.identity, points.front().point.start, {}, {{"tidewatt", 1, {0.05, 30}}}};
    for (int i = 0; i < hours; ++i) out.slots.push_back({points.front(), GramsPerKwh{200}, GramsPerKwh{300}});
    return out;
  }
};

class CarbonSignals : public ApiTest {
 protected:
  CarbonSignals() {
    fake_->status.identity = {"DE", carbon::SignalKind::average, carbon::SignalBoundary::life_cycle,
                              carbon::SignalBasis::consumption};
    carbon::StoredPoint point;
    point.point.start = testing::at("2026-03-01T10:00:00Z");
    point.point.end = testing::at("2026-03-01T11:00:00Z");
    point.point.intensity = carbon::CarbonIntensity{280};
    point.point.quality = carbon::SignalQuality::measured;
    point.point.series = fake_->status.identity;
    point.provider = "electricitymaps";
    point.fetched_at = point.point.start;
    fake_->points.push_back(point);
    point.revision = 2;
    fake_->points.push_back(point);
    fake_->status.decision = {carbon::ChainStep::latest, point, Milliseconds{70'000}, "", std::nullopt};
    carbon::ProviderStatus provider;
    provider.provider = "electricitymaps";
    provider.state = "ok";
    provider.successes = 3;
    provider.failures["timed_out"] = 2;
    fake_->status.providers.push_back(provider);
    auto options = make_options();
    options.signals = fake_;
    restart(options);
    ops_ = token(Role::ops);
  }
  void degrade(carbon::ChainStep step) {
    fake_->status.decision.step = step;
    fake_->status.decision.degraded_reason = "why it is so";
    if (step == carbon::ChainStep::off) fake_->status.decision.value.reset();
  }

  std::shared_ptr<FakeSignals> fake_ = std::make_shared<FakeSignals>();
  std::string ops_;
};

TEST_F(CarbonSignals, LatestSaysValueStateQualityAndAge) {
  const auto got = get("/api/v1/carbon/DE/latest", ops_);
  EXPECT_EQ(got.at("state"), "latest");
  EXPECT_EQ(got.at("quality"), "measured");
  EXPECT_EQ(got.at("age_seconds"), 70);
  EXPECT_EQ(got.at("degraded_reason"), nullptr);
  EXPECT_EQ(got.at("point").at("gco2_per_kwh"), 280);
  EXPECT_EQ(got.at("point").at("end"), "2026-03-01T11:00:00Z");
}

TEST_F(CarbonSignals, OffHasNoNumber) {
  degrade(carbon::ChainStep::off);
  const auto got = get("/api/v1/carbon/DE/latest", ops_);
  EXPECT_EQ(got.at("state"), "off");
  EXPECT_EQ(got.at("point"), nullptr);
  EXPECT_EQ(got.at("quality"), nullptr);
  EXPECT_EQ(get("/api/v1/carbon/zones", ops_).at("zones").at(0).at("gco2_per_kwh"), nullptr);
}

TEST_F(CarbonSignals, HistoryHasRevisionsWhenAskedFor) {
  EXPECT_EQ(get("/api/v1/carbon/DE/history?range=24h", ops_).at("history").size(), 1U);
  EXPECT_EQ(get("/api/v1/carbon/DE/history?range=24h&revisions=true", ops_).at("history").size(), 2U);
  EXPECT_EQ(call("GET", "/api/v1/carbon/DE/history?range=90d", ops_).status, 400);
}

TEST_F(CarbonSignals, ForecastHasItsBandAndTheRecords) {
  const auto got = get("/api/v1/carbon/DE/forecast?hours=5", ops_);
  EXPECT_EQ(got.at("forecast").size(), 5U);
  EXPECT_EQ(got.at("forecast").at(0).at("p90"), 300);
  EXPECT_EQ(got.at("scores").at(0).at("mape"), 5);
  for (const char* hours : {"0", "97", "x"})
    EXPECT_EQ(call("GET", std::string{"/api/v1/carbon/DE/forecast?hours="} + hours, ops_).status, 400)
        << hours;
}

TEST_F(CarbonSignals, UnknownZonesAreNotFound) {
  for (const char* what : {"latest", "history", "forecast"})
    EXPECT_EQ(call("GET", std::string{"/api/v1/carbon/FR/"} + what, ops_).status, 404);
}

/// A node of zone DE that draws 1,000 W.
class NodeCarbon : public CarbonSignals {
 protected:
  void drawing(bool configured) {
    auto options = make_options();
    options.signals = fake_;
    if (configured) options.factor = configured_factor();
    restart(options);
    ops_ = token(Role::ops);
    node("n1", "DE");
  }
  void node(const std::string& id, const std::string& zone) {
    for (const char* at : {"2026-03-01T10:00:00Z", "2026-03-01T10:01:00Z"}) {
      auto json = Json::parse(beat(id, at, 1000, {"t1"}));
      json["zone"] = zone;
      post(json.dump());
    }
  }
  Json rate(const std::string& who, const std::string& id = "n1") {
    return get("/api/v1/nodes/" + id + "/carbon-rate", who);
  }
};

TEST_F(NodeCarbon, StandsByItsZonesSignalBesideTheAnnualFactorWithKindAndQuality) {
  drawing(true);
  const auto got = rate(ops_);
  EXPECT_EQ(got.at("kind"), "annual_factor");
  const auto signal = got.at("hourly_signal");
  EXPECT_DOUBLE_EQ(signal.at("grams_per_hour").get<double>(), 280);
  EXPECT_NE(got.at("grams_per_hour"), signal.at("grams_per_hour"));
  EXPECT_EQ(signal.at("intensity_g_per_kwh"), 280);
  EXPECT_EQ(signal.at("kind"), "average");
  EXPECT_EQ(signal.at("boundary"), "life_cycle");
  EXPECT_EQ(signal.at("quality"), "measured");
  EXPECT_EQ(signal.at("provider"), "electricitymaps");
  EXPECT_EQ(signal.at("age_seconds"), 70);
  EXPECT_EQ(signal.at("reason"), nullptr);
}

TEST_F(NodeCarbon, OfADegradedZoneSaysSoAndOfOneThatIsOffHasNoNumber) {
  drawing(true);
  degrade(carbon::ChainStep::own_forecast);
  EXPECT_EQ(rate(ops_).at("hourly_signal").at("degraded_reason"), "why it is so");
  EXPECT_EQ(rate(ops_).at("hourly_signal").at("state"), "own_forecast");
  degrade(carbon::ChainStep::off);
  const auto off = rate(ops_).at("hourly_signal");
  EXPECT_EQ(off.at("grams_per_hour"), nullptr);
  EXPECT_EQ(off.at("intensity_g_per_kwh"), nullptr);
  EXPECT_EQ(off.at("reason"), "signal_off");
}

TEST_F(NodeCarbon, MarginalIntensitiesMakeNoGramsAndAnotherZoneHasNoSignal) {
  drawing(true);
  fake_->status.identity.kind = carbon::SignalKind::marginal;
  const auto marginal = rate(ops_).at("hourly_signal");
  EXPECT_EQ(marginal.at("intensity_g_per_kwh"), 280);
  EXPECT_EQ(marginal.at("grams_per_hour"), nullptr);
  EXPECT_EQ(marginal.at("reason"), "marginal_series");
  node("n2", "FR");
  EXPECT_EQ(rate(ops_, "n2").at("hourly_signal"), nullptr);
}

TEST_F(NodeCarbon, FollowsTheThreeTiers) {
  drawing(false);
  EXPECT_TRUE(rate(ops_).contains("hourly_signal"));
  EXPECT_FALSE(rate(token(Role::viewer)).contains("hourly_signal"));
  drawing(true);
  EXPECT_EQ(rate(token(Role::viewer)).at("hourly_signal").at("grams_per_hour"), 280);
}

TEST_F(CarbonSignals, EachStepBelowTheFirstIsAnAlert) {
  EXPECT_EQ(get("/api/v1/dashboard/stats", ops_).at("alerts").size(), 0U);
  for (const auto step : {carbon::ChainStep::cached_forecast, carbon::ChainStep::own_forecast,
                          carbon::ChainStep::profile, carbon::ChainStep::off}) {
    degrade(step);
    const auto alerts = get("/api/v1/dashboard/stats", ops_).at("alerts");
    ASSERT_EQ(alerts.size(), 1U);
    EXPECT_EQ(alerts.at(0).at("kind"), step == carbon::ChainStep::off ? "carbon_off" : "carbon_degraded");
    EXPECT_EQ(alerts.at(0).at("subject"), "DE");
    EXPECT_EQ(alerts.at(0).at("text"), "why it is so");
  }
}

TEST_F(CarbonSignals, MetricsTellTheStepTheValueAndTheFetches) {
  const auto text = call("GET", "/metrics", ops_).body;
  EXPECT_THAT(text, HasSubstr("tidewatt_carbon_chain_step{zone=\"DE\",step=\"latest\"} 1"));
  EXPECT_THAT(text, HasSubstr("tidewatt_carbon_chain_step{zone=\"DE\",step=\"off\"} 0"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "tidewatt_carbon_intensity_grams_per_kwh{zone=\"DE\",kind=\"average\",quality=\"measured\"} 280"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "tidewatt_carbon_fetches_total{zone=\"DE\",provider=\"electricitymaps\",outcome=\"timed_out\"} 2"));
  degrade(carbon::ChainStep::off);
  EXPECT_THAT(call("GET", "/metrics", ops_).body, Not(HasSubstr("tidewatt_carbon_intensity_grams_per_kwh{")));
}

}  // namespace
}  // namespace tidewatt::api
