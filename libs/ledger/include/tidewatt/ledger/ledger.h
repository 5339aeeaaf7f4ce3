// The ledger as the server uses it: read the cursor, book, write; again when somebody else was first.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tidewatt/ledger/integrate.h"
#include "tidewatt/ledger/store.h"

namespace tidewatt::ledger {

enum class BeatOutcome : std::uint8_t { accepted, duplicate, retry, rejected };
std::string_view to_string(BeatOutcome outcome);

struct BeatResult {
  BeatOutcome outcome = BeatOutcome::accepted;
  std::string reason;  ///< for retry and rejected: what happened and what to do
};

struct ReceivedBeat {
  Beat* beat = nullptr;  ///< what is shown of it (devices, sources) is moved out once it is booked
  Receipt receipt;
};

struct LedgerCounters {
  std::atomic<std::uint64_t> accepted{0}, duplicate{0}, retry{0}, rejected{0}, conflicts{0};
  std::array<std::atomic<std::uint64_t>, 16> notes{};  ///< by Note
};

/// Thread-safe. Books batches; beats of one node keep their order.
class Ledger {
 public:
  Ledger(Store& store, Rules rules) : store_(store), rules_(rules) {}

  /// One result per beat, in order. `accepted` = durable in the store. A store failure answers `retry` for
  /// the beats it concerns; liveness is noted all the same.
  std::vector<BeatResult> book(std::span<const ReceivedBeat> beats, const ClusterWindows& windows = {});

  /// Who is told of tasks' intervals from now on; nullptr = nobody. It outlives this, or is taken away first.
  void watch(IntervalWatch* watch) { watch_ = watch; }
  [[nodiscard]] IntervalWatch* watched_by() const { return watch_; }

  [[nodiscard]] const LedgerCounters& counters() const { return counters_; }

 private:
  struct NodeWork;
  void prepare(NodeWork& work, const ClusterWindows& windows);
  SharedNode seen(const NodeWork& work);

  Store& store_;
  Rules rules_;
  LedgerCounters counters_;
  std::atomic<IntervalWatch*> watch_{nullptr};
};

/// Node == sum of tasks + unattributed and sum of devices == node, per cluster and domain, over all accounts.
struct AuditDifference {
  WideMicrojoules devices_minus_nodes;
  WideMicrojoules tasks_and_unattributed_minus_nodes;
};
Result<AuditDifference> audit(Store& store);

/// By how much the sums by team and the lifetime totals of their accounts differ, added up over clusters,
/// scopes and domains without regard to sign; must be 0.
Result<WideMicrojoules> audit_team_hours(ImageSource& source);

}  // namespace tidewatt::ledger
