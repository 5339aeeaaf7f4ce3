// Account keys and curve names to their numbers. The writer thread's own: nobody else looks in here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../journal/changes.h"
#include "db.h"
#include "tidewatt/base/result.h"

namespace tidewatt::store {

struct AccountHash {
  std::size_t operator()(const ledger::AccountKey& key) const;
};

class AccountIndex {
 public:
  struct Entry {
    std::int64_t pk = 0;
    const ledger::AccountKey* key = nullptr;
    // Where the commit in the making has it.
    std::uint64_t commit = 0;
    std::size_t touched = 0;
    std::size_t row = 0;
    UtcHour row_hour{};
  };

  /// Goes on after the highest number given so far, in the tables or in the replayed journal.
  Status load(Database& db);
  void remember(const NewAccount& account);
  /// A key nobody knows gets a number and stands in `fresh`.
  Result<Entry*> find_or_add(Database& db, const ledger::AccountKey& key, std::vector<NewAccount>& fresh);
  /// The commit failed: its new numbers never were.
  void forget(const std::vector<NewAccount>& fresh);
  /// Only right after a checkpoint, when every number stands in the tables.
  void shrink(std::size_t most);
  /// Entries stay where they are while this stays the same.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

 private:
  std::uint64_t generation_ = 1;
  std::unordered_map<ledger::AccountKey, Entry, AccountHash> entries_;
  std::int64_t last_pk_ = 0;
};

class NameIndex {
 public:
  Status load(Database& db);
  void remember(const NewName& name);
  Result<std::int64_t> find_or_add(Database& db, std::string_view name, std::vector<NewName>& fresh);
  void forget(const std::vector<NewName>& fresh);
  void shrink(std::size_t most);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
  };
  std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> ids_;
  std::int64_t last_id_ = 0;
};

}  // namespace tidewatt::store
