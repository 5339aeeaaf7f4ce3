// What journal rows add up to while they aren't in the tables yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "changes.h"

namespace tidewatt::store {

/// A new account or more of an old one.
struct UnfoldedAccount {
  const ledger::AccountKey* key = nullptr;  ///< absent until somebody says it: journal rows hold numbers only
  std::optional<UtcTime> first_sample_at;
  std::optional<UtcTime> last_sample_at;
  /// In any order. An hour comes twice only where its amount doesn't fit one row: 64 bits keep this half as
  /// large.
  std::vector<std::pair<UtcHour, ledger::Measures>> hours;
  [[nodiscard]] ledger::WideMeasures total() const;
};

using CurveBytes = std::vector<std::pair<UtcTime, std::string>>;  ///< in order of arrival

struct Unfolded {
  std::unordered_map<std::int64_t, UnfoldedAccount> accounts;
  std::unordered_map<std::int64_t, ledger::AccountKey> new_accounts;
  std::unordered_map<std::int64_t, std::string> new_names;
  std::unordered_map<std::int64_t, CurveBytes> points;  ///< by node
  std::size_t journal_bytes = 0;
  [[nodiscard]] bool empty() const { return journal_bytes == 0; }

  /// Adds everything but nodes and cursors, which their keeper takes from `changes` before.
  /// @param bytes the row's size
  void add(Changes&& changes, std::size_t bytes);

 private:
  std::vector<UnfoldedAccount*> touched_;  // add()'s scratch
};

}  // namespace tidewatt::store
