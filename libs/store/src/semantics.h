// What every store agrees on and no database can say: which accounts a filter means, how a node's notes
// merge.
#pragma once

#include <algorithm>
#include <optional>

#include "tidewatt/ledger/store.h"

namespace tidewatt::store {

inline bool matches(const ledger::AccountFilter& filter, const ledger::AccountKey& key) {
  return (!filter.scope || *filter.scope == key.scope) &&
         (filter.cluster.empty() || filter.cluster == key.cluster) &&
         (filter.domain.empty() || filter.domain == key.domain) &&
         (filter.ids.empty() || std::find(filter.ids.begin(), filter.ids.end(), key.id) != filter.ids.end());
}

/// The first time seen stays, a known sample time isn't forgotten; all else is the latest note's.
inline void note(ledger::NodeInfo& stored, const ledger::NodeInfo& noted, bool is_new) {
  const auto first_seen = is_new ? noted.first_seen_at.value_or(noted.last_seen_at) : stored.first_seen_at;
  const auto last_sample = is_new ? std::nullopt : stored.last_sample_at;
  stored = noted;
  stored.first_seen_at = first_seen;
  if (!stored.last_sample_at) stored.last_sample_at = last_sample;
}

template <class A, class B>
void widen(std::optional<A>& first, std::optional<A>& last, const std::optional<B>& other_first,
           const std::optional<B>& other_last) {
  if (other_first && (!first || *other_first < *first)) first = other_first;
  if (other_last && (!last || *other_last > *last)) last = other_last;
}

}  // namespace tidewatt::store
