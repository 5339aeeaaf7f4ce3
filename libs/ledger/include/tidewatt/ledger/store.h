// What the ledger asks of a store. The arithmetic is not here: a store adds and compares, atomically.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/ledger/account.h"
#include "tidewatt/ledger/cursor.h"
#include "tidewatt/ledger/curve.h"
#include "tidewatt/ledger/image.h"
#include "tidewatt/ledger/market_entry.h"
#include "tidewatt/ledger/reports.h"

namespace tidewatt::ledger {

/// revision 0 = the node has no cursor yet. The cursor is never null; stores and callers share it unchanged.
struct VersionedCursor {
  std::uint64_t revision = 0;
  std::shared_ptr<const NodeCursor> cursor = std::make_shared<const NodeCursor>();
};

/// An agent of a node, and how many of the node's devices and sources it reported last.
struct AgentShare {
  std::string agent_id;
  UtcTime last_sample_at{};
  std::size_t devices = 0;
  std::size_t sources = 0;
  friend bool operator==(const AgentShare&, const AgentShare&) = default;
};

/// A node's beats that are older than what is booked of it: nothing of them is booked. So it is after a start
/// with a clock that is behind, until it is set or has caught up.
struct StaleBeats {
  UtcTime since{};         ///< server's clock when the first of them came
  Milliseconds behind{0};  ///< how much older than what is booked the last one is
  friend bool operator==(const StaleBeats&, const StaleBeats&) = default;
};

/// A node as last heard of: for lists and liveness, not for accounts.
struct NodeInfo {
  NodeKey key;
  std::string zone;
  std::string region;
  std::string agent_version;
  std::string boot_id;
  std::vector<std::pair<std::string, std::string>> labels;
  std::optional<UtcTime> first_seen_at;
  UtcTime last_seen_at{};  ///< server's clock at the last beat, booked or not
  std::optional<UtcTime> last_sample_at;
  std::optional<Milliseconds> clock_offset;  ///< agent's wall clock minus server's, of beats in time
  bool simulated = false;                    ///< any device of the last beat was
  std::optional<double> cpu_util;
  std::optional<int> cpu_cores;
  std::string cpu_model;
  std::vector<DeviceSample> devices;   ///< of each agent's last beat, power absent where unknown
  std::vector<CheckedCounter> checks;  ///< the last of each device that has a counter
  std::vector<AgentShare> agents;      ///< who reported them: the first agent's devices come first, and so on
  std::vector<SourceReport> sources;   ///< of each agent's last beat, in the same order
  std::optional<StaleBeats> stale;     ///< absent where the last beat was booked
};
using SharedNode = std::shared_ptr<const NodeInfo>;

/// All that one node's beats change, applied in one transaction iff the cursor is still `expected_revision`.
struct Accrual {
  NodeKey node;
  std::uint64_t expected_revision = 0;
  std::shared_ptr<const NodeCursor> next;  ///< never null
  std::vector<AccountDelta> deltas;        ///< an account may come more than once
  std::vector<CurvePoint> curve;
};

enum class AccrueOutcome : std::uint8_t {
  applied,   ///< durable now
  conflict,  ///< somebody else moved the cursor; nothing of this accrual was applied
};

/// A task as the registry knows it (posted by a scheduler or seen as a holder).
struct TaskInfo {
  std::string cluster = "default";
  std::string task_id;
  std::string group_id;
  std::string team;
  std::string kind;  ///< training | inference | batch | service | dev, empty = unknown
  std::optional<UtcTime> started_at;
  std::optional<UtcTime> finished_at;
  /// When it would have started had nobody moved it; absent = it wasn't moved, or nobody recorded it.
  std::optional<UtcTime> at_once_at{};
};

/// A bearer token: only its hash is kept.
struct TokenRecord {
  std::string id;
  std::string name;
  std::string role;  ///< ops | tenant | viewer | agent | cluster
  std::string team;  ///< for tenant
  std::string sha256_hex;
  UtcTime created_at{};
  std::optional<UtcTime> expires_at;
  std::optional<UtcTime> revoked_at;
  friend bool operator==(const TokenRecord&, const TokenRecord&) = default;
};

struct AuditEntry {
  UtcTime at{};
  std::string actor;
  std::string action;
  std::string subject;
};

/// Something that was acknowledged is gone from the store.
struct StoreDamage {
  UtcTime found_at{};
  std::uint64_t lost_commits = 0;  ///< each holds one beat or more; 0 = can't be counted
  std::string evidence;  ///< a file that was kept of it; once it is moved away, the damage is dealt with
};

/// Thread-safe. Every failure is an Error with code unavailable (try again), io or corrupt.
class Store : public ImageSource {
 public:
  // -- booking
  [[nodiscard]] virtual Result<VersionedCursor> cursor(const NodeKey& node) = 0;
  /// Applies each accrual or not; on return the applied ones are durable. Several callers share a commit.
  /// @return one outcome per accrual, in order; an Error means that none of them was applied
  virtual Result<std::vector<AccrueOutcome>> accrue(std::span<const Accrual> accruals) = 0;
  /// Liveness, apart from booking: need not be durable.
  virtual Status note_seen(std::span<const SharedNode> nodes) = 0;

  // -- reading
  /// All that ever reported, by key.
  [[nodiscard]] virtual Result<std::vector<SharedNode>> nodes() = 0;
  /// Null where the node never reported.
  [[nodiscard]] virtual Result<SharedNode> node(const NodeKey& node) = 0;
  /// Lifetime totals, sorted by key. Sums are 128 bits wide.
  [[nodiscard]] virtual Result<std::vector<Account>> accounts(const AccountFilter& filter) = 0;
  /// Sums over the hours [from, to) per account, adjustments included and told apart; accounts without a row
  /// or an adjustment in the range are absent. first/last_sample_at are the account's own.
  [[nodiscard]] virtual Result<std::vector<Account>> sums(const AccountFilter& filter, UtcHour from,
                                                          UtcHour to) = 0;
  /// Hourly rows alone, by key, then hour.
  [[nodiscard]] virtual Result<std::vector<HourlyRow>> hourly(const AccountFilter& filter, UtcHour from,
                                                              UtcHour to) = 0;
  /// Points in [range.begin, range.end), by time. At most `limit` points: the latest.
  [[nodiscard]] virtual Result<std::unique_ptr<CurveReader>> read_curve(const NodeKey& node, UtcRange range,
                                                                        std::size_t limit) = 0;
  /// The same, all at once.
  [[nodiscard]] Result<std::vector<CurvePoint>> curve(const NodeKey& node, UtcRange range,
                                                      std::size_t limit) {
    TW_TRY(const auto reader, read_curve(node, range, limit));
    return read_all(*reader);
  }

  // -- closed months
  /// By month.
  [[nodiscard]] virtual Result<std::vector<Seal>> seals() = 0;
  /// Freezes the hourly rows of the month and of all before; a seal without a hash says so. Nothing changes
  /// where it is frozen already. What was acknowledged before is in the rows or comes as an adjustment, never
  /// both.
  /// @error conflict  a seal stands, and this isn't the month after the last one
  virtual Status close_month(Month month, UtcTime at) = 0;
  /// Puts in rows, energy, hash and previous where the month's seal has no hash yet.
  /// @return false = it has one, or there is no such seal
  virtual Result<bool> finish_seal(const Seal& seal) = 0;

  // -- registry
  virtual Status put_task(const TaskInfo& task) = 0;
  [[nodiscard]] virtual Result<std::vector<TaskInfo>> tasks() = 0;
  /// Those with at_once_at, in any order: few, and found without reading all.
  [[nodiscard]] virtual Result<std::vector<TaskInfo>> moved_tasks() = 0;

  // -- what tasks report
  /// @return false = this epoch of the task is known already, and stays as it is
  virtual Result<bool> add_epoch(const EpochReport& report) = 0;
  /// By epoch; where there are more than `limit`, the highest.
  [[nodiscard]] virtual Result<std::vector<EpochReport>> epochs(const std::string& cluster,
                                                                const std::string& task_id,
                                                                std::size_t limit) = 0;
  /// @return false = this request of the group was counted already
  virtual Result<bool> add_usage(const UsageReport& report) = 0;
  [[nodiscard]] virtual Result<std::optional<TokenCounter>> token_counter(const std::string& cluster,
                                                                          const std::string& series) = 0;
  /// @return false = the counter isn't as `before` says any more, and nothing was done
  virtual Result<bool> step_token_counter(const CounterStep& step) = 0;
  /// The hours [from, to) by cluster, group and hour.
  [[nodiscard]] virtual Result<std::vector<TokenHour>> token_hours(UtcHour from, UtcHour to) = 0;
  /// Forgets the ids of requests before; their tokens stay.
  virtual Status forget_requests(UtcTime before) = 0;

  // -- the carbon market's journal
  /// One transaction.
  virtual Result<MarketAppend> append_market(const MarketEntry& entry) = 0;
  [[nodiscard]] virtual Result<std::optional<MarketEntry>> market_entry(const std::string& key) = 0;
  /// Those behind number `after`, in order, at most `limit`.
  [[nodiscard]] virtual Result<std::vector<MarketEntry>> market_entries(std::int64_t after,
                                                                        std::size_t limit) = 0;

  // -- access
  virtual Status put_token(const TokenRecord& token) = 0;
  /// Ends a token and adds its successor, both or neither: `ended` is the record with its new end.
  /// @return false when the stored token's end isn't that of `before` any more (somebody revoked or replaced
  ///         it), and nothing was done
  [[nodiscard]] virtual Result<bool> replace_token(const TokenRecord& before, const TokenRecord& ended,
                                                   const TokenRecord& successor) = 0;
  [[nodiscard]] virtual Result<std::vector<TokenRecord>> tokens() = 0;
  virtual Status append_audit(const AuditEntry& entry) = 0;
  [[nodiscard]] virtual Result<std::vector<AuditEntry>> audit(std::size_t limit) = 0;

  // -- housekeeping
  /// Drops curve partitions that ended before `before`. Totals and hourly rows stay.
  virtual Status drop_curves(UtcTime before) = 0;
  /// Cheap: can we read?
  virtual Status ping() = 0;
  /// What was found damaged at a start and isn't dealt with yet. Cheap.
  [[nodiscard]] virtual std::vector<StoreDamage> damage() const { return {}; }
};

}  // namespace tidewatt::ledger
