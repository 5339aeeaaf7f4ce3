// Where budgets, reservations and orders stand: the sum of all records so far.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/market/record.h"

namespace tidewatt::market {

/// One team's month. All in micrograms.
struct Budget {
  std::int64_t free = 0;
  std::int64_t reserved = 0;
  std::int64_t offered = 0;
  std::int64_t used = 0;
  std::int64_t overdraft = 0;  ///< at least 0, and 0 where anything is free
  // how it came to be
  std::int64_t allotted = 0;
  std::int64_t adjusted = 0;
  std::int64_t transferred = 0;  ///< received less given
  std::int64_t carried = 0;      ///< from the month before
  std::int64_t bought = 0;
  std::int64_t sold = 0;
  std::int64_t expired = 0;   ///< or carried on, when the month ended
  bool was_allotted = false;  ///< also to nothing

  /// All that the team may use in the month: allotted, adjusted, transferred, carried, bought less sold.
  [[nodiscard]] Wide budget() const { return Wide{free} + reserved + offered + used - overdraft + expired; }
  /// (used + reserved) / budget; 1 where there is no budget but use, 0 where there is neither.
  [[nodiscard]] double utilization() const;
  friend bool operator==(const Budget&, const Budget&) = default;
};

struct Wallet {
  std::int64_t cash = 0;
  std::int64_t locked = 0;
  friend bool operator==(const Wallet&, const Wallet&) = default;
};

struct PastTrade {
  Trade trade;
  UtcTime at{};
  std::uint64_t record = 0;
};
/// So many trades are at hand; all of them are in the journal.
inline constexpr std::size_t kTradesAtHand = 1'000;

using TeamPeriod = std::pair<Period, std::string>;

class Book {
 public:
  /// Adds a record; trusted, as it was decided on this very state or read back from where it was written.
  /// @error corrupt  its number isn't the next one, its postings don't add up to zero, or a balance that may
  /// not be negative would be
  Status apply(const Record& record);

  [[nodiscard]] std::uint64_t last_seq() const { return last_seq_; }
  [[nodiscard]] const Budget* budget(Period period, const std::string& team) const;
  [[nodiscard]] const std::map<TeamPeriod, Budget>& budgets() const { return budgets_; }
  [[nodiscard]] const std::map<std::string, Wallet>& wallets() const { return wallets_; }
  [[nodiscard]] Wallet wallet(const std::string& team) const;
  [[nodiscard]] const std::map<std::uint64_t, Reservation>& reservations() const { return reservations_; }
  [[nodiscard]] const Reservation* reservation_of(const std::string& team, const std::string& task) const;
  [[nodiscard]] const std::map<std::uint64_t, Order>& orders() const { return orders_; }
  /// Best first: the price, then the earlier one.
  [[nodiscard]] std::vector<const Order*> side(Period period, Side side) const;
  /// The same one by one, until `take` says false.
  template <class Take>
  void each(Period period, Side side, const Take& take) const {
    const auto found = sides_.find({period, side});
    if (found == sides_.end()) return;
    for (const auto& [price, id] : found->second)
      if (!take(orders_.at(id))) return;
  }
  /// The best of one team's own; nullptr = it has none.
  [[nodiscard]] const Order* best_of(Period period, Side side, const std::string& team) const;
  /// Reservations that didn't start by then, the longest due first, at most `limit`.
  [[nodiscard]] std::vector<const Reservation*> due(UtcTime by, std::size_t limit) const;
  [[nodiscard]] std::size_t open_orders(const std::string& team) const;
  [[nodiscard]] bool closed(Period period) const { return closed_.contains(period); }
  [[nodiscard]] const std::set<Period>& closed() const { return closed_; }
  /// The latest, oldest first.
  [[nodiscard]] const std::deque<PastTrade>& trades() const { return trades_; }
  [[nodiscard]] std::int64_t balance(const Account& account) const;

  /// Adds up everything anew: carbon of each month and money are 0, nothing is negative, orders lock what
  /// they must and reservations hold what they must. @error internal  what isn't so
  [[nodiscard]] Status check() const;
  /// The sums alone, without looking at each order: cheap.
  [[nodiscard]] Status check_sums() const;

 private:
  /// Sorts a side best first: offers by price, bids by its negative.
  using Place = std::pair<std::int64_t, std::uint64_t>;
  std::int64_t* place_of(const Account& account, bool& negated);
  void put(const Order& order);
  void put(const Reservation& reservation);
  void tell_origins(const Record& record);

  std::uint64_t last_seq_ = 0;
  std::map<TeamPeriod, Budget> budgets_;
  std::map<std::string, Wallet> wallets_;
  std::map<Period, std::int64_t> issued_, expired_;
  std::int64_t paid_in_ = 0;
  std::map<std::uint64_t, Reservation> reservations_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> by_task_;
  std::map<std::uint64_t, Order> orders_;
  std::map<std::pair<Period, Side>, std::set<Place>> sides_;
  std::map<std::tuple<Period, Side, std::string>, std::set<Place>> own_;
  std::set<std::pair<UtcTime, std::uint64_t>> due_;
  std::map<std::string, std::size_t> open_orders_;
  std::set<Period> closed_;
  std::deque<PastTrade> trades_;
};

}  // namespace tidewatt::market
