#include "tidewatt/ledger/account.h"

#include <gtest/gtest.h>

namespace tidewatt::ledger {
namespace {

const UtcHour kEight = hour_of(*parse_rfc3339("2026-11-29T08:00:00Z"));

TEST(AccountDelta, KeepsHoursApartAndAscending) {
  AccountDelta delta;
  delta.at(kEight + std::chrono::hours{1}).energy = Microjoules{2};
  delta.at(kEight).energy = Microjoules{1};
  delta.at(kEight + std::chrono::hours{1}).energy += Microjoules{3};
  ASSERT_EQ(delta.hours.size(), 2U);
  EXPECT_EQ(delta.hours[0].hour, kEight);
  EXPECT_EQ(delta.hours[1].measures.energy, Microjoules{5});
  EXPECT_EQ(delta.total().energy, Microjoules{6});
}

TEST(Attribution, IsDecidedBySharedSecondsNotByEnergy) {
  WideMeasures totals;
  EXPECT_EQ(attribution_of(totals), "exclusive");
  totals.shared_time = Milliseconds{20'000};
  EXPECT_EQ(attribution_of(totals), "shared_estimated");
}

TEST(CoverageText, IsCutAndWholeOnlyWhereNothingIsMissing) {
  EXPECT_EQ(coverage_text(1.0, true), "100%");
  EXPECT_EQ(coverage_text(1.0, false), "99.9%") << "some second was partial";
  EXPECT_EQ(coverage_text(0.99999, false), "99.9%");
  EXPECT_EQ(coverage_text(0.982, false), "98.2%");
  EXPECT_EQ(coverage_text(0.98199, false), "98.1%");
  EXPECT_EQ(coverage_text(0.5, false), "50.0%");
  EXPECT_EQ(coverage_text(0.0004, false), "<0.1%");
  EXPECT_EQ(coverage_text(0, false), "0%");
  const auto of = [](int covered, int gap, int partial) {
    return coverage_text(Milliseconds{covered}, Milliseconds{gap}, Milliseconds{partial});
  };
  EXPECT_EQ(of(0, 0, 0), "—");
  EXPECT_EQ(of(10, 0, 0), "100%");
  EXPECT_EQ(of(10, 0, 1), "99.9%");
  EXPECT_EQ(of(1'000'000, 1, 0), "99.9%");
}

TEST(Scope, NamesGoBothWays) {
  for (const auto scope : {Scope::device, Scope::node, Scope::task, Scope::task_device})
    EXPECT_EQ(scope_from(to_string(scope)), scope);
  EXPECT_EQ(scope_from("galaxy"), std::nullopt);
}

}  // namespace
}  // namespace tidewatt::ledger
