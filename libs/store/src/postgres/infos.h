// Nodes as last heard of. Noted in memory at once, written out and read back every few seconds: servers see
// each other's notes a little later.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "nodes.h"
#include "pool.h"
#include "tidewatt/ledger/store.h"

namespace tidewatt::store::pg {

class Infos {
 public:
  Infos(Pool& pool, Nodes& nodes) : pool_(pool), nodes_(nodes) {}

  void note_seen(std::span<const ledger::SharedNode> infos);
  Result<std::vector<ledger::SharedNode>> all();
  /// Null where the node never reported.
  Result<ledger::SharedNode> one(const ledger::NodeKey& key);

  /// Writes what was noted here since the last time.
  Status flush();
  /// Reads what others wrote, unless that was done within the last second.
  Status pull();

 private:
  struct Entry {
    ledger::SharedNode info;    ///< null = never noted
    std::uint64_t noted = 0;    ///< counts the notes here
    std::uint64_t flushed = 0;  ///< of them, written
  };
  void merge(ledger::SharedNode other);

  Pool& pool_;
  Nodes& nodes_;
  std::mutex mutex_;
  std::unordered_map<ledger::NodeKey, Entry, KeyHash> entries_;
  std::mutex pulling_;
  std::int64_t low_ = 0;  ///< every transaction before this one had ended when we last read
  std::optional<std::chrono::steady_clock::time_point> pulled_at_;
};

}  // namespace tidewatt::store::pg
