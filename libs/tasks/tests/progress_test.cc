// What remains of a task by its own reports, and what the first prediction was worth.
#include "tidewatt/tasks/progress.h"

#include <gtest/gtest.h>

namespace tidewatt::tasks {
namespace {

using ledger::EpochReport;

const UtcTime kStart = *parse_rfc3339("2026-03-01T10:00:00Z");

EpochReport report(std::int64_t epoch, std::optional<double> joules, std::optional<std::int64_t> total = 40) {
  EpochReport made{"default", "bert",       epoch,       kStart + Milliseconds{epoch * 60'000},
                   total,     std::nullopt, std::nullopt};
  if (joules) made.energy_total = Microjoules{static_cast<std::int64_t>(*joules * 1e6)};
  return made;
}

/// 1,000 J an epoch after a first one of 1,500 J.
std::vector<EpochReport> steady(std::int64_t epochs, std::optional<std::int64_t> total = 40) {
  std::vector<EpochReport> reports;
  for (std::int64_t n = 1; n <= epochs; ++n)
    reports.push_back(report(n, 500.0 + 1000.0 * static_cast<double>(n), total));
  return reports;
}

TEST(EpochsOf, AreDifferencesBetweenReportsThatFollowEachOther) {
  const std::vector<EpochReport> reports{report(1, 1500),         report(2, 2500), report(4, 4500),
                                         report(5, std::nullopt), report(6, 6500), report(7, 400),
                                         report(8, 1400)};
  const auto epochs = epochs_of(reports);
  ASSERT_EQ(epochs.size(), 7U);
  EXPECT_EQ(epochs[0].energy, Joules{1500});
  EXPECT_EQ(epochs[0].seconds, std::nullopt) << "nobody said when it began";
  EXPECT_EQ(epochs[1].energy, Joules{1000});
  EXPECT_EQ(epochs[1].seconds, Seconds{60});
  for (const std::size_t unknown : {2U, 3U, 4U, 5U})
    EXPECT_EQ(epochs[unknown].energy, std::nullopt) << unknown;
  EXPECT_EQ(epochs[2].seconds, std::nullopt) << "a report is missing in between";
  EXPECT_EQ(epochs[5].seconds, Seconds{60}) << "the sum began anew, the clock didn't";
  EXPECT_EQ(epochs[6].energy, Joules{1000});
}

TEST(EpochsOf, AFirstReportInTheMiddleHasNoEnergyOfItsOwn) {
  EXPECT_EQ(epochs_of(std::vector{report(21, 1000)})[0].energy, std::nullopt);
}

TEST(Outlook, SaysWhyThereIsNone) {
  EXPECT_EQ(outlook({}).reason, "no_progress_reported");
  EXPECT_EQ(outlook(steady(6, std::nullopt)).reason, "epochs_total_unknown");
  EXPECT_EQ(outlook(steady(6, 6)).reason, "all_epochs_done");
  EXPECT_EQ(outlook(steady(4)).reason, "too_few_epochs");
  auto blind = steady(8);
  for (auto& one : blind) one.energy_total.reset();
  EXPECT_EQ(outlook(blind).reason, "energy_not_reported");
  for (const auto& reports : {steady(4), steady(6, 6)}) EXPECT_FALSE(outlook(reports).remaining);
}

TEST(Outlook, PredictsWhatRemainsFromTheFifthEpochOn) {
  const auto got = outlook(steady(5));
  ASSERT_TRUE(got.remaining) << got.reason;
  EXPECT_EQ(got.reason, "");
  EXPECT_EQ(got.remaining->horizon, 35);
  EXPECT_NEAR(got.remaining->energy.value(), 35'000, 350);
  EXPECT_LT(got.remaining->low, got.remaining->energy);
  EXPECT_GT(got.remaining->high, got.remaining->energy);
  ASSERT_TRUE(got.remaining->seconds);
  EXPECT_NEAR(got.remaining->seconds->value(), 35 * 60, 1);
}

TEST(FirstPrediction, IsComparedWithWhatCameOfIt) {
  EXPECT_FALSE(first_prediction(steady(5))) << "nothing came yet";
  const auto got = first_prediction(steady(40));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->predicted.horizon, 35);
  EXPECT_DOUBLE_EQ(got->actual.value(), 35'000);
  EXPECT_NEAR(got->error_percent, 0, 1);
  EXPECT_TRUE(got->in_interval);
  auto gap = steady(40);
  gap[20].energy_total.reset();
  EXPECT_FALSE(first_prediction(gap)) << "an epoch of unknown energy is not 0 J";
}

}  // namespace
}  // namespace tidewatt::tasks
