// A bounded run of what bench/market_operations does ten million times.
#include <gtest/gtest.h>

#include "journal_in_memory.h"
#include "random_operations.h"
#include "tidewatt/market/codec.h"

namespace tidewatt::market::testing {
namespace {

TEST(MarketProperty, BudgetsAreConservedAfterEveryOperation) {
  MemoryJournal journal;
  Market market(journal);
  Operations operations(market, 7, Milliseconds{120'000});
  for (int i = 0; i < 40'000; ++i) {
    const auto wrong = operations.step();
    ASSERT_FALSE(wrong) << "operation " << i << ": " << *wrong;
    const auto sums = operations.sums();
    ASSERT_FALSE(sums) << "operation " << i << ": " << *sums;
    if (i % 500 == 0) {
      const auto checked = market.book().check();
      ASSERT_TRUE(checked) << checked.error().message;
    }
  }
  EXPECT_GT(operations.trades, 1'000U);
  EXPECT_GT(operations.dry_runs, 500U);
  EXPECT_GT(operations.repeated, 1'000U);
  EXPECT_GT(market.book().closed().size(), 0U);
}

TEST(MarketProperty, TheHistoryReadBackGivesTheSameState) {
  MemoryJournal journal;
  Market market(journal);
  Operations operations(market, 11, Milliseconds{600'000});
  for (int i = 0; i < 5'000; ++i) ASSERT_FALSE(operations.step());
  Book again;
  const auto records = journal.read(0, SIZE_MAX);
  for (const auto& record : *records) {
    auto decoded = decode(encode(record));
    ASSERT_TRUE(decoded) << encode(record);
    decoded->seq = record.seq;
    decoded->key = record.key;
    decoded->at = record.at;
    EXPECT_EQ(*decoded, record);
    ASSERT_TRUE(again.apply(*decoded));
  }
  EXPECT_EQ(again.budgets(), market.book().budgets());
  EXPECT_EQ(again.wallets(), market.book().wallets());
  EXPECT_EQ(again.orders(), market.book().orders());
  EXPECT_EQ(again.reservations(), market.book().reservations());
}

}  // namespace
}  // namespace tidewatt::market::testing
