#include "draft.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidewatt::market {
namespace {

constexpr int kShownDigits = 6;

std::string shown(const Account& account, Wide amount) {
  const auto number = static_cast<double>(amount);
  return is_money(account.kind)
             ? fmt::format("{:.{}g}", number / static_cast<double>(kMicroAUnit), kShownDigits)
             : fmt::format("{:.{}g} kg", number / static_cast<double>(kMicrogramsAKg), kShownDigits);
}

}  // namespace

Draft::Draft(const Book& book, RecordKind kind, UtcTime at) : book_(book) {
  record_.seq = book.last_seq() + 1;
  record_.kind = kind;
  record_.at = at;
}

void Draft::add(const Account& account, std::int64_t amount) {
  if (amount != 0) changes_[account] += amount;
}

void Draft::move(const Account& from, const Account& to, std::int64_t amount) {
  add(from, -amount);
  add(to, amount);
}

std::int64_t Draft::balance(const Account& account) const {
  const auto found = changes_.find(account);
  return book_.balance(account) + (found == changes_.end() ? 0 : static_cast<std::int64_t>(found->second));
}

void Draft::even_out() {
  std::map<TeamPeriod, bool> touched;
  for (const auto& [account, amount] : changes_)
    if (!is_money(account.kind) && !account.team.empty()) touched[{account.period, account.team}] = true;
  for (const auto& [whose, yes] : touched) {
    const auto free = of_team(whose.first, AccountKind::free, whose.second);
    const auto over = of_team(whose.first, AccountKind::overdraft, whose.second);
    const auto have = balance(free);
    const auto owed = -balance(over);
    if (have < 0)
      move(over, free, -have);
    else if (owed > 0)
      move(free, over, std::min(have, owed));
    const bool closed = book_.closed(whose.first) || record_.closed == whose.first;
    if (closed && balance(free) > 0) move(free, of_nobody(whose.first, AccountKind::expired), balance(free));
  }
}

Status Draft::check() const {
  for (const auto& [account, change] : changes_) {
    const auto after = Wide{book_.balance(account)} + change;
    if (after > kFullest || after < -Wide{kFullest})
      return fail(
          ErrorCode::invalid_input,
          fmt::format("{} of \"{}\" would be beyond what can be kept", to_string(account.kind), account.team),
          "use smaller amounts");
    const bool may_be_negative = account.kind == AccountKind::issued ||
                                 account.kind == AccountKind::paid_in ||
                                 account.kind == AccountKind::overdraft;
    if (after < 0 && !may_be_negative)
      return fail(ErrorCode::conflict,
                  fmt::format("team \"{}\" has {} {}, and {} is needed", account.team,
                              shown(account, book_.balance(account)), to_string(account.kind),
                              shown(account, -change)),
                  is_money(account.kind) ? "pay in, or cancel bids that lock money"
                                         : "take less, or cancel offers and reservations that lock budget");
  }
  return {};
}

Result<Record> Draft::finish(Overdraft overdraft) {
  if (overdraft == Overdraft::forbidden) TW_TRY_STATUS(check());
  even_out();
  TW_TRY_STATUS(check());
  for (const auto& [account, amount] : changes_)
    if (amount != 0) record_.postings.push_back({account, static_cast<std::int64_t>(amount)});
  return std::move(record_);
}

}  // namespace tidewatt::market
