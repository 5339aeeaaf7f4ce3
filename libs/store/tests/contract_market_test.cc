// The carbon market's journal, in every store: numbers without gaps, each key once, two writers on one store.
#include <thread>

#include "store_fixtures.h"
#include "tidewatt/store/market_journal.h"

namespace tidewatt::store::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, ::testing::ValuesIn(all_kinds()), kind_name);

MarketEntry entry(std::int64_t seq, const std::string& key, const std::string& body = "{}") {
  return {seq, key, kNoon, body};
}

TEST_P(StoreContract, EntriesOfTheMarketAreNumberedWithoutGaps) {
  EXPECT_EQ(*store_.append_market(entry(2, "b")), MarketAppend::seq_taken) << "the first is 1";
  EXPECT_EQ(*store_.append_market(entry(1, "a", "{\"team\":\"视觉\"}")), MarketAppend::appended);
  EXPECT_EQ(*store_.append_market(entry(1, "b")), MarketAppend::seq_taken);
  EXPECT_EQ(*store_.append_market(entry(3, "b")), MarketAppend::seq_taken);
  EXPECT_EQ(*store_.append_market(entry(2, "b")), MarketAppend::appended);
  EXPECT_EQ(*store_.market_entries(0, 10),
            (std::vector{entry(1, "a", "{\"team\":\"视觉\"}"), entry(2, "b")}));
  EXPECT_EQ(*store_.market_entries(1, 10), std::vector{entry(2, "b")});
  EXPECT_EQ(*store_.market_entries(0, 1), std::vector{entry(1, "a", "{\"team\":\"视觉\"}")});
  EXPECT_TRUE(store_.market_entries(2, 10)->empty());
}

TEST_P(StoreContract, AKeyOfTheMarketStandsOnce) {
  ASSERT_EQ(*store_.append_market(entry(1, "a")), MarketAppend::appended);
  EXPECT_EQ(*store_.append_market(entry(2, "a")), MarketAppend::key_known);
  EXPECT_EQ(*store_.append_market(entry(1, "a")), MarketAppend::appended)
      << "the very same, after a lost answer";
  EXPECT_EQ(store_.market_entries(0, 10)->size(), 1U);
  EXPECT_EQ(*store_.market_entry("a"), entry(1, "a"));
  EXPECT_EQ(*store_.market_entry("b"), std::nullopt);
}

TEST_P(StoreContract, TwoMarketsOnOneStoreNeverGiveABudgetTwice) {
  using namespace tidewatt::market;
  const Period period = period_of(kNoon);
  {
    const auto journal = market_journal(store_);
    Market first(*journal);
    ASSERT_TRUE(first.run({"allot", "ops", Allot{"vision", period, {1'000}}}, kNoon));
  }
  std::vector<std::thread> threads;
  std::atomic<int> admitted{0};
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      const auto journal = market_journal(store_);
      Market market(*journal);
      for (int i = 0; i < 30; ++i) {
        const auto name = std::to_string(t) + "/" + std::to_string(i);
        const auto answer = market.admit({name, "ops", Admit{"vision", name, Micrograms{50}}}, kNoon, false);
        ASSERT_TRUE(answer) << answer.error().to_string();
        if (answer->decision.allowed) ++admitted;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(admitted, 20);
  const auto journal = market_journal(store_);
  Market after(*journal);
  ASSERT_TRUE(after.catch_up());
  EXPECT_EQ(after.book().budget(period, "vision")->reserved, 1'000);
  EXPECT_TRUE(after.book().check());
}

}  // namespace
}  // namespace tidewatt::store::testing
