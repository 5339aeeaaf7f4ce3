// PUE from meters, and what holds where there are none.
#include <gtest/gtest.h>

#include "worked_month.h"

namespace tidewatt::reports {
namespace {

using namespace testing;

/// Two nodes draw 4 and 6 kWh an hour of what 8 kWh of components are in; the site draws 13.
struct Site {
  Rows rows;
  Question question;
  static constexpr int kHours = 10;

  Site() {
    question.window = {kMarch.from, kMarch.from + std::chrono::hours{kHours}};
    for (int i = 0; i < kHours; ++i) {
      const auto hour = kMarch.from + std::chrono::hours{i};
      rows.add(ledger::Scope::node, "n1", "", "gpu", hour, 3);
      rows.add(ledger::Scope::node, "n1", "", "platform", hour, 4);
      rows.add(ledger::Scope::node, "n2", "", "gpu", hour, 5);
      rows.add(ledger::Scope::node, "n2", "", "platform", hour, 5.5);
      rows.add(ledger::Scope::node, "n2", "", "pdu", hour, 6);
      rows.add(ledger::Scope::node, "meters", "", "facility", hour, 13);
    }
  }
  ledger::HourlyRow& row(const std::string& node, const std::string& domain, int hour) {
    for (auto& row : rows.rows)
      if (row.key.id == node && row.key.domain == domain &&
          row.hour == kMarch.from + std::chrono::hours{hour})
        return row;
    throw std::out_of_range{node};
  }
  void without(const std::string& domain) {
    std::erase_if(rows.rows, [&](const auto& row) { return row.key.domain == domain; });
  }
  [[nodiscard]] Booked booked() { return gather(rows, question, {}, one_node(), {}).value(); }
  [[nodiscard]] PueUse use(const Policy& stated = policy()) { return report_of(booked(), stated).pue; }
};

TEST(Pue, IsTheSitesMeterOverTheMachines) {
  Site site;
  const auto pue = site.use();
  ASSERT_TRUE(pue.metered);
  EXPECT_DOUBLE_EQ(*pue.value.value, 1.3);
  EXPECT_DOUBLE_EQ(pue.meters.facility_kwh, 130);
  EXPECT_DOUBLE_EQ(pue.meters.machines_kwh, 100);
  EXPECT_EQ(pue.meters.hours, 10U);
  // The site's meter is in no line: 80 kWh of components.
  EXPECT_DOUBLE_EQ(report_of(site.booked(), policy()).total.kwh, 80);
}

TEST(Pue, MeteredGoesBeforeStatedAndMakesTheOverhead) {
  Site site;
  auto stated = policy();
  stated.pue = Stated{1.1, "somebody"};
  const auto report = report_of(site.booked(), stated);
  EXPECT_TRUE(report.pue.metered);
  EXPECT_NEAR(report.total.overhead_kwh.value.value(), 95 * 0.3, 1e-9);
  site.without("facility");
  const auto other = report_of(site.booked(), stated);
  EXPECT_FALSE(other.pue.metered);
  EXPECT_EQ(other.pue.value.value, 1.1);
  EXPECT_EQ(other.pue.meters.value.reason, "no_facility_meter");
  EXPECT_NEAR(other.total.overhead_kwh.value.value(), 95 * 0.1, 1e-9);
  EXPECT_EQ(report_of(site.booked(), policy()).total.overhead_kwh.reason, "no_pue");
}

TEST(Pue, AnHourInWhichAMeterHadAGapIsLeftOutOfBothSums) {
  Site site;
  site.row("meters", "facility", 2).measures.gap = std::chrono::minutes{5};
  site.row("n2", "pdu", 7).measures.partial = std::chrono::seconds{20};
  // A gap of what isn't counted is none.
  site.row("n2", "platform", 8).measures.gap = std::chrono::minutes{5};
  const auto pue = site.use();
  EXPECT_EQ(pue.meters.hours, 8U);
  EXPECT_DOUBLE_EQ(*pue.value.value, 1.3);
  for (int i = 0; i < Site::kHours; ++i)
    site.row("meters", "facility", i).measures.gap = std::chrono::minutes{1};
  EXPECT_EQ(site.use().value.reason, "no_metered_hour");
}

TEST(Pue, WithoutAMeterOfEachMachineItIsUnknown) {
  Site site;
  site.rows.add(ledger::Scope::node, "n3", "", "gpu", kMarch.from, 1);
  EXPECT_EQ(site.use().value.reason, "machines_not_metered");
}

TEST(Pue, ASiteThatDrawsLessThanItsMachinesIsNoPue) {
  Site site;
  for (int i = 0; i < Site::kHours; ++i) site.row("meters", "facility", i).measures.energy = from_kwh(9);
  EXPECT_EQ(site.use().value.reason, "facility_below_machines");
}

TEST(Pue, OfOneClusterIsNotAnothers) {
  Site site;
  site.rows.add(ledger::Scope::node, "x1", "", "platform", kMarch.from, 1);
  site.rows.rows.back().key.cluster = "other";
  EXPECT_EQ(site.use().value.reason, "facility_of_some_clusters");
  site.question.cluster = "default";
  EXPECT_TRUE(site.use().metered);
}

TEST(Pue, SimulatedMetersDoNotCount) {
  Site site;
  for (int i = 0; i < Site::kHours; ++i) site.row("meters", "facility", i).measures.simulated = from_kwh(13);
  EXPECT_EQ(site.use().value.reason, "no_facility_meter");
}

TEST(Pue, WhoSeesOwnTasksOnlyGetsTheRatioWithoutTheSitesEnergy) {
  Site site;
  const std::set<std::pair<std::string, std::string>> own;
  site.question.scope = Scope::task;
  site.question.tasks = &own;
  const auto booked = site.booked();
  EXPECT_TRUE(booked.pue.value.value);
  EXPECT_FALSE(booked.pue.sums_shown);
}

}  // namespace
}  // namespace tidewatt::reports
