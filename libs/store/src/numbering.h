// Numbers for the accounts of a restored ledger.
#pragma once

#include <cstdint>
#include <map>

#include "tidewatt/base/result.h"
#include "tidewatt/ledger/account.h"

namespace tidewatt::store {

class Numbering {
 public:
  /// The next number. @error corrupt  it has one
  Result<std::int64_t> give(const ledger::AccountKey& key) {
    const auto number = static_cast<std::int64_t>(numbers_.size()) + 1;
    if (!numbers_.emplace(key, number).second)
      return fail(ErrorCode::corrupt, "the backup holds account " + key.id + " twice", "use another backup");
    return number;
  }
  /// @error corrupt  it has none
  [[nodiscard]] Result<std::int64_t> of(const ledger::AccountKey& key) const {
    const auto found = numbers_.find(key);
    if (found == numbers_.end())
      return fail(ErrorCode::corrupt, "the backup holds hours of account " + key.id + ", but not the account",
                  "use another backup");
    return found->second;
  }
  [[nodiscard]] std::int64_t last() const { return static_cast<std::int64_t>(numbers_.size()); }

 private:
  std::map<ledger::AccountKey, std::int64_t> numbers_;
};

}  // namespace tidewatt::store
