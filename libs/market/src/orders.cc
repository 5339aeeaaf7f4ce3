// Orders and how they match: at once, by price and time; or all at one price.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "draft.h"
#include "rules.h"

namespace tidewatt::market {
namespace {

/// Orders as they become within one record.
class Matching {
 public:
  explicit Matching(Draft& draft) : draft_(draft) {}

  /// `amount` goes from an offer to a bid. Its locks follow.
  void trade(Order& offer, Order& bid, Micrograms amount, MicroMoney price) {
    const auto cost = cost_down(amount, price).value_or(MicroMoney{});
    const auto locked = lock_of(bid);
    offer.left = offer.left - amount;
    bid.left = bid.left - amount;
    draft_.move(of_team(offer.period, AccountKind::offered, offer.team),
                of_team(offer.period, AccountKind::free, bid.team), amount.n);
    draft_.move(money(AccountKind::locked, bid.team), money(AccountKind::cash, offer.team), cost.n);
    draft_.move(money(AccountKind::locked, bid.team), money(AccountKind::cash, bid.team),
                locked - cost.n - lock_of(bid));
    draft_.record().trades.push_back(
        {offer.id, bid.id, offer.team, bid.team, offer.period, amount, price, cost});
    changed_.insert_or_assign(offer.id, offer);
    changed_.insert_or_assign(bid.id, bid);
  }
  void lock(const Order& order) {
    if (order.side == Side::offer)
      draft_.move(of_team(order.period, AccountKind::free, order.team),
                  of_team(order.period, AccountKind::offered, order.team), order.left.n);
    else
      draft_.move(money(AccountKind::cash, order.team), money(AccountKind::locked, order.team),
                  lock_of(order));
    changed_.insert_or_assign(order.id, order);
  }
  Result<Record> finish() {
    for (auto& [id, order] : changed_) draft_.record().orders.push_back(std::move(order));
    return draft_.finish();
  }

 private:
  static std::int64_t lock_of(const Order& bid) {
    return cost_up(bid.left, bid.price).value_or(kMostMoney).n;
  }
  Draft& draft_;
  std::map<std::uint64_t, Order> changed_;
};

bool crosses(const Order& a, const Order& b) {
  const auto& bid = a.side == Side::bid ? a : b;
  const auto& offer = a.side == Side::bid ? b : a;
  return bid.price >= offer.price;
}

Status check_order(const Book& book, const PlaceOrder& ask, UtcTime at) {
  TW_TRY_STATUS(check_team(ask.team));
  TW_TRY_STATUS(check_amount(ask.amount));
  TW_TRY_STATUS(check_open(book, ask.period, at));
  if (ask.price.n <= 0 || ask.price > kHighestPrice)
    return fail(ErrorCode::invalid_input, "no such price", "give more than 0 and at most 1,000,000 a kg");
  if (!cost_up(ask.amount, ask.price))
    return fail(ErrorCode::invalid_input, "amount times price is beyond what can be paid",
                "split the order, or lower the price");
  if (book.open_orders(ask.team) >= kMostOrdersOfATeam || book.orders().size() >= kMostOrders)
    return fail(ErrorCode::conflict, fmt::format("\"{}\", or the market, has too many open orders", ask.team),
                fmt::format("at most {} of a team: cancel some", kMostOrdersOfATeam));
  return {};
}

Side other(Side side) { return side == Side::offer ? Side::bid : Side::offer; }

/// What the order meets, best first; an error where it would meet the team's own.
Result<std::vector<Order>> met_by(const Book& book, const Order& order, bool match) {
  const auto* own = book.best_of(order.period, other(order.side), order.team);
  if (own != nullptr && crosses(order, *own))
    return fail(ErrorCode::conflict,
                fmt::format("it would match order {} of the same team, and own orders don't match", own->id),
                "cancel that order first, or give another price");
  std::vector<Order> met;
  if (!match) return met;
  auto wanted = order.left;
  book.each(order.period, other(order.side), [&](const Order& resting) {
    if (wanted.n == 0 || !crosses(order, resting)) return false;
    met.push_back(resting);
    wanted = wanted - std::min(wanted, resting.left);
    return met.size() <= kMostTradesAtOnce;
  });
  if (met.size() > kMostTradesAtOnce)
    return fail(ErrorCode::conflict, fmt::format("it would match more than {} orders", kMostTradesAtOnce),
                "split it");
  return met;
}

}  // namespace

Result<Record> decide_order(const Book& book, const PlaceOrder& ask, UtcTime at) {
  TW_TRY_STATUS(check_order(book, ask, at));
  Draft draft(book, RecordKind::order, at);
  Order order{draft.record().seq, ask.team, ask.side, ask.period, ask.price, ask.amount, ask.amount, at};
  TW_TRY(auto met, met_by(book, order, ask.match));
  Matching matching(draft);
  matching.lock(order);
  for (auto& resting : met) {
    const auto amount = std::min(order.left, resting.left);
    if (order.side == Side::offer)
      matching.trade(order, resting, amount, resting.price);
    else
      matching.trade(resting, order, amount, resting.price);
  }
  return matching.finish();
}

Result<Record> decide_cancel(const Book& book, const CancelOrder& ask, UtcTime at) {
  const auto found = book.orders().find(ask.order);
  if (found == book.orders().end() || (!ask.team.empty() && found->second.team != ask.team))
    return fail(ErrorCode::not_found, fmt::format("there is no open order {}", ask.order),
                "it may be filled, cancelled or another team's");
  Draft draft(book, RecordKind::cancel, at);
  auto order = found->second;
  if (order.side == Side::offer)
    draft.move(of_team(order.period, AccountKind::offered, order.team),
               of_team(order.period, AccountKind::free, order.team), order.left.n);
  else
    draft.move(money(AccountKind::locked, order.team), money(AccountKind::cash, order.team),
               cost_up(order.left, order.price).value_or(MicroMoney{}).n);
  order.left = {};
  draft.record().orders.push_back(std::move(order));
  return draft.finish();
}

namespace {

struct Pair {
  std::size_t offer, bid;
  Micrograms amount;
};

/// What trades in a call: the best offers and the best bids as long as they cross. Nothing that crosses is
/// left, so no other matching is worth more.
std::vector<Pair> crossing(std::vector<Order>& offers, std::vector<Order>& bids) {
  std::vector<Pair> pairs;
  std::size_t o = 0, b = 0;
  while (o < offers.size() && b < bids.size() && crosses(offers[o], bids[b])) {
    const auto amount = std::min(offers[o].left, bids[b].left);
    if (amount.n > 0) pairs.push_back({o, b, amount});
    offers[o].left = offers[o].left - amount;
    bids[b].left = bids[b].left - amount;
    if (offers[o].left.n == 0) ++o;
    if (b < bids.size() && bids[b].left.n == 0) ++b;
    if (pairs.size() >= kMostTradesAtOnce) break;
  }
  return pairs;
}

/// Half way between the prices at which as much would trade: nobody left out would have wanted it, nobody who
/// trades would rather not.
MicroMoney clearing_price(const std::vector<Order>& offers, const std::vector<Order>& bids,
                          const Pair& last) {
  auto low = offers[last.offer].price;
  auto high = bids[last.bid].price;
  const auto first_left = [](const std::vector<Order>& orders, std::size_t from) -> const Order* {
    while (from < orders.size() && orders[from].left.n == 0) ++from;
    return from < orders.size() ? &orders[from] : nullptr;
  };
  if (const auto* bid = first_left(bids, last.bid)) low = std::max(low, std::min(bid->price, high));
  if (const auto* offer = first_left(offers, last.offer)) high = std::min(high, std::max(offer->price, low));
  return {low.n + (high.n - low.n) / 2};
}

}  // namespace

Result<Record> decide_clear(const Book& book, const Clear& ask, UtcTime at) {
  TW_TRY_STATUS(check_open(book, ask.period, at));
  const auto copy = [&](Side side) {
    std::vector<Order> orders;
    for (const auto* order : book.side(ask.period, side)) orders.push_back(*order);
    return orders;
  };
  auto offers = copy(Side::offer);
  auto bids = copy(Side::bid);
  const auto pairs = crossing(offers, bids);
  if (pairs.empty())
    return fail(ErrorCode::not_found, fmt::format("nothing crosses in {}", to_string(ask.period)),
                "nothing is to be done");
  const auto price = clearing_price(offers, bids, pairs.back());
  offers = copy(Side::offer);
  bids = copy(Side::bid);
  Draft draft(book, RecordKind::clear, at);
  draft.record().note = fmt::format("one price: {} millionths a kg", price.n);
  Matching matching(draft);
  for (const auto& pair : pairs) matching.trade(offers[pair.offer], bids[pair.bid], pair.amount, price);
  return matching.finish();
}

}  // namespace tidewatt::market
