#include "tidewatt/ledger/open_gap.h"

#include <gtest/gtest.h>

#include <chrono>

namespace tidewatt::ledger {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const UtcTime kNoon = parse_rfc3339("2026-03-01T12:00:00Z").value();
const UtcRange kDay{kNoon - hours{12}, kNoon + hours{12}};
const AccountKey kNode{"default", Scope::node, "n1", "", "gpu"};

OpenGapRule at(UtcTime now) { return {now, seconds{60}}; }

TEST(OpenGap, RunsFromTheLastSampleToNow) {
  EXPECT_EQ(open_gap(kNoon, {}, kDay, at(kNoon + minutes{10})), (UtcRange{kNoon, kNoon + minutes{10}}));
}

TEST(OpenGap, IsNoneWhileTheNextSampleMayStillCoverIt) {
  EXPECT_EQ(open_gap(kNoon, {}, kDay, at(kNoon + seconds{60})), std::nullopt);
  EXPECT_EQ(open_gap(kNoon, {}, kDay, at(kNoon + seconds{61})), (UtcRange{kNoon, kNoon + seconds{61}}));
  EXPECT_EQ(open_gap(kNoon, {}, kDay, at(kNoon - seconds{5})), std::nullopt) << "a clock that is ahead";
}

TEST(OpenGap, IsCutToTheWindow) {
  const auto now = kNoon + hours{6};
  EXPECT_EQ(open_gap(kNoon, {}, {kNoon + hours{1}, kNoon + hours{2}}, at(now)),
            (UtcRange{kNoon + hours{1}, kNoon + hours{2}}));
  EXPECT_EQ(open_gap(kNoon, {}, {kNoon - hours{2}, kNoon}, at(now)), std::nullopt) << "it was covered then";
  EXPECT_EQ(open_gap(kNoon, {}, {now, now + hours{1}}, at(now)), std::nullopt) << "the future isn't missing";
}

TEST(OpenGap, OfATaskEndsWithTheTask) {
  const auto now = kNoon + hours{6};
  EXPECT_EQ(open_gap(kNoon, kNoon + hours{1}, kDay, at(now)), (UtcRange{kNoon, kNoon + hours{1}}));
  EXPECT_EQ(open_gap(kNoon, kNoon + seconds{20}, kDay, at(now)), std::nullopt);
  EXPECT_EQ(open_gap(kNoon, kNoon - seconds{20}, kDay, at(now)), std::nullopt);
  EXPECT_EQ(open_gap(kNoon, now + hours{1}, kDay, at(now)), (UtcRange{kNoon, now})) << "it runs on";
}

TEST(OpenGap, IsNoneForWhatIsGoneForGood) {
  const UtcRange all{kNoon - kRetireAfter, kNoon + 2 * kRetireAfter};
  EXPECT_EQ(open_gap(kNoon, {}, all, at(kNoon + kRetireAfter)), (UtcRange{kNoon, kNoon + kRetireAfter}));
  EXPECT_EQ(open_gap(kNoon, {}, all, at(kNoon + kRetireAfter + seconds{1})), std::nullopt);
}

TEST(OpenGap, AddsToAccountsAndToldApart) {
  Account known;
  known.key = kNode;
  known.totals.covered = known.totals.gap = minutes{5};
  known.rows = 1;
  std::vector<Account> accounts{known};
  AccountKey other = kNode;
  other.id = "n0";
  add_open_gaps(accounts, {{kNode, {kNoon, kNoon + minutes{10}}, kNoon},
                           {other, {kNoon, kNoon + minutes{3}}, kNoon},
                           {other, {kNoon, kNoon + minutes{4}}, kNoon}});
  ASSERT_EQ(accounts.size(), 2U);
  EXPECT_EQ(accounts[0].key, other) << "sorted, and with its gap alone";
  EXPECT_EQ(accounts[0].rows, 0);
  EXPECT_EQ(accounts[0].totals.gap, minutes{7}) << "a task on two nodes: node-seconds";
  EXPECT_EQ(accounts[1].totals.gap, minutes{15});
  EXPECT_EQ(accounts[1].open_gap, minutes{10});
  EXPECT_EQ(accounts[1].totals.covered, minutes{5});
  EXPECT_EQ(accounts[1].rows, 1);
}

TEST(OpenGap, LiesInTheHoursItLiesIn) {
  const UtcHour noon = hour_of(kNoon);
  HourlyRow row{kNode, noon, {}};
  row.measures.covered = minutes{30};
  std::vector<HourlyRow> rows{row};
  add_open_gaps(rows, {{kNode, {kNoon + minutes{30}, kNoon + minutes{75}}, kNoon}});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].measures.covered, minutes{30});
  EXPECT_EQ(rows[0].measures.gap, minutes{30});
  EXPECT_EQ(rows[1].hour, noon + hours{1});
  EXPECT_EQ(rows[1].measures.gap, minutes{15});
  EXPECT_EQ(rows[1].measures.covered, Milliseconds{0});
}

}  // namespace
}  // namespace tidewatt::ledger
