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
