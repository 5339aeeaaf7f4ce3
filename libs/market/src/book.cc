#include "tidewatt/market/book.h"

#include <fmt/format.h>

namespace tidewatt::market {
namespace {

template <class Map, class Key>
void count_down(Map& map, const Key& key) {
  if (const auto found = map.find(key); found != map.end() && --found->second == 0) map.erase(found);
}

tl::unexpected<Error> unsound(std::string what) {
  return fail(ErrorCode::internal, "the market's books are wrong: " + std::move(what),
              "stop trading and keep the database as it is: this is a fault of the program");
}

Status adds_up(const std::vector<Posting>& postings) {
  std::map<Period, Wide> carbon;
  Wide money = 0;
  for (const auto& posting : postings)
    (is_money(posting.account.kind) ? money : carbon[posting.account.period]) += posting.amount;
  for (const auto& [period, sum] : carbon)
    if (sum != 0) return fail(ErrorCode::corrupt, "postings of carbon don't add up to 0");
  if (money != 0) return fail(ErrorCode::corrupt, "postings of money don't add up to 0");
  return {};
}

}  // namespace

double Budget::utilization() const {
  const auto all = budget();
  const auto taken = static_cast<double>(Wide{used} + reserved);
  if (all <= 0) return taken > 0 ? 1 : 0;
  return taken / static_cast<double>(all);
}

const Budget* Book::budget(Period period, const std::string& team) const {
  const auto found = budgets_.find({period, team});
  return found == budgets_.end() ? nullptr : &found->second;
}

Wallet Book::wallet(const std::string& team) const {
  const auto found = wallets_.find(team);
  return found == wallets_.end() ? Wallet{} : found->second;
}

const Reservation* Book::reservation_of(const std::string& team, const std::string& task) const {
  const auto found = by_task_.find({team, task});
  return found == by_task_.end() ? nullptr : &reservations_.at(found->second);
}

std::vector<const Order*> Book::side(Period period, Side side) const {
  std::vector<const Order*> orders;
  each(period, side, [&orders](const Order& order) {
    orders.push_back(&order);
    return true;
  });
  return orders;
}

const Order* Book::best_of(Period period, Side side, const std::string& team) const {
  const auto found = own_.find({period, side, team});
  return found == own_.end() ? nullptr : &orders_.at(found->second.begin()->second);
}

std::vector<const Reservation*> Book::due(UtcTime by, std::size_t limit) const {
  std::vector<const Reservation*> found;
  for (const auto& [at, id] : due_) {
    if (at > by || found.size() >= limit) break;
    found.push_back(&reservations_.at(id));
  }
  return found;
}

std::size_t Book::open_orders(const std::string& team) const {
  const auto found = open_orders_.find(team);
  return found == open_orders_.end() ? 0 : found->second;
}

std::int64_t* Book::place_of(const Account& account, bool& negated) {
  negated = false;
  switch (account.kind) {
    case AccountKind::issued:
      return &issued_[account.period];
    case AccountKind::expired:
      return account.team.empty() ? &expired_[account.period] : nullptr;
    case AccountKind::paid_in:
      return &paid_in_;
    case AccountKind::cash:
      return &wallets_[account.team].cash;
    case AccountKind::locked:
      return &wallets_[account.team].locked;
    default:
      break;
  }
  auto& budget = budgets_[{account.period, account.team}];
  negated = account.kind == AccountKind::overdraft;
  return account.kind == AccountKind::free       ? &budget.free
         : account.kind == AccountKind::reserved ? &budget.reserved
         : account.kind == AccountKind::offered  ? &budget.offered
         : account.kind == AccountKind::used     ? &budget.used
                                                 : &budget.overdraft;
}

std::int64_t Book::balance(const Account& account) const {
  const auto of = [](const auto& map, const auto& key) {
    const auto found = map.find(key);
    return found == map.end() ? std::int64_t{0} : found->second;
  };
  switch (account.kind) {
    case AccountKind::issued:
      return of(issued_, account.period);
    case AccountKind::expired:
      return of(expired_, account.period);
    case AccountKind::paid_in:
      return paid_in_;
    case AccountKind::cash:
      return wallet(account.team).cash;
    case AccountKind::locked:
      return wallet(account.team).locked;
    default:
      break;
  }
  const auto* budget = this->budget(account.period, account.team);
  if (budget == nullptr) return 0;
  return account.kind == AccountKind::free       ? budget->free
         : account.kind == AccountKind::reserved ? budget->reserved
         : account.kind == AccountKind::offered  ? budget->offered
         : account.kind == AccountKind::used     ? budget->used
                                                 : -budget->overdraft;
}

Status Book::apply(const Record& record) {
  if (record.seq != last_seq_ + 1)
    return fail(ErrorCode::corrupt, fmt::format("record {} comes behind record {}", record.seq, last_seq_));
  TW_TRY_STATUS(adds_up(record.postings));
  tell_origins(record);
  for (const auto& posting : record.postings) {
    bool negated = false;
    auto* place = place_of(posting.account, negated);
    if (place == nullptr) return fail(ErrorCode::corrupt, "a posting to an account that nobody has");
    *place += negated ? -posting.amount : posting.amount;
    const bool of_nobody =
        posting.account.kind == AccountKind::issued || posting.account.kind == AccountKind::paid_in;
    if (!of_nobody && *place < 0)
      return fail(ErrorCode::corrupt, fmt::format("record {} takes {} of \"{}\" below 0", record.seq,
                                                  to_string(posting.account.kind), posting.account.team));
  }
  for (const auto& order : record.orders) put(order);
  for (const auto& reservation : record.reservations) put(reservation);
  if (record.closed) closed_.insert(*record.closed);
  last_seq_ = record.seq;
  return {};
}

/// Where a budget came from isn't told by its balances.
void Book::tell_origins(const Record& record) {
  for (const auto& trade : record.trades) {
    budgets_[{trade.period, trade.seller}].sold += trade.amount.n;
    budgets_[{trade.period, trade.buyer}].bought += trade.amount.n;
    trades_.push_back({trade, record.at, record.seq});
    if (trades_.size() > kTradesAtHand) trades_.pop_front();
  }
  const auto kind = record.kind;
  for (const auto& [account, amount] : record.postings) {
    if (is_money(account.kind) || account.team.empty()) continue;
    auto& budget = budgets_[{account.period, account.team}];
    if (kind == RecordKind::allot) budget.allotted += amount;
    if (kind == RecordKind::adjust) budget.adjusted += amount;
    if (kind == RecordKind::transfer) budget.transferred += amount;
    // A month that is closed takes what comes free in it.
    if (record.closed && account.period > *record.closed) budget.carried += amount;
    if (closed(account.period) || record.closed == account.period) budget.expired -= amount;
  }
  if (kind != RecordKind::allot) return;
  for (const auto& [account, amount] : record.postings)
    if (!account.team.empty()) budgets_[{account.period, account.team}].was_allotted = true;
}

void Book::put(const Order& order) {
  const Place place{order.side == Side::offer ? order.price.n : -order.price.n, order.id};
  const bool known = orders_.contains(order.id);
  if (order.left.n == 0) {
    if (!known) return;
    sides_[{order.period, order.side}].erase(place);
    const auto own = own_.find({order.period, order.side, order.team});
    own->second.erase(place);
    if (own->second.empty()) own_.erase(own);
    count_down(open_orders_, order.team);
    orders_.erase(order.id);
    return;
  }
  orders_.insert_or_assign(order.id, order);
  sides_[{order.period, order.side}].insert(place);
  own_[{order.period, order.side, order.team}].insert(place);
  if (!known) ++open_orders_[order.team];
}

void Book::put(const Reservation& reservation) {
  const std::pair task{reservation.team, reservation.task};
  const std::pair due{reservation.expires_at, reservation.id};
  if (reservation.ended || reservation.started)
    due_.erase(due);
  else
    due_.insert(due);
  if (!reservation.ended) {
    reservations_.insert_or_assign(reservation.id, reservation);
    if (!reservation.task.empty()) by_task_.insert_or_assign(task, reservation.id);
    return;
  }
  reservations_.erase(reservation.id);
  if (const auto found = by_task_.find(task); found != by_task_.end() && found->second == reservation.id)
    by_task_.erase(found);
}

Status Book::check_sums() const {
  std::map<Period, Wide> carbon;
  for (const auto& [period, issued] : issued_) carbon[period] += issued;
  for (const auto& [period, expired] : expired_) carbon[period] += expired;
  for (const auto& [whose, b] : budgets_) {
    carbon[whose.first] += Wide{b.free} + b.reserved + b.offered + b.used - b.overdraft;
    if (b.free < 0 || b.reserved < 0 || b.offered < 0 || b.used < 0 || b.overdraft < 0)
      return unsound(fmt::format("a balance of \"{}\" is below 0", whose.second));
    if (b.free > 0 && b.overdraft > 0)
      return unsound(fmt::format("\"{}\" has both something free and an overdraft", whose.second));
    if (b.budget() != Wide{b.allotted} + b.adjusted + b.transferred + b.carried + b.bought - b.sold)
      return unsound(fmt::format("the budget of \"{}\" isn't what it was made of", whose.second));
  }
  for (const auto& [period, sum] : carbon)
    if (sum != 0)
      return unsound(fmt::format("{} micrograms of {} came from nowhere", static_cast<std::int64_t>(sum),
                                 to_string(period)));
  Wide money = paid_in_;
  for (const auto& [team, wallet] : wallets_) {
    money += Wide{wallet.cash} + wallet.locked;
    if (wallet.cash < 0 || wallet.locked < 0) return unsound(fmt::format("\"{}\" owes money", team));
  }
  return money == 0 ? Status{} : unsound("money came from nowhere");
}

Status Book::check() const {
  TW_TRY_STATUS(check_sums());
  std::map<TeamPeriod, Wide> reserved, offered;
  std::map<std::string, Wide> locked;
  std::map<std::string, std::size_t> counts;
  for (const auto& [id, r] : reservations_) reserved[{r.period, r.team}] += r.left.n;
  for (const auto& [id, order] : orders_) {
    ++counts[order.team];
    if (order.side == Side::offer)
      offered[{order.period, order.team}] += order.left.n;
    else
      locked[order.team] += cost_up(order.left, order.price).value_or(kMostMoney).n;
    const auto side = sides_.find({order.period, order.side});
    if (side == sides_.end() ||
        !side->second.contains({order.side == Side::offer ? order.price.n : -order.price.n, id}))
      return unsound(fmt::format("order {} stands on no side", id));
  }
  for (const auto& [whose, b] : budgets_)
    if (reserved[whose] != b.reserved || offered[whose] != b.offered)
      return unsound(
          fmt::format("what \"{}\" has locked isn't what its reservations and offers hold", whose.second));
  for (const auto& [team, wallet] : wallets_)
    if (locked[team] != wallet.locked)
      return unsound(fmt::format("the bids of \"{}\" don't hold its locked money", team));
  return counts == open_orders_ ? Status{} : unsound("orders are counted wrongly");
}

}  // namespace tidewatt::market
