// What this server knows of nodes: their numbers and where their cursors stood when it last looked. A cursor
// that another server moved since is found out by the commit that it loses.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "numbers.h"
#include "tidewatt/ledger/store.h"

namespace tidewatt::store::pg {

struct Node {
  ledger::NodeKey key;
  std::atomic<std::int64_t> pk{
      0};              ///< 0 = the database hasn't given one, as far as known; never changes after
  bool known = false;  ///< the cursor below was the node's when last read
  bool busy = false;   ///< in a commit: only that writer changes what is below
  std::uint64_t revision = 0;
  std::string encoded;                               ///< the cursor as bytes; empty = none yet
  std::shared_ptr<const ledger::NodeCursor> cursor;  ///< the same, decoded when first asked for
  std::vector<AccountRef> hints;  ///< while busy: the last accrual's accounts, in its order
};

/// A cursor's step in the journal.
struct CursorStep {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  bool is_patch = false;
  std::string bytes;
};

class Nodes {
 public:
  /// Guards every Node.
  std::mutex mutex;

  // All need the lock.
  Node& get(const ledger::NodeKey& key);
  Node* find(const ledger::NodeKey& key);
  Node* find(std::int64_t pk);
  void set_pk(Node& node, std::int64_t pk);
  /// Its cursor must be read again.
  void forget(Node& node);
  /// Up to `most` nodes with unknown cursors, to be read along with one that is asked for.
  std::vector<Node*> take_unknown(std::size_t most);
  /// The cursor moves on as the journal says; unknown afterwards where the step doesn't fit.
  void step(std::int64_t pk, const CursorStep& step);

 private:
  std::unordered_map<ledger::NodeKey, std::unique_ptr<Node>, KeyHash> by_key_;
  std::unordered_map<std::int64_t, Node*> by_pk_;
  std::vector<Node*> unknown_;
};

/// Gives numbers to those that have none. Takes the lock.
Status number(Connection& db, Nodes& nodes, const std::vector<Node*>& missing);
/// At start: every node's number.
Status load_numbers(Connection& db, Nodes& nodes);

}  // namespace tidewatt::store::pg
