// Nodes, accounts and curve names to their numbers. Numbers are given by the database in transactions of
// their own, before the commit that first uses them: every server knows a thing by the same number for good,
// and a number that nobody came to use does no harm.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "connection.h"
#include "tidewatt/ledger/account.h"
#include "tidewatt/ledger/cursor.h"

namespace tidewatt::store::pg {

struct NumberedAccount {
  std::int64_t pk = 0;
  ledger::AccountKey key;
};
using AccountRef = std::shared_ptr<const NumberedAccount>;

struct KeyHash {
  std::size_t operator()(const ledger::AccountKey& key) const;
  std::size_t operator()(const ledger::NodeKey& key) const;
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

/// Thread-safe. What was given stays valid. After number() or load() ask again: rarely another thread's
/// shrink() came between.
class Accounts {
 public:
  /// nullptr = not known here.
  AccountRef find(const ledger::AccountKey& key);
  AccountRef find(std::int64_t pk);
  /// Gives the missing ones numbers.
  Status number(Connection& db, std::vector<const ledger::AccountKey*> missing);
  /// Reads keys of numbers that others gave. @error corrupt  there is no such number
  Status load(Connection& db, const std::vector<std::int64_t>& missing);
  /// Forgets all when they are many.
  void shrink();

 private:
  void remember(std::int64_t pk, ledger::AccountKey key);
  Status remember(const Rows& rows);
  std::mutex mutex_;
  std::unordered_map<ledger::AccountKey, AccountRef, KeyHash> by_key_;
  std::unordered_map<std::int64_t, AccountRef> by_pk_;
};

/// Thread-safe, likewise.
class Names {
 public:
  std::optional<std::int64_t> find(std::string_view name);
  /// nullptr = not known here.
  std::shared_ptr<const std::string> find(std::int64_t id);
  Status number(Connection& db, std::vector<std::string_view> missing);
  Status load(Connection& db, const std::vector<std::int64_t>& missing);
  void shrink();

 private:
  void remember(std::int64_t id, std::string_view name);
  std::mutex mutex_;
  std::unordered_map<std::string, std::int64_t, KeyHash, std::equal_to<>> by_name_;
  std::unordered_map<std::int64_t, std::shared_ptr<const std::string>> by_id_;
};

}  // namespace tidewatt::store::pg
