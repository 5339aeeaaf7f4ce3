// Matching: price, then time; one price in a call; worth as much as the best matching there is.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "journal_in_memory.h"

namespace tidewatt::market {
namespace {

const UtcTime kNow = *parse_rfc3339("2026-11-10T12:00:00Z");
constexpr Period kNov{(2026 - 1970) * 12 + 10};
constexpr Micrograms kg(std::int64_t n) { return {n * kMicrogramsAKg}; }
constexpr MicroMoney coins(std::int64_t n) { return {n * kMicroAUnit}; }

class Orders : public ::testing::Test {
 protected:
  void give(const std::string& team, std::int64_t kilograms, std::int64_t units) {
    must(Allot{team, kNov, kg(kilograms)});
    if (units > 0) must(PayIn{team, coins(units)});
  }
  Record must(const Command& command) {
    const auto done = run(command);
    EXPECT_TRUE(done) << done.error().to_string();
    const auto checked = market.book().check();
    EXPECT_TRUE(checked) << checked.error().message;
    return done ? done->record : Record{};
  }
  Result<Outcome> run(const Command& command) {
    return market.run({"k" + std::to_string(++keys), "ops", command}, kNow);
  }
  Record offer(const std::string& team, std::int64_t kilograms, std::int64_t price, bool match = true) {
    return must(PlaceOrder{team, Side::offer, kNov, kg(kilograms), coins(price), match});
  }
  Record bid(const std::string& team, std::int64_t kilograms, std::int64_t price, bool match = true) {
    return must(PlaceOrder{team, Side::bid, kNov, kg(kilograms), coins(price), match});
  }
  const Budget& of(const std::string& team) { return *market.book().budget(kNov, team); }

  testing::MemoryJournal journal;
  Market market{journal};
  int keys = 0;
};

TEST_F(Orders, TheRestingOrdersPriceIsTheTradesAndTheBestComesFirst) {
  give("a", 10, 0), give("b", 10, 0), give("c", 0, 100);
  offer("a", 5, 3);
  const auto earlier = offer("b", 2, 2);
  const auto later = offer("a", 2, 2);
  const auto taken = bid("c", 6, 4);
  ASSERT_EQ(taken.trades.size(), 3U);
  EXPECT_EQ(taken.trades[0].offer, earlier.seq);
  EXPECT_EQ(taken.trades[1].offer, later.seq);
  EXPECT_EQ(taken.trades[2].price, coins(3));
  EXPECT_EQ(taken.trades[2].amount, kg(2));
  EXPECT_EQ(market.book().wallet("c").cash, coins(100 - 2 * 2 - 2 * 2 - 2 * 3).n);
  EXPECT_EQ(of("c").free, kg(6).n);
  EXPECT_EQ(of("a").offered, kg(3).n) << "the rest of its first offer";
}

TEST_F(Orders, OffersLockBudgetAndBidsLockMoney) {
  give("a", 10, 0), give("c", 0, 10);
  const auto posted = offer("a", 8, 5);
  EXPECT_FALSE(run(PlaceOrder{"a", Side::offer, kNov, kg(3), coins(5)})) << "2 kg are free";
  EXPECT_FALSE(run(Transfer{"a", "c", kNov, kg(3)})) << "what is offered can't be given away";
  bid("c", 5, 2);
  EXPECT_FALSE(run(PlaceOrder{"c", Side::bid, kNov, kg(1), coins(1)})) << "all its money is locked";
  EXPECT_FALSE(run(PayIn{"c", coins(-1)}));
  EXPECT_FALSE(run(CancelOrder{posted.seq, "c"})) << "another team's";
  must(CancelOrder{posted.seq, "a"});
  EXPECT_EQ(of("a").free, kg(10).n);
  EXPECT_FALSE(run(CancelOrder{posted.seq, "a"})) << "once";
}

TEST_F(Orders, OwnOrdersDontMatch) {
  give("a", 10, 100);
  offer("a", 1, 5);
  const auto crossing = run(PlaceOrder{"a", Side::bid, kNov, kg(1), coins(5)});
  ASSERT_FALSE(crossing);
  EXPECT_EQ(crossing.error().code, ErrorCode::conflict);
  bid("a", 1, 4);
}

TEST_F(Orders, AllTradesOfACallHaveOnePrice) {
  give("a", 10, 0), give("b", 10, 0), give("c", 0, 1'000), give("d", 0, 1'000);
  offer("a", 4, 2, false), offer("b", 4, 6, false), offer("b", 2, 9, false);
  bid("c", 3, 10, false), bid("d", 4, 7, false), bid("c", 2, 5, false);
  const auto cleared = must(Clear{kNov});
  Wide sold = 0;
  for (const auto& trade : cleared.trades) {
    sold += trade.amount.n;
    EXPECT_EQ(trade.price, cleared.trades[0].price);
  }
  EXPECT_EQ(static_cast<std::int64_t>(sold), kg(7).n);
  // 1 kg of the offer at 6 is left, the bid at 7 is filled: 6 is the one price at which nobody left out wants
  // in.
  EXPECT_EQ(cleared.trades[0].price, coins(6));
  EXPECT_FALSE(run(Clear{kNov})) << "nothing crosses any more";
}

TEST_F(Orders, AnAmountOfMicrogramsCostsWhatItCosts) {
  give("a", 1, 0), give("c", 0, 1);
  must(PlaceOrder{"a", Side::offer, kNov, {333'333'333}, {7}});
  const auto taken = must(PlaceOrder{"c", Side::bid, kNov, {333'333'333}, {10}});
  EXPECT_EQ(taken.trades.at(0).cost.n, 2) << "0.333333333 kg at 7 millionths, rounded down";
  EXPECT_EQ(market.book().wallet("c").cash, coins(1).n - 2);
  EXPECT_EQ(market.book().wallet("c").locked, 0);
}

/// The worth of the best matching of unit lots, by trying every number of pairs of every order of them.
std::int64_t best_worth(std::vector<std::int64_t> offers, std::vector<std::int64_t> bids) {
  std::int64_t best = 0;
  std::sort(bids.begin(), bids.end());
  do {
    // Bids in this order meet offers as they stand; a pair may be left out.
    std::int64_t worth = 0;
    for (std::size_t i = 0; i < std::min(offers.size(), bids.size()); ++i)
      worth += std::max<std::int64_t>(0, bids[i] - offers[i]);
    best = std::max(best, worth);
  } while (std::next_permutation(bids.begin(), bids.end()));
  return best;
}

TEST(Auction, IsWorthAsMuchAsTheBestMatching) {
  std::mt19937_64 random{5};  // NOLINT(cert-msc51-cpp): the same cases each time
  const auto pick = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  for (int round = 0; round < 300; ++round) {
    testing::MemoryJournal journal;
    Market market(journal);
    int keys = 0;
    std::vector<std::int64_t> offers, bids;
    std::map<std::uint64_t, std::int64_t> price_of;
    const auto run = [&](const Command& command) {
      return market.run({"k" + std::to_string(++keys), "ops", command}, kNow);
    };
    for (int i = 0; i < 8; ++i) {
      const auto name = "t" + std::to_string(i);
      ASSERT_TRUE(run(Allot{name, kNov, kg(10)}));
      ASSERT_TRUE(run(PayIn{name, coins(10'000)}));
      // Lots of 1 to 3 kg, 6 on each side at most: every matching can be tried.
      auto& lots = i % 2 == 0 ? offers : bids;
      const auto count = std::min<std::size_t>(static_cast<std::size_t>(1 + pick(3)), 6 - lots.size());
      const auto price = 1 + pick(12);
      if (count == 0) continue;
      const auto placed = run(PlaceOrder{name, i % 2 == 0 ? Side::offer : Side::bid, kNov,
                                         kg(static_cast<std::int64_t>(count)), coins(price), false});
      ASSERT_TRUE(placed) << placed.error().to_string();
      price_of[placed->record.seq] = price;
      lots.insert(lots.end(), count, price);
    }
    while (offers.size() < bids.size())
      offers.push_back(1'000);  // nobody wants these, and these want nothing
    while (bids.size() < offers.size()) bids.push_back(0);
    const auto cleared = run(Clear{kNov});
    std::int64_t worth = 0;
    if (cleared)
      for (const auto& trade : cleared->record.trades) {
        worth += trade.amount.n / kMicrogramsAKg * (price_of[trade.bid] - price_of[trade.offer]);
        EXPECT_LE(trade.price, coins(price_of[trade.bid]));
        EXPECT_GE(trade.price, coins(price_of[trade.offer]));
        EXPECT_NE(trade.buyer, trade.seller);
      }
    EXPECT_EQ(worth, best_worth(offers, bids)) << "round " << round;
    ASSERT_TRUE(market.book().check());
  }
}

}  // namespace
}  // namespace tidewatt::market
