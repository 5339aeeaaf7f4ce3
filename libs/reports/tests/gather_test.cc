#include "tidewatt/reports/gather.h"

#include <gtest/gtest.h>

#include "worked_month.h"

namespace tidewatt::reports {
namespace {

using namespace testing;

Question march_question(Scope scope) {
  Question question;
  question.scope = scope;
  question.window = kMarch;
  return question;
}

TEST(Gather, SimulatedEnergyIsLeftOutUnlessAskedFor) {
  Rows rows;
  rows.add(ledger::Scope::node, "n1", "", "gpu", kMarch.from, 5, 5);
  rows.add(ledger::Scope::node, "n2", "", "gpu", kMarch.from, 3);
  auto question = march_question(Scope::cluster);
  const auto energy = [&] {
    const auto booked = gather(rows, question, {}, one_node(), {});
    WideMicrojoules sum;
    for (const auto& [zone, hours] : booked->subjects.at(0).by_zone) sum += hours.energy.at(0);
    return sum;
  };
  EXPECT_EQ(energy(), from_kwh(3));
  question.with_simulated = true;
  EXPECT_EQ(energy(), from_kwh(8));
}

TEST(Gather, AWholeMachineMeterIsNotAddedToTheComponentsItContains) {
  Rows rows;
  rows.add(ledger::Scope::node, "n1", "", "gpu", kMarch.from, 5);
  rows.add(ledger::Scope::node, "n1", "", "platform", kMarch.from, 9);
  const auto booked = gather(rows, march_question(Scope::node), {}, one_node(), {});
  const auto& subject = booked->subjects.at(0);
  EXPECT_EQ(subject.by_zone.at("DE").energy.at(0), from_kwh(5));
  EXPECT_TRUE(subject.platform_known);
  EXPECT_EQ(subject.platform, from_kwh(9));
}

TEST(Gather, EnergyStandsInTheZoneOfTheNodeItWasUsedOn) {
  Rows rows;
  rows.add(ledger::Scope::task_device, "t1", "n1/0", "gpu", kMarch.from, 1);
  rows.add(ledger::Scope::task_device, "t1", "far/away/1", "gpu", kMarch.from, 2);
  auto nodes = one_node("n1", "DE");
  nodes.push_back(one_node("far/away", "FR").front());
  const auto booked = gather(rows, march_question(Scope::task), {}, nodes, {});
  EXPECT_EQ(booked->subjects.at(0).by_zone.at("DE").energy.at(0), from_kwh(1));
  EXPECT_EQ(booked->subjects.at(0).by_zone.at("FR").energy.at(0), from_kwh(2));
}

TEST(Gather, ATenantsQuestionSeesItsOwnTasksOnly) {
  auto rows = march_rows();
  rows.add(ledger::Scope::task_device, "t2", "n1/0", "gpu", kMarch.from, 7);
  const std::set<std::pair<std::string, std::string>> own{{"default", "t2"}};
  auto question = march_question(Scope::task);
  question.tasks = &own;
  const auto booked = gather(rows, question, {}, one_node(), {});
  ASSERT_EQ(booked->subjects.size(), 1U);
  EXPECT_EQ(booked->subjects[0].id, "t2");
  EXPECT_EQ(booked->unattributed, WideMicrojoules{});
}

TEST(Gather, TooManyLinesForTheWindowAreRefused) {
  Rows rows;
  for (int i = 0; i < 1200; ++i)
    rows.add(ledger::Scope::node, "n" + std::to_string(i), "", "gpu", kMarch.from, 1);
  auto question = march_question(Scope::node);
  question.window.to = question.window.from + std::chrono::hours{24 * 366};
  const auto refused = gather(rows, question, {}, {}, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().to_string().find("1200 lines"), std::string::npos);
  question.scope = Scope::cluster;
  EXPECT_TRUE(gather(rows, question, {}, {}, {}));
}

carbon::StoredPoint told(std::string_view start, double grams, std::string_view fetched, int revision) {
  carbon::StoredPoint stored;
  stored.point.start = *parse_rfc3339(start);
  stored.point.end = stored.point.start + std::chrono::hours{1};
  stored.point.intensity = carbon::CarbonIntensity{grams};
  stored.fetched_at = *parse_rfc3339(fetched);
  stored.revision = revision;
  return stored;
}

TEST(ValuesAtSeal, ARestatementAfterTheSealChangesNothing) {
  const std::vector<carbon::StoredPoint> points{told("2026-03-01T00:00:00Z", 300, "2026-03-01T01:00:00Z", 1),
                                                told("2026-03-01T00:00:00Z", 310, "2026-03-02T01:00:00Z", 2),
                                                told("2026-03-01T00:00:00Z", 400, "2026-05-01T01:00:00Z", 3),
                                                told("2026-03-01T01:00:00Z", 250, "2026-05-01T01:00:00Z", 1)};
  const auto sealed = values_at_seal(points, kMarch, {march_seal()}, false);
  EXPECT_EQ(sealed.hours.at(0), 310.0);
  EXPECT_EQ(sealed.hours.at(1), 250.0);
  EXPECT_FALSE(sealed.hours.at(2));
  EXPECT_EQ(values_at_seal(points, kMarch, {}, false).hours.at(0), 400.0);
}

TEST(ValuesAtSeal, StaticAndHeuristicValuesAreNotAccountedWith) {
  auto point = told("2026-03-01T00:00:00Z", 300, "2026-03-01T01:00:00Z", 1);
  for (const auto quality :
       {carbon::SignalQuality::fixed, carbon::SignalQuality::heuristic, carbon::SignalQuality::forecast}) {
    point.point.quality = quality;
    EXPECT_FALSE(values_at_seal({point}, kMarch, {}, false).hours.at(0));
  }
  point.point.quality = carbon::SignalQuality::measured;
  // Less than half an hour is a missing hour.
  point.point.end = point.point.start + std::chrono::minutes{25};
  EXPECT_FALSE(values_at_seal({point}, kMarch, {}, false).hours.at(0));
}

}  // namespace
}  // namespace tidewatt::reports
