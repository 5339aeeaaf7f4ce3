#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "image_of.h"
#include "tidewatt/ledger/ledger.h"
#include "tidewatt/ledger/months.h"

namespace tidewatt::ledger {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

UtcHour hour_at(const char* text) { return hour_of(*parse_rfc3339(text)); }
const UtcHour kOctober = hour_at("2026-10-31T23:00:00Z");
const UtcHour kNovember = hour_at("2026-11-01T00:00:00Z");

WideMeasures measures(std::int64_t energy, std::int64_t unattributed = 0) {
  WideMeasures m;
  m.energy = WideMicrojoules::from_raw(energy);
  m.unattributed = WideMicrojoules::from_raw(unattributed);
  m.covered = std::chrono::hours{1};
  m.samples = 180;
  return m;
}

/// A node of one device, a task that takes 70 of each hour's 100 uJ; October sealed.
ImageOf sound() {
  ImageOf image;
  for (const auto hour : {kOctober, kNovember}) {
    image.book(Scope::device, "n/0", hour, measures(100));
    image.book(Scope::node, "n", hour, measures(100, 30));
    image.book(Scope::task, "t", hour, measures(70));
    image.book(Scope::task_device, "t", hour, measures(70), "n/0");
  }
  image.seals.push_back(*compute_seal(image, month_of(kOctober), ""));
  return image;
}

HourlyRow& row(ImageOf& image, Scope scope, UtcHour hour) {
  return *std::ranges::find_if(image.rows,
                               [&](const HourlyRow& r) { return r.key.scope == scope && r.hour == hour; });
}

std::vector<std::string> findings(ImageOf& image) {
  const auto found = verify(image);
  EXPECT_TRUE(found);
  EXPECT_EQ(found->ok(), found->mismatches.empty());
  return found->mismatches;
}

TEST(Verify, ASoundLedgerAddsUp) {
  auto image = sound();
  const auto found = *verify(image);
  EXPECT_THAT(found.mismatches, ElementsAre());
  EXPECT_EQ(found.seals, 1);
  EXPECT_EQ(found.accounts, 4);
  EXPECT_EQ(found.rows, 8);
  EXPECT_EQ(found.node_energy.to_string(), "200");
}

TEST(Verify, WhatNodesUsedHoldsAJouleOnceThoughTwoMetersSawIt) {
  ImageOf image;
  const auto platform = [&](const std::string& node, std::int64_t energy) {
    image.book(Scope::device, node + "/0", kNovember, measures(energy), "", "platform");
    image.book(Scope::node, node, kNovember, measures(energy, energy), "", "platform");
  };
  image.book(Scope::device, "n/0", kNovember, measures(100));
  image.book(Scope::node, "n", kNovember, measures(100, 100));
  platform("n", 250);    // contains the card
  platform("bare", 40);  // all that is known of it
  const auto found = *verify(image);
  EXPECT_THAT(found.mismatches, ElementsAre());
  EXPECT_EQ(found.nodes_used.to_string(), "140");
  EXPECT_EQ(found.node_energy.to_string(), "390");
}

TEST(Verify, AnEmptyLedgerAddsUp) {
  ImageOf image;
  EXPECT_THAT(findings(image), ElementsAre());
}

TEST(Verify, ATotalApartFromItsHoursIsFoundWithBothFigures) {
  auto image = sound();
  image.total({"default", Scope::task, "t", "", "gpu"}).samples += 1;
  EXPECT_THAT(findings(image), ElementsAre(AllOf(HasSubstr("task default/t, gpu"),
                                                 HasSubstr("samples of its hours 360, total 361"))));
}

TEST(Verify, AMicrojouleOutOfAnOpenHourIsFound) {
  auto image = sound();
  row(image, Scope::device, kNovember).measures.energy += WideMicrojoules::from_raw(1);
  EXPECT_THAT(findings(image),
              UnorderedElementsAre(
                  HasSubstr("hour 2026-11-01T00:00:00Z: devices add up to 101 uJ, the node says 100 uJ"),
                  HasSubstr("energy of its hours 201 uJ, total 200 uJ")));
}

TEST(Verify, ATaskApartFromItsDevicesIsFound) {
  auto image = sound();
  row(image, Scope::task, kNovember).measures.energy += WideMicrojoules::from_raw(5);
  image.total({"default", Scope::task, "t", "", "gpu"}).energy += WideMicrojoules::from_raw(5);
  const auto told = findings(image);
  ASSERT_EQ(told.size(), 2U);
  for (const auto& text : told) EXPECT_THAT(text, HasSubstr("the task's energy is 5 uJ apart"));
}

TEST(Verify, ASealedRowThatChangedIsFoundThoughSumsStillAddUp) {
  auto image = sound();
  // The energy stays, one second of coverage moves between two hours: only the hash can tell.
  row(image, Scope::device, kOctober).measures.covered -= Milliseconds{1000};
  row(image, Scope::device, kNovember).measures.covered += Milliseconds{1000};
  EXPECT_THAT(findings(image), ElementsAre(HasSubstr("seal of 2026-10: its rows give ")));
}

TEST(Verify, ASealedRowThatIsGoneIsFound) {
  auto image = sound();
  std::erase_if(image.rows,
                [](const HourlyRow& r) { return r.key.scope == Scope::node && r.hour == kOctober; });
  EXPECT_THAT(findings(image),
              testing::Contains(HasSubstr("4 rows of 100 uJ were sealed, there are 3 of 0 uJ")));
}

TEST(Verify, ABrokenChainIsFound) {
  auto image = sound();
  image.seals.push_back(*compute_seal(image, month_of(kNovember), std::string(64, '0')));
  EXPECT_THAT(findings(image), ElementsAre(HasSubstr("seal of 2026-11: it follows 000")));
  image = sound();
  image.seals.push_back(*compute_seal(image, month_of(kNovember).next(), image.seals[0].hash));
  EXPECT_THAT(findings(image), ElementsAre(HasSubstr("months between are missing")));
}

TEST(Verify, AHashThatWasNeverMadeIsFoundOnceALaterMonthIsSealed) {
  auto image = sound();
  image.seals[0].hash.clear();
  EXPECT_THAT(findings(image), ElementsAre()) << "a crash between the two; the next turn makes it";
  image.seals.push_back(*compute_seal(image, month_of(kNovember), ""));
  EXPECT_THAT(findings(image), testing::Contains(HasSubstr("its hash was never made")));
}

TEST(Verify, WhatCameLateCountsInTheTotalAndInItsHourButNotInTheSeal) {
  auto image = sound();
  const auto late = [&](Scope scope, const std::string& id, std::int64_t energy, std::int64_t unattributed,
                        const std::string& part = {}) {
    const AccountKey key{"default", scope, id, part, "gpu"};
    image.adjustments.push_back(
        {key, kOctober, measures(energy, unattributed), std::nullopt, std::string(kLateReason)});
    image.total(key) += measures(energy, unattributed);
  };
  late(Scope::device, "n/0", 10, 0);
  late(Scope::node, "n", 10, 4);
  late(Scope::task, "t", 6, 0);
  late(Scope::task_device, "t", 6, 0, "n/0");
  EXPECT_THAT(findings(image), ElementsAre());
  image.adjustments[1].hour = kNovember;
  EXPECT_THAT(findings(image), testing::Contains(HasSubstr("stands in a month that isn't sealed")));
}

TEST(Verify, TellsTheFirstHundredAndCountsTheRest) {
  ImageOf image;
  for (int i = 0; i < 150; ++i)
    image.book(Scope::device, "n" + std::to_string(i) + "/0", kNovember, measures(1));
  const auto found = *verify(image);
  EXPECT_EQ(found.mismatches.size(), Verification::kMostTold);
  EXPECT_EQ(found.mismatch_count, 300U) << "of each node: its hour, and all time";
}

/// The same with sums by team: t is red's.
ImageOf with_teams() {
  auto image = sound();
  TaskInfo task;
  task.task_id = "t";
  task.team = "red";
  image.tasks = {task};
  image.teams.emplace();
  for (const auto hour : {kOctober, kNovember}) {
    image.teams->push_back({"default", Scope::node, "", "gpu", hour, false, measures(100, 30)});
    image.teams->push_back({"default", Scope::task_device, "red", "gpu", hour, false, measures(70)});
  }
  return image;
}

TEST(Verify, SumsByTeamAreThoseOfTheRows) {
  auto image = with_teams();
  EXPECT_THAT(findings(image), ElementsAre());
  EXPECT_EQ(audit_team_hours(image)->to_string(), "0");
}

TEST(Verify, ASumByTeamThatIsOneMicrojouleApartIsNamed) {
  auto image = with_teams();
  image.teams->at(1).measures.energy += Microjoules{1};
  EXPECT_THAT(
      findings(image),
      ElementsAre("team hour of task_device default/red, gpu, 2026-10-31T23:00:00Z: energy of its hours 70 "
                  "uJ, total 71 uJ"));
  image.teams->at(2).measures.energy = WideMicrojoules::from_raw(98);
  EXPECT_EQ(audit_team_hours(image)->to_string(), "3") << "one more and two less are three apart";
}

TEST(Verify, ASumUnderAnotherTeamThanTheRegistrysIsNamed) {
  auto image = with_teams();
  image.tasks.at(0).team = "blue";
  EXPECT_EQ(findings(image).size(), 4U) << "two hours that red has and two that blue lacks";
}

}  // namespace
}  // namespace tidewatt::ledger
