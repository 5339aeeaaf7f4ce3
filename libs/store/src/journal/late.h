// Adjustments of a range on their way into sums, from the tables and from the journal.
#pragma once

#include <cstdint>
#include <map>

#include "tidewatt/ledger/account.h"
#include "tidewatt/units/time.h"

namespace tidewatt::store {

/// No hour is frozen: nothing was sealed yet.
inline constexpr UtcHour kNothingFrozen = UtcHour::min();

struct LateHours {
  ledger::AccountKey key;
  std::map<UtcHour, ledger::WideMeasures> hours;

  /// Into a sum; an adjusted hour counts as a row, however many entries it has.
  void add_to(ledger::Account& sum) const {
    for (const auto& [hour, measures] : hours) {
      sum.totals += measures;
      sum.adjustments += measures;
      ++sum.rows;
    }
  }
};
using LateByNumber = std::map<std::int64_t, LateHours>;  ///< by the account's number

}  // namespace tidewatt::store
