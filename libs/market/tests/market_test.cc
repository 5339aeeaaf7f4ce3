// Budgets, admissions and months by hand.
#include "tidewatt/market/market.h"

#include <gtest/gtest.h>

#include "journal_in_memory.h"

namespace tidewatt::market {
namespace {

const UtcTime kOctober = *parse_rfc3339("2026-10-20T00:00:00Z");
const UtcTime kNovember = *parse_rfc3339("2026-11-10T12:00:00Z");
const UtcTime kDecember = *parse_rfc3339("2026-12-01T00:00:00Z");
constexpr Period kNov{(2026 - 1970) * 12 + 10};

constexpr Micrograms kg(std::int64_t n) { return {n * kMicrogramsAKg}; }

class MarketTest : public ::testing::Test {
 protected:
  Result<Outcome> run(const Command& command, UtcTime at = kNovember) {
    return market.run({"k" + std::to_string(++keys), "ops", command}, at);
  }
  void must(const Command& command, UtcTime at = kNovember) {
    const auto done = run(command, at);
    ASSERT_TRUE(done) << done.error().to_string();
    const auto checked = market.book().check();
    ASSERT_TRUE(checked) << checked.error().message;
  }
  std::string refusal(const Command& command, UtcTime at = kNovember) {
    const auto before = market.book().last_seq();
    const auto done = run(command, at);
    EXPECT_EQ(market.book().last_seq(), before);
    return done ? "" : done.error().to_string();
  }
  Admission admit(const Admit& ask, bool dry = false, UtcTime at = kNovember) {
    const auto answer = market.admit({"a" + std::to_string(++keys), "ops", ask}, at, dry);
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().to_string());
    const auto checked = market.book().check();
    EXPECT_TRUE(checked) << (checked ? "" : checked.error().message);
    return answer.value_or(Admission{});
  }
  const Budget& of(const std::string& team, Period period = kNov) {
    return *market.book().budget(period, team);
  }

  testing::MemoryJournal journal;
  Market market{journal};
  int keys = 0;
};

TEST_F(MarketTest, AMonthWorkedByHand) {  // docs/method/market.md
  must(Allot{"vision", kNov, kg(1'000)}, kOctober);
  must(Measure{"vision", kNov, kg(600), {}});
  const auto first = admit({"vision", "train-7", kg(88)});
  EXPECT_EQ(first.decision.reason, "within_budget");
  EXPECT_EQ(first.decision.remaining, kg(400));
  EXPECT_EQ(of("vision").free, kg(312).n);
  // Started; 12 kg of its 88 are measured.
  must(Measure{"vision", kNov, kg(612), {{first.reservation, kg(12), false}}});
  EXPECT_EQ(of("vision").reserved, kg(76).n);
  EXPECT_EQ(of("vision").free, kg(312).n) << "what was measured took the place of what was reserved";
  EXPECT_NEAR(of("vision").utilization(), 0.688, 1e-12);
  const auto second = admit({"vision", "train-8", kg(400)});
  EXPECT_FALSE(second.decision.allowed);
  EXPECT_EQ(second.decision.reason, "over_budget");
  EXPECT_EQ(second.decision.remaining, kg(312));
  // It ends with 70 kg in all: 18 kg less than estimated come back.
  must(Measure{"vision", kNov, kg(670), {{first.reservation, kg(70), true}}});
  EXPECT_EQ(of("vision").free, kg(330).n);
  EXPECT_EQ(of("vision").reserved, 0);
}

TEST_F(MarketTest, ADryRunChargesNothing) {
  must(Allot{"vision", kNov, kg(10)}, kOctober);
  const auto before = of("vision");
  const auto dry = admit({"vision", "t", kg(4)}, true);
  EXPECT_TRUE(dry.decision.allowed);
  EXPECT_EQ(dry.decision.to_reserve, kg(4));
  EXPECT_EQ(dry.reservation, 0U);
  EXPECT_EQ(of("vision"), before);
  EXPECT_EQ(journal.size(), 1U);
}

TEST_F(MarketTest, TheSameAdmissionIsChargedOnce) {
  must(Allot{"vision", kNov, kg(10)}, kOctober);
  const Request request{"once", "ops", Admit{"vision", "t", kg(4)}};
  const auto first = market.admit(request, kNovember, false);
  const auto again = market.admit(request, kNovember + Milliseconds{1}, false);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->repeated);
  EXPECT_EQ(again->reservation, first->reservation);
  EXPECT_EQ(of("vision").reserved, kg(4).n);
  const auto other_key = admit({"vision", "t", kg(4)});
  EXPECT_EQ(other_key.decision.reason, "already_admitted") << "the same task under another key";
  EXPECT_EQ(of("vision").reserved, kg(4).n);
}

TEST_F(MarketTest, CriticalIsNeverRefusedAndIsAnOverdraft) {
  must(Allot{"vision", kNov, kg(10)}, kOctober);
  const auto answer = admit({"vision", "t", kg(14), Priority::critical});
  EXPECT_TRUE(answer.decision.allowed);
  EXPECT_EQ(answer.decision.reason, "critical");
  EXPECT_EQ(of("vision").overdraft, kg(4).n);
  EXPECT_EQ(of("vision").free, 0);
  EXPECT_EQ(admit({"vision", "u", kg(1), Priority::high}).decision.reason, "budget_used_up");
  // What comes back pays the overdraft first.
  must(Release{answer.reservation, "cancelled"});
  EXPECT_EQ(of("vision").overdraft, 0);
  EXPECT_EQ(of("vision").free, kg(10).n);
}

TEST_F(MarketTest, LowPriorityAbove80PercentIsConstrained) {
  must(Allot{"vision", kNov, kg(100)}, kOctober);
  must(Measure{"vision", kNov, kg(80), {}});
  EXPECT_FALSE(admit({"vision", "a", kg(1), Priority::low}, true).decision.constrained)
      << "80 isn't above 80";
  must(Measure{"vision", kNov, {kg(80).n + 1}, {}});
  EXPECT_TRUE(admit({"vision", "a", kg(1), Priority::low}, true).decision.constrained);
  EXPECT_FALSE(admit({"vision", "a", kg(1), Priority::normal}, true).decision.constrained);
}

TEST_F(MarketTest, WithoutABudgetOrAnEstimate) {
  EXPECT_EQ(admit({"speech", "t", kg(1'000)}).decision.reason, "no_budget");
  EXPECT_EQ(journal.size(), 0U) << "nothing to be charged";
  must(Allot{"vision", kNov, {}}, kOctober);
  EXPECT_EQ(admit({"vision", "t", std::nullopt}).decision.reason, "budget_used_up") << "a budget of nothing";
  must(Adjust{"vision", kNov, kg(1), "a start"});
  const auto unknown = admit({"vision", "t", std::nullopt});
  EXPECT_TRUE(unknown.decision.allowed);
  EXPECT_EQ(unknown.decision.reason, "no_estimate");
  EXPECT_EQ(of("vision").reserved, 0);
}

TEST_F(MarketTest, WhatNeverStartedComesBackAfterADay) {
  must(Allot{"vision", kNov, kg(10)}, kOctober);
  const auto never = admit({"vision", "a", kg(4)});
  const auto started = admit({"vision", "b", kg(3)});
  must(Measure{"vision", kNov, kg(1), {{started.reservation, kg(1), false}}});
  const auto day = kNovember + std::chrono::hours{24};
  EXPECT_NE(refusal(Expire{}, day - Milliseconds{1}), "");
  must(Expire{}, day);
  EXPECT_FALSE(market.book().reservations().contains(never.reservation));
  EXPECT_TRUE(market.book().reservations().contains(started.reservation)) << "it runs";
  EXPECT_EQ(of("vision").free, kg(7).n);
}

TEST_F(MarketTest, AnAllotmentIsFixedBeforeTheMonth) {
  must(Allot{"vision", kNov, kg(10)}, kOctober);
  must(Allot{"vision", kNov, kg(12)}, kOctober);
  EXPECT_EQ(of("vision").free, kg(12).n);
  EXPECT_NE(refusal(Allot{"vision", kNov, kg(14)}), "");
  must(Allot{"speech", kNov, kg(5)});  // a team's first one
  EXPECT_NE(refusal(Adjust{"vision", kNov, kg(1), ""}), "") << "without a reason";
  EXPECT_NE(refusal(Adjust{"vision", kNov, kg(-13), "less"}), "") << "more than is free";
  must(Adjust{"vision", kNov, kg(-2), "less"});
  EXPECT_EQ(of("vision").free, kg(10).n);
}

TEST_F(MarketTest, TheEndOfAMonth) {
  must(Allot{"vision", kNov, kg(10)}, kOctober);
  must(Allot{"speech", kNov, kg(10)}, kOctober);
  must(PlaceOrder{"vision", Side::offer, kNov, kg(4), {1'000'000}});
  const auto runs_on = admit({"vision", "t", kg(3)});
  EXPECT_NE(refusal(CloseMonth{kNov, 50}, kDecember - Milliseconds{1}), "") << "not over yet";
  must(CloseMonth{kNov, 50}, kDecember);
  EXPECT_TRUE(market.book().orders().empty());
  EXPECT_EQ(of("vision", kNov.next()).free, kg(7).n / 2);
  EXPECT_EQ(of("speech", kNov.next()).carried, kg(5).n);
  EXPECT_EQ(of("vision").free, 0);
  EXPECT_NE(refusal(CloseMonth{kNov, 50}, kDecember), "") << "once";
  // A task that ran on over the end: its reservation was of the old month, and what is left of it expires.
  must(Measure{"vision", kNov, kg(1), {{runs_on.reservation, kg(2), true}}}, kDecember);
  EXPECT_EQ(of("vision").free, 0);
  EXPECT_EQ(of("vision").used, kg(1).n);
  EXPECT_EQ(market.book().balance({kNov, AccountKind::expired, {}}), kg(7).n / 2 + kg(5 + 2).n);
}

TEST_F(MarketTest, AKeyIsOfOneRequest) {
  const Request request{"k", "ops", Allot{"vision", kNov, kg(1)}};
  ASSERT_TRUE(market.run(request, kOctober));
  EXPECT_TRUE(market.run(request, kOctober)->repeated);
  const auto other = market.run({"k", "ops", Allot{"vision", kNov, kg(2)}}, kOctober);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::conflict);
}

TEST_F(MarketTest, TwoServersOnOneJournalSeeTheSame) {
  Market second(journal);
  must(Allot{"vision", kNov, kg(10)}, kOctober);
  ASSERT_TRUE(second.admit({"b", "ops", Admit{"vision", "x", kg(6)}}, kNovember, false));
  const auto first = admit({"vision", "y", kg(6)});
  EXPECT_FALSE(first.decision.allowed) << "the other server gave it away";
  EXPECT_EQ(market.book().budgets(), second.book().budgets());
}

TEST_F(MarketTest, AmountsBeyondAllBoundsAreRefused) {
  EXPECT_NE(refusal(Allot{"vision", kNov, {kMostCarbon.n + 1}}, kOctober), "");
  EXPECT_NE(refusal(Allot{"vision", kNov, {-1}}, kOctober), "");
  EXPECT_NE(refusal(Allot{"", kNov, kg(1)}, kOctober), "");
  EXPECT_NE(refusal(Allot{"a\nb", kNov, kg(1)}, kOctober), "");
  EXPECT_NE(refusal(Allot{"vision", {kNov.n + 14}, kg(1)}, kOctober), "") << "years ahead";
  must(Allot{"vision", kNov, kMostCarbon}, kOctober);
  for (int i = 0; i < 39; ++i) must(Adjust{"vision", kNov, kMostCarbon, "more"});
  EXPECT_NE(refusal(Adjust{"vision", kNov, kMostCarbon, "more"}), "") << "a balance has an end, too";
}

TEST(Period, IsACalendarMonth) {
  EXPECT_EQ(period_of(kDecember), kNov.next());
  EXPECT_EQ(period_of(kDecember - Milliseconds{1}), kNov);
  EXPECT_EQ(to_string(kNov), "2026-11");
  EXPECT_EQ(parse_period("2026-11"), kNov);
  for (const auto* bad : {"2026-13", "2026-00", "1969-12", "2026-1", "2026-1a", "+026-11", ""})
    EXPECT_FALSE(parse_period(bad)) << bad;
  EXPECT_EQ(kNov.end(), kDecember);
}

}  // namespace
}  // namespace tidewatt::market
