// What this process knows beyond the tables: every node's cursor, and all that is in the journal but not yet
// folded into the tables. Guarded by one mutex; only the writer thread changes `unfolded`, so it alone may
// read that without the lock.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../journal/changes.h"
#include "../journal/late.h"
#include "../journal/unfolded.h"
#include "indexes.h"
#include "tidewatt/base/result.h"
#include "tidewatt/ledger/store.h"

namespace tidewatt::store {

struct NodeHash {
  std::size_t operator()(const ledger::NodeKey& key) const {
    return std::hash<std::string>{}(key.node_id) * 31 + std::hash<std::string>{}(key.cluster);
  }
};

struct NodeState {
  const ledger::NodeKey* key = nullptr;
  std::int64_t pk = 0;
  bool recorded = false;  ///< its pk stands in the tables or in the journal
  std::uint64_t revision = 0;
  std::string encoded;                               ///< the cursor as bytes; empty = none yet
  std::shared_ptr<const ledger::NodeCursor> cursor;  ///< the same, decoded when first asked for
  bool cursor_unfolded = false;
  ledger::SharedNode info;  ///< null = never noted
  bool info_unfolded = false;

  // The writer thread's own: where the last accrual's accounts are, and the commit in the making.
  std::vector<AccountIndex::Entry*> hints;
  std::uint64_t hints_generation = 0;
  std::uint64_t commit = 0;
  std::uint64_t next_revision = 0;
  std::shared_ptr<const ledger::NodeCursor> next;
  std::string next_encoded;
};

class State {
 public:
  std::mutex mutex;
  Unfolded unfolded;
  std::uint64_t checkpoints = 0;  ///< counts how often `unfolded` went into the tables
  bool infos_unfolded = false;
  UtcHour frozen = kNothingFrozen;  ///< hours before are sealed: what comes for them is an adjustment

  /// Finds or makes; the reference stays valid for good. Needs the lock.
  NodeState& node(const ledger::NodeKey& key);
  NodeState* find(const ledger::NodeKey& key);
  NodeState& add(std::int64_t pk, const ledger::NodeKey& key);
  [[nodiscard]] const std::unordered_map<ledger::NodeKey, std::unique_ptr<NodeState>, NodeHash>& nodes()
      const {
    return nodes_;
  }

  /// The decoded cursor. Needs the lock.
  static Result<ledger::VersionedCursor> cursor_of(NodeState& node);

  /// Takes in what the journal now holds. Needs the lock. @error corrupt  a cursor of a node that nobody
  /// announced
  Status apply(Changes&& changes, std::size_t journal_bytes);

 private:
  std::unordered_map<ledger::NodeKey, std::unique_ptr<NodeState>, NodeHash> nodes_;
  std::unordered_map<std::int64_t, NodeState*> by_pk_;
  std::int64_t last_pk_ = 0;
};

}  // namespace tidewatt::store
