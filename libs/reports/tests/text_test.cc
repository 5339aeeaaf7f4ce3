#include "tidewatt/reports/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "worked_month.h"

namespace tidewatt::reports {
namespace {

using namespace testing;
using Json = nlohmann::json;

constexpr std::array kFormats{Format::json, Format::csv, Format::markdown, Format::html};

TEST(ReportText, TheSameInputGivesTheSameBytes) {
  for (const auto format : kFormats) {
    const auto first = to_text(report_of(march(Scope::team), policy()), format);
    EXPECT_EQ(first, to_text(report_of(march(Scope::team), policy()), format));
    EXPECT_GT(first.size(), 200U);
  }
}

TEST(ReportText, JsonSaysWhyANullIsOne) {
  const auto json = Json::parse(to_json(report_of(march(Scope::cluster), policy())));
  EXPECT_EQ(json["schema"], "tidewatt-report/1");
  EXPECT_EQ(json["total"]["energy_uj"], from_kwh(1116).to_string());
  const auto& carbon = json["total"]["carbon"];
  EXPECT_NEAR(carbon["annual_factor"]["kgco2e"]["value"].get<double>(), 424.08, 1e-9);
  EXPECT_NEAR(carbon["hourly_signal"]["kgco2e"]["value"].get<double>(), 324, 1e-9);
  EXPECT_EQ(carbon["hourly_signal"]["uncovered_hours"], 24);
  EXPECT_EQ(carbon["scope2"]["market_based_kgco2e"]["reason"], "no_residual_mix");
  EXPECT_EQ(carbon["sci"]["g_per_token"], (Json{{"value", nullptr}, {"reason", "tokens_are_of_groups"}}));
  EXPECT_EQ(json["seals"][0]["month"], "2026-03");
  EXPECT_NEAR(json["total"]["adjustments"]["energy_kwh"].get<double>(), 2, 1e-12);
}

TEST(ReportText, HiddenCarbonIsInNoFormat) {
  auto stated = policy();
  stated.factor = {};
  const auto report = report_of(march(Scope::cluster), stated, carbon::Viewer::other);
  EXPECT_FALSE(Json::parse(to_json(report))["total"].contains("carbon"));
  EXPECT_FALSE(Json::parse(to_json(report)).contains("emission_factor"));
  for (const auto format : kFormats) {
    // Coordinates of figures may hold any digits.
    const auto whole = to_text(report, format);
    const auto text = whole.substr(0, whole.find("<h2>Figures"));
    for (const auto* amount : {"613.8", "0.55", "324", "49.1"})
      EXPECT_EQ(text.find(amount), std::string::npos) << amount << " in " << file_ending(format);
  }
}

TEST(ReportText, NamesFromOutsideAreNoMarkup) {
  auto booked = march(Scope::cluster);
  booked.subjects[0].id = "<script>|=1+1\",x";
  const auto report = report_of(booked, policy());
  EXPECT_EQ(to_html(report).find("<script>"), std::string::npos);
  EXPECT_NE(to_markdown(report).find("\\<script\\>\\|"), std::string::npos);
  booked.subjects[0].id = "=1+1";
  EXPECT_NE(to_csv(report_of(booked, policy())).find(",'=1+1,"), std::string::npos);
}

TEST(ReportText, HtmlHoldsItsFiguresAndAsksNobodyForMore) {
  const auto html = to_html(report_of(march(Scope::cluster), policy()));
  EXPECT_NE(html.find("<svg viewBox"), std::string::npos);
  EXPECT_NE(html.find("url(#none)"), std::string::npos) << "the day without intensity is hatched";
  for (const auto* outside : {"http://", "https://", "<script", "@import"})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
}

TEST(ReportText, SimulatedEnergyIsSaidFirst) {
  auto stated = policy();
  stated.with_simulated = true;
  const auto report = report_of(march(Scope::cluster, true), stated);
  EXPECT_NE(to_markdown(report).find("SIMULATED"), std::string::npos);
  EXPECT_NE(to_html(report).find("class=\"warn\">SIMULATED"), std::string::npos);
  EXPECT_EQ(Json::parse(to_json(report))["simulated"], "included");
}

TEST(ReportText, WhatIsKnownInNoLineStandsOnceWithItsReason) {
  const auto text = to_markdown(report_of(march(Scope::team), policy()));
  EXPECT_EQ(text.find("| Scope 2 market kg |"), std::string::npos);
  EXPECT_NE(text.find("- Scope 2 market kg: contracts don't cover all, and no residual mix is stated."),
            std::string::npos)
      << text;
}

TEST(ReportText, ChineseReportsHoldNoEnglishWords) {
  const auto report = report_of(march(Scope::team), policy());
  for (const auto& text : {to_markdown(report, Language::zh), to_html(report, Language::zh)}) {
    EXPECT_NE(text.find("能耗与碳排放报告（按团队）"), std::string::npos);
    for (const auto* english : {"coverage", ">total<", "| total", "annual", "known", "sealed"})
      EXPECT_EQ(text.find(english), std::string::npos) << english;
  }
}

TEST(ReportText, CsvHasOneRowALineAndATotal) {
  const auto csv = to_csv(report_of(march(Scope::node), policy()));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  const auto head = csv.substr(0, csv.find('\n'));
  const auto row = csv.substr(csv.find('\n') + 1, csv.find('\n', csv.find('\n') + 1) - csv.find('\n') - 1);
  EXPECT_EQ(std::count(head.begin(), head.end(), ','), std::count(row.begin(), row.end(), ',') - 2)
      << "the source holds two commas, quoted";
}

}  // namespace
}  // namespace tidewatt::reports
