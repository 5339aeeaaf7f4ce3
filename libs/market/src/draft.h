// A record in the making: postings are gathered by account, and checked against the balances at the end.
#pragma once

#include <map>
#include <string>

#include "tidewatt/base/result.h"
#include "tidewatt/market/book.h"

namespace tidewatt::market {

class Draft {
 public:
  Draft(const Book& book, RecordKind kind, UtcTime at);

  /// Both sides of an entry.
  void move(const Account& from, const Account& to, std::int64_t amount);
  Record& record() { return record_; }
  [[nodiscard]] std::int64_t balance(const Account& account) const;

  enum class Overdraft : std::uint8_t { forbidden, allowed };
  /// Pays overdrafts back from what came free, lets what comes free in a closed month expire, and looks that
  /// no balance goes below 0.
  Result<Record> finish(Overdraft overdraft = Overdraft::forbidden);

 private:
  void add(const Account& account, std::int64_t amount);
  void even_out();
  [[nodiscard]] Status check() const;

  const Book& book_;
  Record record_;
  std::map<Account, Wide> changes_;
};

inline Account of_team(Period period, AccountKind kind, const std::string& team) {
  return {period, kind, team};
}
inline Account of_nobody(Period period, AccountKind kind) { return {period, kind, {}}; }
inline Account money(AccountKind kind, const std::string& team) { return {{}, kind, team}; }

}  // namespace tidewatt::market
