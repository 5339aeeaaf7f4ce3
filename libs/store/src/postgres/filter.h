// A filter of accounts as SQL over `account_keys k` and as a test of keys.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "../semantics.h"
#include "connection.h"
#include "tidewatt/ledger/store.h"

namespace tidewatt::store::pg {

class Matcher {
 public:
  explicit Matcher(const ledger::AccountFilter& filter)
      : filter_(filter), ids_(filter.ids.begin(), filter.ids.end()) {
    rest_.scope = filter.scope;
    rest_.cluster = filter.cluster;
    rest_.domain = filter.domain;
  }
  [[nodiscard]] bool operator()(const ledger::AccountKey& key) const {
    return matches(rest_, key) && (ids_.empty() || ids_.contains(key.id));
  }
  /// Its parameters are $1, $2, ... in this order; further ones come behind.
  [[nodiscard]] std::string where(Params& params, int& last) const {
    std::string sql = "true";
    const auto next = [&last] { return "$" + std::to_string(++last); };
    if (filter_.scope) {
      sql += " AND k.scope = " + next();
      params.add(static_cast<std::int64_t>(*filter_.scope));
    }
    if (!ids_.empty()) {
      sql += " AND k.id = ANY(" + next() + "::text[])";
      Array ids(Array::Of::texts);
      for (const auto& id : ids_) ids.add(std::string_view(id));
      params.add(std::move(ids));
    }
    if (!filter_.cluster.empty()) {
      sql += " AND k.cluster = " + next();
      params.text(filter_.cluster);
    }
    if (!filter_.domain.empty()) {
      sql += " AND k.domain = " + next();
      params.text(filter_.domain);
    }
    return sql;
  }

 private:
  const ledger::AccountFilter& filter_;
  ledger::AccountFilter rest_;
  std::unordered_set<std::string> ids_;
};

}  // namespace tidewatt::store::pg
