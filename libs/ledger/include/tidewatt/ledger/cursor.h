// Where a node's accounts stand: per device the last known sample, per boot the time anchor, per agent what
// was seen. The cursor is what compare-and-write guards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/ledger/task_set.h"
#include "tidewatt/units/exact.h"
#include "tidewatt/units/time.h"

namespace tidewatt::ledger {

struct NodeKey {
  std::string cluster;
  std::string node_id;
  friend auto operator<=>(const NodeKey&, const NodeKey&) = default;
  friend bool operator==(const NodeKey&, const NodeKey&) = default;
};

/// A hardware counter beside the power that was measured in the same time.
struct CounterCheck {
  Microjoules counter{};
  Microjoules power{};  ///< mean power times time
  Milliseconds time{0};

  /// They differ by more than 3 % of the larger, and by more than counters' resolution.
  [[nodiscard]] bool apart() const;
  friend bool operator==(const CounterCheck&, const CounterCheck&) = default;
};

/// What ten minutes of a device's counter and power came to.
struct CheckedCounter {
  std::string domain;
  int index = 0;
  CounterCheck check;
  friend bool operator==(const CheckedCounter&, const CheckedCounter&) = default;
};

/// A device's last *known* sample.
struct DeviceCursor {
  std::string domain;
  int index = 0;
  std::string uuid;      ///< empty = joined by domain and index
  std::string agent_id;  ///< who reported it last
  UtcTime at{};          ///< of the last known sample
  UtcTime listed_at{};   ///< last time any beat named the device, known or not
  std::optional<Microjoules> counter;
  std::string counter_boot;
  std::string counter_epoch;
  bool counter_distrusted = false;  ///< frozen or implausible last time: this interval only re-baselines it
  CounterCheck check;               ///< since the last one that was told
  std::optional<Milliwatts> limit;
  TaskSet holders;       ///< tasks that held it at the last known sample
  std::string vendor{};  ///< empty = never told
  friend bool operator==(const DeviceCursor&, const DeviceCursor&) = default;
};

/// Per domain: when the node last had any known device; per current task: until when its seconds are counted.
struct DomainCursor {
  std::string domain;
  UtcTime at{};
  std::vector<std::pair<std::string, UtcTime>> tasks;  ///< sorted by task id
  friend bool operator==(const DomainCursor&, const DomainCursor&) = default;
};

/// Time inside a boot runs by the agent's monotonic clock from here.
struct BootCursor {
  std::string boot_id;
  UtcTime at{};
  Milliseconds monotonic{0};
  std::optional<UtcTime> received_at;         ///< server's wall clock when that beat came
  std::optional<Milliseconds> received_mono;  ///< server's monotonic clock then
  std::string server_run;                     ///< which server process read that monotonic clock
  friend bool operator==(const BootCursor&, const BootCursor&) = default;
};

/// Sequence numbers seen from one agent in one boot: the runs [first, last] within the last 4,096.
struct SeenSeqs {
  static constexpr std::uint64_t kWindow = 4096;
  std::string boot_id;
  std::string agent_id;
  UtcTime last_at{};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;  ///< ascending, disjoint, not adjacent

  [[nodiscard]] bool seen(std::uint64_t seq) const;  ///< also true for what is older than the window
  void add(std::uint64_t seq);
  friend bool operator==(const SeenSeqs&, const SeenSeqs&) = default;
};

struct NodeCursor {
  std::vector<DeviceCursor> devices;
  std::vector<DomainCursor> domains;
  std::vector<BootCursor> boots;  ///< at most 8, the latest used last
  std::vector<SeenSeqs> seen;     ///< at most 16, the latest used last
  friend bool operator==(const NodeCursor&, const NodeCursor&) = default;
};

/// A compact, versioned byte string for stores, and back. decode: ErrorCode::corrupt for anything else.
std::string encode(const NodeCursor& cursor);
Result<NodeCursor> decode_cursor(std::string_view bytes);

}  // namespace tidewatt::ledger
