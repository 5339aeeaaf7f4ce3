#include "unfolded.h"

#include <algorithm>

#include "../semantics.h"

namespace tidewatt::store {

ledger::WideMeasures UnfoldedAccount::total() const {
  ledger::WideMeasures sum;
  for (const auto& [hour, measures] : hours) sum += measures;
  return sum;
}

void Unfolded::add(Changes&& changes, std::size_t bytes) {
  for (const auto& account : changes.accounts) new_accounts.emplace(account.pk, account.key);
  for (const auto& name : changes.names) new_names.emplace(name.id, name.name);
  touched_.clear();
  for (const auto& touched : changes.touched) {
    auto& account = accounts[touched.account];
    if (touched.key != nullptr) account.key = touched.key;
    widen(account.first_sample_at, account.last_sample_at, touched.first_sample_at, touched.last_sample_at);
    touched_.push_back(&account);
  }
  for (const auto& row : changes.rows) {
    auto& hours = touched_[row.touched]->hours;
    const bool added = std::any_of(hours.begin(), hours.end(), [&](auto& hour) {
      return hour.first == row.hour && add_unless_overflow(hour.second, row.measures);
    });
    if (!added) hours.emplace_back(row.hour, row.measures);
  }
  for (auto& point : changes.points) points[point.node].emplace_back(point.at, std::move(point.bytes));
  journal_bytes += bytes;
}

}  // namespace tidewatt::store
