// What one commit changes, folded: the row that the journal keeps, and what replay applies again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/ledger/store.h"

namespace tidewatt::store {

struct NewNode {
  std::int64_t pk;
  ledger::NodeKey key;
};
struct NewAccount {
  std::int64_t pk;
  ledger::AccountKey key;
};
struct NewName {
  std::int64_t id;
  std::string name;
};
struct CursorChange {
  std::int64_t node;
  std::uint64_t revision;
  std::string bytes;  ///< ledger::encode(cursor), or a patch that makes it from the cursor before
  bool is_patch = false;
};
/// An account was touched: it exists from now on, and its sample times may widen.
struct AccountChange {
  std::int64_t account;
  const ledger::AccountKey* key;  ///< the index's; nullptr when read back from the journal
  std::optional<UtcTime> first_sample_at;
  std::optional<UtcTime> last_sample_at;
};
/// An amount for one hour of one account; the same hour may come more than once, amounts add up.
struct RowChange {
  std::size_t touched;  ///< whose: place in Changes::touched
  UtcHour hour;
  ledger::Measures measures;
};
/// False, and nothing added, when an energy would no longer fit 64 bits: then the amount needs a row of its
/// own.
bool add_unless_overflow(ledger::Measures& sum, const ledger::Measures& more);

struct PointChange {
  std::int64_t node;
  UtcTime at;
  std::string bytes;  ///< encode_point
};

struct Changes {
  std::vector<NewNode> nodes;
  std::vector<NewAccount> accounts;
  std::vector<NewName> names;
  std::vector<CursorChange> cursors;
  std::vector<AccountChange> touched;
  std::vector<RowChange> rows;
  std::vector<PointChange> points;
  [[nodiscard]] bool empty() const { return cursors.empty(); }
  void clear();
};

void encode(const Changes& changes, std::string& out);
/// @error corrupt
Result<Changes> decode_changes(std::string_view bytes);

}  // namespace tidewatt::store
