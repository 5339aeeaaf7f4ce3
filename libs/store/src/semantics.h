// What every store agrees on and no database can say: which accounts a filter means, how a node's notes
// merge.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "tidewatt/ledger/store.h"

namespace tidewatt::store {

inline bool matches(const ledger::AccountFilter& filter, const ledger::AccountKey& key) {
  return (!filter.scope || *filter.scope == key.scope) &&
         (filter.cluster.empty() || filter.cluster == key.cluster) &&
         (filter.domain.empty() || filter.domain == key.domain) &&
         (filter.ids.empty() || std::find(filter.ids.begin(), filter.ids.end(), key.id) != filter.ids.end());
}

/// What is stored after a note: the first time seen stays, a known sample time isn't forgotten; all else is
/// the note's. `stored` is null for a new node.
inline ledger::SharedNode noted(const ledger::SharedNode& stored, const ledger::SharedNode& note) {
  const auto first_seen = stored ? stored->first_seen_at : note->first_seen_at.value_or(note->last_seen_at);
  const auto last_sample = note->last_sample_at || !stored ? note->last_sample_at : stored->last_sample_at;
  if (note->first_seen_at == first_seen && note->last_sample_at == last_sample) return note;
  auto merged = std::make_shared<ledger::NodeInfo>(*note);
  merged->first_seen_at = first_seen;
  merged->last_sample_at = last_sample;
  return merged;
}

/// Months are closed one after the other. @return false = it is closed already
/// @param last  number of the last closed month
inline Result<bool> is_next_to_close(std::optional<std::int64_t> last, ledger::Month month) {
  if (!last || month.n == *last + 1) return true;
  if (month.n <= *last) return false;
  return fail(ErrorCode::conflict,
              ledger::to_string(month) + " can't be sealed: the last sealed month is " +
                  ledger::to_string(ledger::Month{*last}),
              "seal the months between first");
}

template <class A, class B>
void widen(std::optional<A>& first, std::optional<A>& last, const std::optional<B>& other_first,
           const std::optional<B>& other_last) {
  if (other_first && (!first || *other_first < *first)) first = other_first;
  if (other_last && (!last || *other_last > *last)) last = other_last;
}

}  // namespace tidewatt::store
