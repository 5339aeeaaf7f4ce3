#include "tidewatt/reports/report.h"
#include "tidewatt/reports/text.h"

#include <gtest/gtest.h>

#include "worked_month.h"

namespace tidewatt::reports {
namespace {

using namespace testing;

TEST(WorkedMonth, ByAnnualFactorAndByHourBesideEachOther) {
  const auto report = report_of(march(Scope::cluster), policy());
  const auto& total = report.total;
  EXPECT_DOUBLE_EQ(total.kwh, 31 * 36);
  // 1,116 kWh x 0.38 kg.
  EXPECT_NEAR(*total.annual_kg.value, 424.08, 1e-9);
  // 30 known days of 18 x 1 x 400 g + 6 x 3 x 200 g = 10.8 kg.
  EXPECT_NEAR(*total.hourly.kg.value, 324, 1e-9);
  EXPECT_NEAR(*total.hourly.carbon_coverage, 30.0 / 31, 1e-12);
  EXPECT_NEAR(total.hourly.uncovered_kwh, 36, 1e-9);
  EXPECT_EQ(total.hourly.uncovered_hours, 24U);
  EXPECT_NEAR(*total.hourly.ci_used, 300, 1e-9);
  EXPECT_NEAR(*total.hourly.ci_time_mean, 350, 1e-9);
  EXPECT_TRUE(report.sealed);
}

TEST(WorkedMonth, ALateCorrectionStandsBesideTheSealedFigures) {
  const auto report = report_of(march(Scope::node), policy());
  const auto& line = report.lines.front();
  EXPECT_DOUBLE_EQ(line.kwh, 1116);
  ASSERT_TRUE(line.adjustments);
  EXPECT_EQ(*line.adjustments, from_kwh(2));
  EXPECT_EQ(line.adjusted_hours, 1U);
  EXPECT_NEAR(*line.adjustments_annual_kg.value, 0.76, 1e-12);
  EXPECT_NEAR(*line.adjustments_hourly_kg.value, 0.4, 1e-12);
}

TEST(WorkedMonth, ByTaskTeamAndGroupWithWhatNobodyTook) {
  for (const auto& [scope, id] :
       {std::pair{Scope::task, "t1"}, std::pair{Scope::team, "vision"}, std::pair{Scope::task_group, "g1"}}) {
    const auto report = report_of(march(scope), policy());
    ASSERT_EQ(report.lines.size(), 1U);
    EXPECT_EQ(report.lines[0].id, id);
    // 18 x 1 + 6 x 2 = 30 kWh a day; 6 kWh a day are nobody's.
    EXPECT_DOUBLE_EQ(report.lines[0].kwh, 31 * 30);
    EXPECT_EQ(report.unattributed, from_kwh(31 * 6));
  }
}

TEST(WorkedMonth, OfALeapYearHasTheTwentyNinth) {
  const Window february{hour_at("2028-02-01T00:00:00Z"), hour_at("2028-03-01T00:00:00Z")};
  ASSERT_EQ(february.hours(), 29U * 24);
  Rows rows;
  auto stated = policy();
  auto& zone = stated.zones["DE"];
  zone.intensity = {february.from, {}};
  for (std::size_t i = 0; i < february.hours(); ++i) {
    rows.add(ledger::Scope::node, "n1", "", "gpu", february.from + std::chrono::hours{static_cast<long>(i)},
             1);
    // The leap day alone is clean.
    zone.intensity.hours.emplace_back(i / 24 == 28 ? 0.0 : 100.0);
  }
  // Of March: in no figure.
  rows.add(ledger::Scope::node, "n1", "", "gpu", february.to, 7);
  Question question;
  question.window = february;
  const auto report = report_of(gather(rows, question, {}, one_node(), {}).value(), stated);
  EXPECT_DOUBLE_EQ(report.total.kwh, 29 * 24);
  EXPECT_NEAR(*report.total.hourly.kg.value, 28 * 24 * 0.1, 1e-9);
  EXPECT_EQ(report.total.hourly.carbon_coverage, 1.0);
  ASSERT_EQ(report.days.size(), 29U);
  EXPECT_NEAR(*report.days.back().kwh, 24, 1e-12);
  EXPECT_EQ(report.days.back().hourly_kg, 0.0);
}

TEST(Money, AnH100sYearAtTheInternalPriceEndToEnd) {
  // 6 MWh at 400 g/kWh are 2.4 t: EUR 192; at 150 g/kWh EUR 72: EUR 120 less, EUR 960,000 for 8,000 of them.
  const auto cost = [](double kg_per_kwh) {
    Booked booked;
    booked.window = {hour_at("2026-01-01T00:00:00Z"), hour_at("2027-01-01T00:00:00Z")};
    Subject h100;
    h100.id = h100.cluster = "default";
    auto& energy = h100.by_zone["DE"];
    energy.energy.resize(booked.window.hours());
    energy.booked.resize(booked.window.hours(), true);
    energy.energy[0] = from_kwh(6000);
    booked.subjects.push_back(h100);
    auto stated = policy();
    stated.factor.value = carbon::KilogramsPerKwh{kg_per_kwh};
    return *report_of(booked, stated).total.carbon_cost_eur.value;
  };
  EXPECT_NEAR(cost(0.4), 192, 1e-9);
  EXPECT_NEAR(cost(0.4) - cost(0.15), 120, 1e-9);
  EXPECT_NEAR((cost(0.4) - cost(0.15)) * 8000, 960'000, 1e-6);
}

TEST(Money, HasATariffADemandChargeAndReasonsWhereThereIsNone) {
  auto stated = policy();
  EXPECT_EQ(report_of(march(Scope::cluster), stated).total.energy_cost.reason, "no_tariff");
  EXPECT_EQ(report_of(march(Scope::cluster), stated).total.demand_cost.reason, "no_demand_charge");
  // 10-15 h at 0.30, else 0.10: a day costs 18 x 0.30 + 18 x 0.10 = 7.2; the peak is 3 kW.
  stated.price_per_kwh = [](UtcHour hour) -> std::optional<double> {
    const auto of_day = (hour - std::chrono::floor<std::chrono::days>(hour)).count();
    return of_day >= 10 && of_day < 16 ? 0.30 : 0.10;
  };
  stated.demand_per_kw_month = 12;
  const auto report = report_of(march(Scope::cluster), stated);
  EXPECT_NEAR(*report.total.energy_cost.value, 31 * 7.2, 1e-9);
  EXPECT_NEAR(*report.total.demand_cost.value, 36, 1e-9);
  EXPECT_NEAR(*report.total.peak_kw, 3, 1e-12);
  EXPECT_EQ(report_of(march(Scope::team), stated).total.demand_cost.reason, "demand_of_the_site_only");
  stated.price_per_kwh = [](UtcHour hour) { return hour == kMarch.from ? std::nullopt : std::optional{0.1}; };
  EXPECT_EQ(report_of(march(Scope::cluster), stated).total.energy_cost.reason, "price_unknown");
}

TEST(Accounting, AMarginalSeriesIsInNoFigure) {
  auto stated = policy();
  stated.zones["DE"].identity.kind = carbon::SignalKind::marginal;
  const auto report = report_of(march(Scope::cluster), stated);
  EXPECT_FALSE(report.total.hourly.kg.value);
  EXPECT_EQ(report.total.hourly.kg.reason, "marginal_series");
  EXPECT_EQ(report.total.hourly.carbon_coverage, 0.0);
  for (const auto& day : report.days)
    for (const auto& cell : day.ci) EXPECT_FALSE(cell);
  stated = policy();
  stated.factor.kind = carbon::FactorKind::marginal;
  EXPECT_EQ(report_of(march(Scope::cluster), stated).total.annual_kg.reason, "factor_kind_not_average");
}

TEST(Accounting, ZonesOfDifferentSeriesAreNotAdded) {
  auto booked = march(Scope::cluster);
  booked.subjects[0].by_zone["FR"] = booked.subjects[0].by_zone["DE"];
  auto stated = policy();
  stated.zones["FR"] = grid(carbon::SignalBoundary::life_cycle);
  EXPECT_EQ(report_of(booked, stated).total.hourly.kg.reason, "series_differ");
  stated.zones["FR"] = grid();
  EXPECT_NEAR(*report_of(booked, stated).total.hourly.kg.value, 648, 1e-9);
}

TEST(Scope2, TakesWhatIsStatedAsDirectOnly) {
  auto stated = policy();
  auto total = report_of(march(Scope::cluster), stated).total;
  EXPECT_NEAR(*total.scope2_location_annual_kg.value, 424.08, 1e-9);
  EXPECT_NEAR(*total.scope2_location_hourly_kg.value, 324, 1e-9);
  stated.factor.boundary = carbon::SignalBoundary::unknown;
  stated.zones["DE"] = grid(carbon::SignalBoundary::life_cycle);
  total = report_of(march(Scope::cluster), stated).total;
  EXPECT_EQ(total.scope2_location_annual_kg.reason, "boundary_not_direct");
  EXPECT_EQ(total.scope2_location_hourly_kg.reason, "boundary_not_direct");
  EXPECT_TRUE(total.annual_kg.value);
  EXPECT_TRUE(total.hourly.kg.value);
}

TEST(Scope2, MarketBasedNeverTakesTheGridAverage) {
  auto stated = policy();
  stated.contracted_kwh_per_month = Stated{558, "certificates"};
  auto total = report_of(march(Scope::cluster), stated).total;
  EXPECT_EQ(total.scope2_market_kg.reason, "no_residual_mix");
  EXPECT_NEAR(total.residual_kwh, 558, 1e-9);
  stated.residual_kg_per_kwh = Stated{0.6, "residual mix 2025"};
  total = report_of(march(Scope::cluster), stated).total;
  EXPECT_NEAR(*total.scope2_market_kg.value, 334.8, 1e-9);
  stated.contracted_kwh_per_month = Stated{5000, "certificates"};
  stated.residual_kg_per_kwh.reset();
  total = report_of(march(Scope::cluster), stated).total;
  EXPECT_EQ(total.scope2_market_kg.value, 0.0);
  EXPECT_NEAR(total.contracted_kwh, 1116, 1e-9);
}

TEST(BesideScope2, UpstreamLossesOverheadAndEmbodiedAreLinesOfTheirOwn) {
  auto stated = policy();
  auto total = report_of(march(Scope::cluster), stated).total;
  EXPECT_EQ(total.upstream_kg.reason, "no_upstream_factor");
  EXPECT_EQ(total.losses_kg.reason, "no_grid_loss");
  EXPECT_EQ(total.overhead_kg.reason, "no_pue");
  EXPECT_EQ(total.embodied_kg.reason, "no_embodied_factor");
  EXPECT_EQ(total.sci_per_task_hour.reason, "no_embodied_factor");
  EXPECT_EQ(total.sci_per_token.reason, "tokens_are_of_groups");
  stated.upstream_kg_per_kwh = Stated{0.05, "study"};
  stated.grid_loss = Stated{0.05, "operator"};
  stated.pue = Stated{1.25, "metered 2025"};
  stated.embodied_kg_per_device = Stated{150, "maker"};
  stated.device_life_hours = 30'000;
  total = report_of(march(Scope::cluster), stated).total;
  EXPECT_NEAR(*total.upstream_kg.value, 55.8, 1e-9);
  EXPECT_NEAR(*total.losses_kg.value, 424.08 * 0.05 / 0.95, 1e-9);
  EXPECT_NEAR(*total.overhead_kwh.value, 279, 1e-9);
  EXPECT_NEAR(*total.overhead_kg.value, 106.02, 1e-9);
  EXPECT_EQ(total.overhead_base, "components");
  EXPECT_EQ(total.domains, std::set<std::string>{"gpu"});
  // One device for 744 h of 30,000 h.
  EXPECT_NEAR(*total.embodied_kg.value, 3.72, 1e-9);
  EXPECT_NEAR(*total.sci_per_task_hour.value, (424.08 + 106.02 + 3.72) * 1000 / 744, 1e-6);
  // None of it has moved the operational figure.
  EXPECT_NEAR(*total.annual_kg.value, 424.08, 1e-9);
}

TEST(SiteUse, CarbonAndWaterAreOfThePeriodAndPerKwhOfIt) {
  auto stated = policy();
  auto site = report_of(march(Scope::cluster), stated).site;
  EXPECT_EQ(site.cue_annual_kg_per_kwh.reason, "no_pue");
  EXPECT_EQ(site.wue_l_per_kwh.reason, "no_water");
  stated.pue = Stated{1.25, "metered 2025"};
  stated.water_litres_per_month = Stated{1116 * 1.8, "water meter"};
  const auto report = report_of(march(Scope::cluster), stated);
  EXPECT_NEAR(*report.site.cue_annual_kg_per_kwh.value, 0.38 * 1.25, 1e-12);
  EXPECT_NEAR(*report.site.cue_hourly_kg_per_kwh.value, 324.0 / 1080 * 1.25, 1e-12);
  EXPECT_NEAR(*report.site.wue_l_per_kwh.value, 1.8, 1e-12);
  EXPECT_NE(to_markdown(report).find("WUE: 1.80 L/kWh of IT energy"), std::string::npos)
      << to_markdown(report);
  stated.water_hidden = true;
  stated.water_litres_per_month.reset();
  EXPECT_EQ(report_of(march(Scope::team), stated).site.wue_l_per_kwh.reason, "water_of_the_site");
  const auto hidden =
      make_report(march(Scope::cluster), stated, {false, false, "no_factor_configured"}).value();
  EXPECT_FALSE(hidden.site.cue_annual_kg_per_kwh.value) << "it would give the hidden carbon away";
}

TEST(Visibility, WithoutAFactorOthersSeeNoCarbonAndOperatorsAPlaceholder) {
  auto stated = policy();
  stated.factor = {};
  const auto other = report_of(march(Scope::cluster), stated, carbon::Viewer::other).total;
  for (const auto& figure : {other.annual_kg, other.hourly.kg, other.scope2_location_annual_kg,
                             other.scope2_location_hourly_kg, other.scope2_market_kg, other.upstream_kg,
                             other.losses_kg, other.overhead_kg, other.embodied_kg, other.sci_per_task_hour,
                             other.carbon_cost_eur, other.adjustments_annual_kg, other.adjustments_hourly_kg})
    EXPECT_FALSE(figure.value) << figure.reason;
  EXPECT_DOUBLE_EQ(other.kwh, 1116);
  const auto ops = report_of(march(Scope::cluster), stated);
  EXPECT_TRUE(ops.view.placeholder);
  EXPECT_NEAR(*ops.total.annual_kg.value, 1116 * 0.55, 1e-9);
}

TEST(Cfe, OfAReportIsOverAllHoursAndGainsByABattery) {
  auto stated = policy();
  EXPECT_EQ(report_of(march(Scope::cluster), stated).total.cfe_share.reason, "no_cfe_series");
  stated.zones["DE"].cfe_share = stated.zones["DE"].intensity;
  for (auto& share : stated.zones["DE"].cfe_share.hours) share = 0.5;
  EXPECT_NEAR(*report_of(march(Scope::cluster), stated).total.cfe_share.value, 0.5, 1e-12);
  // 6 kWh under contract at 10-15 h: 3 kWh of surplus in each of 6 hours.
  stated.supply_kwh = {kMarch.from, {}};
  for (int i = 0; i < 31 * 24; ++i)
    stated.supply_kwh.hours.emplace_back(i % 24 >= 10 && i % 24 < 16 ? 6.0 : 0.0);
  stated.battery = Battery{12, 2, 1, 0.1};
  const auto report = report_of(march(Scope::cluster), stated);
  // A day: 18 kWh matched by contract, 18 kWh half by the grid.
  EXPECT_NEAR(*report.total.cfe_share.value, 0.75, 1e-12);
  ASSERT_TRUE(report.battery);
  // 12 kWh are charged at 2 kW over the six hours and given in the 12 after 16 h: 30 + 3 = 33 of 36, from the
  // second day on what is given after midnight counts there.
  EXPECT_GT(*report.battery->added_share, 0.15);
  EXPECT_NEAR(report.battery->cost, report.battery->delivered_kwh * 0.1, 1e-9);
}

TEST(ZoneFactors, EachZoneAndYearIsReckonedWithItsOwn) {
  auto stated = policy();
  ASSERT_TRUE(stated.zone_factors.add("DE 2026 0.25 average direct: UBA"));
  const auto report = report_of(march(Scope::cluster), stated);
  EXPECT_NEAR(*report.total.annual_kg.value, 1116 * 0.25, 1e-9);
  EXPECT_NEAR(*report.total.scope2_location_annual_kg.value, 1116 * 0.25, 1e-9);
  ASSERT_EQ(report.zone_factors.size(), 1U);
  EXPECT_EQ(report.zone_factors[0].zone, "DE");
  EXPECT_EQ(report.zone_factors[0].factor.source, "UBA");
}

TEST(ZoneFactors, AYearWithoutOneIsUnknownNotTheGeneralFactor) {
  auto stated = policy();
  ASSERT_TRUE(stated.zone_factors.add("DE 2025 0.25: UBA"));
  const auto report = report_of(march(Scope::cluster), stated);
  EXPECT_FALSE(report.total.annual_kg.value);
  EXPECT_EQ(report.total.annual_kg.reason, "no_factor_of_the_year");
}

TEST(ZoneFactors, ThoseOfAnotherGasOrKindAreNotAdded) {
  auto booked = march(Scope::cluster);
  booked.subjects[0].by_zone["FR"] = booked.subjects[0].by_zone["DE"];
  auto stated = policy();
  ASSERT_TRUE(stated.zone_factors.add("FR 2026 0.02 co2: RTE"));
  EXPECT_EQ(report_of(booked, stated).total.annual_kg.reason, "factors_differ");
  auto marginal = policy();
  ASSERT_TRUE(marginal.zone_factors.add("FR 2026 0.02 marginal: RTE"));
  EXPECT_EQ(report_of(booked, marginal).total.annual_kg.reason, "factor_kind_not_average");
}

}  // namespace
}  // namespace tidewatt::reports
