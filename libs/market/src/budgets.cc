// How budgets come, change and end.
#include <fmt/format.h>

#include <cstdlib>

#include "draft.h"
#include "rules.h"

namespace tidewatt::market {

Result<Record> decide_allot(const Book& book, const Allot& ask, UtcTime at) {
  TW_TRY_STATUS(check_team(ask.team));
  if (ask.amount.n != 0) TW_TRY_STATUS(check_amount(ask.amount));
  TW_TRY_STATUS(check_open(book, ask.period, at));
  const auto* stands = book.budget(ask.period, ask.team);
  const bool first = stands == nullptr || !stands->was_allotted;
  if (!first && at >= ask.period.begin())
    return fail(ErrorCode::conflict,
                fmt::format("the budget of \"{}\" for {} stands since before the month", ask.team,
                            to_string(ask.period)),
                "adjust it, with a reason, or let the team trade");
  Draft draft(book, RecordKind::allot, at);
  const auto change = ask.amount.n - (stands == nullptr ? 0 : stands->allotted);
  draft.move(of_nobody(ask.period, AccountKind::issued), of_team(ask.period, AccountKind::free, ask.team),
             change);
  TW_TRY(auto record, draft.finish());
  // Also a budget of nothing is one: from now on the team is held to it.
  if (change == 0 && first) record.postings.push_back({of_team(ask.period, AccountKind::free, ask.team), 0});
  return record;
}

Result<Record> decide_adjust(const Book& book, const Adjust& ask, UtcTime at) {
  TW_TRY_STATUS(check_team(ask.team));
  TW_TRY_STATUS(check_amount({std::abs(ask.amount.n)}));
  TW_TRY_STATUS(check_open(book, ask.period, at));
  if (ask.reason.empty())
    return fail(ErrorCode::invalid_input, "an adjustment needs a reason", "say why in `reason`");
  if (book.budget(ask.period, ask.team) == nullptr)
    return fail(ErrorCode::not_found,
                fmt::format("\"{}\" has no budget for {}", ask.team, to_string(ask.period)),
                "allot one first");
  Draft draft(book, RecordKind::adjust, at);
  draft.record().note = ask.reason;
  draft.move(of_nobody(ask.period, AccountKind::issued), of_team(ask.period, AccountKind::free, ask.team),
             ask.amount.n);
  return draft.finish();
}

Result<Record> decide_pay_in(const Book& book, const PayIn& ask, UtcTime at) {
  TW_TRY_STATUS(check_team(ask.team));
  if (ask.amount.n == 0 || std::abs(ask.amount.n) > kMostMoney.n)
    return fail(ErrorCode::invalid_input, "no such sum of money",
                "give some, and at most 100,000,000,000 units");
  Draft draft(book, RecordKind::pay_in, at);
  draft.move(money(AccountKind::paid_in, {}), money(AccountKind::cash, ask.team), ask.amount.n);
  return draft.finish();
}

Result<Record> decide_transfer(const Book& book, const Transfer& ask, UtcTime at) {
  TW_TRY_STATUS(check_team(ask.from));
  TW_TRY_STATUS(check_team(ask.to));
  TW_TRY_STATUS(check_amount(ask.amount));
  TW_TRY_STATUS(check_open(book, ask.period, at));
  if (ask.from == ask.to)
    return fail(ErrorCode::invalid_input, "a team can't give to itself", "name two teams");
  Draft draft(book, RecordKind::transfer, at);
  draft.move(of_team(ask.period, AccountKind::free, ask.from), of_team(ask.period, AccountKind::free, ask.to),
             ask.amount.n);
  return draft.finish();
}

namespace {

constexpr std::int64_t kAllPercent = 100;

void end_orders(const Book& book, Period period, Draft& draft) {
  for (const auto side : {Side::offer, Side::bid})
    book.each(period, side, [&](const Order& order) {
      auto gone = order;
      gone.left = {};
      draft.record().orders.push_back(gone);
      if (side == Side::offer)
        draft.move(of_team(period, AccountKind::offered, order.team),
                   of_team(period, AccountKind::free, order.team), order.left.n);
      else
        draft.move(money(AccountKind::locked, order.team), money(AccountKind::cash, order.team),
                   cost_up(order.left, order.price).value_or(MicroMoney{}).n);
      return true;
    });
}

}  // namespace

Result<Record> decide_close(const Book& book, const CloseMonth& ask, UtcTime at) {
  if (at < ask.period.end())
    return fail(ErrorCode::conflict, fmt::format("{} isn't over yet", to_string(ask.period)),
                "it is closed at 00:00 UTC on the 1st");
  if (book.closed(ask.period))
    return fail(ErrorCode::conflict, fmt::format("{} is closed already", to_string(ask.period)));
  if (ask.carry_percent < 0 || ask.carry_percent > kAllPercent)
    return fail(ErrorCode::invalid_input, fmt::format("{} % can't be carried over", ask.carry_percent),
                "give 0 to 100");
  Draft draft(book, RecordKind::close, at);
  end_orders(book, ask.period, draft);
  draft.record().closed = ask.period;
  const auto next = ask.period.next();
  for (const auto& [whose, budget] : book.budgets()) {
    if (whose.first != ask.period) continue;
    const auto own = of_team(ask.period, AccountKind::free, whose.second);
    const auto free = draft.balance(own);
    const auto carried =
        book.closed(next) ? 0 : static_cast<std::int64_t>(Wide{free} * ask.carry_percent / kAllPercent);
    if (free > carried) draft.move(own, of_nobody(ask.period, AccountKind::expired), free - carried);
    draft.move(own, of_nobody(ask.period, AccountKind::issued), carried);
    draft.move(of_nobody(next, AccountKind::issued), of_team(next, AccountKind::free, whose.second), carried);
  }
  return draft.finish();
}

}  // namespace tidewatt::market
