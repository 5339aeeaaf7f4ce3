// The rules of the ledger as pure functions: a beat and a cursor in, deltas and the next cursor out.
// Rules in words: docs/method/ledger.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/ledger/account.h"
#include "tidewatt/ledger/cursor.h"
#include "tidewatt/ledger/curve.h"
#include "tidewatt/metering/beat.h"

namespace tidewatt::ledger {

/// No single device draws more: a power above is unknown, a counter that ran faster is not believed.
inline constexpr Milliwatts kMostDevicePower{1'000'000'000};  // 1 MW

struct Rules {
  Milliseconds max_gap{
      60'000};  ///< ENERGY_MAX_GAP_SECONDS: longer intervals count this much, the rest is gap
};

/// When and by which clocks the server took a beat in. Absent in offline replay without receive times.
struct Receipt {
  UtcTime at{};
  std::optional<Milliseconds> monotonic;  ///< the server's monotonic clock
  std::string server_run;  ///< changes with each server process: monotonic differences need it equal
};

/// When tasks started and finished, where the registry knows; intervals are cut there.
struct TaskWindow {
  std::optional<UtcTime> started_at;
  std::optional<UtcTime> finished_at;
};
using TaskWindows = std::map<std::string, TaskWindow, std::less<>>;
/// A task id names one task of one cluster.
using ClusterWindows = std::map<std::string, TaskWindows, std::less<>>;

/// A part of a device's interval that a task got: within one hour.
struct TaskInterval {
  std::string cluster;
  std::string task_id;
  std::string domain;
  std::string device;  ///< "node/index"
  UtcTime since{};     ///< begin of the device's whole interval
  UtcRange range;
  Microjoules energy{};
};

/// Who wants to know a task's energy interval by interval. Thread-safe.
class IntervalWatch {
 public:
  IntervalWatch() = default;
  IntervalWatch(const IntervalWatch&) = delete;
  IntervalWatch& operator=(const IntervalWatch&) = delete;
  virtual ~IntervalWatch() = default;
  [[nodiscard]] virtual bool wants(std::string_view cluster, std::string_view task_id) const = 0;
  /// What is durable in the store. Together they add up to what the tasks' accounts got.
  virtual void take(std::vector<TaskInterval> intervals) = 0;
};

enum class Verdict : std::uint8_t { accepted, duplicate, rejected };

/// Things worth telling a person, counted by the server's metrics.
enum class Note : std::uint8_t {
  stale,
  clock_jump,
  clock_corrected,
  gap,
  counter_reset,
  counter_implausible,
  counter_frozen,
  counter_apart,
  partial,
  power_implausible,
  estimated_not_booked,
};
std::string_view to_string(Note note);

struct Booking {
  Verdict verdict = Verdict::accepted;
  std::string reason;  ///< for rejected
  NodeCursor next;     ///< when accepted; else the same time and devices as before
  std::vector<AccountDelta> deltas;
  std::optional<CurvePoint> curve;
  std::vector<Note> notes;
  std::vector<CheckedCounter> checks;   ///< that ended with this beat
  std::vector<TaskInterval> intervals;  ///< of the tasks that somebody watches
  std::optional<Milliseconds>
      clock_offset;  ///< the agent's wall clock minus the server's; nullopt where the beat may have been late
};

/// Books one beat against the node's cursor.
/// @param cursor   moved in where the caller has no other use for it
/// @param beat     needs node_id; unknown powers are absent
/// @param receipt  nullopt: no receive time is known (offline replay); then a beat without a time is rejected
/// @param watch    asked whose intervals are wanted; never told any
Booking book(NodeCursor cursor, const Beat& beat, const std::optional<Receipt>& receipt,
             const TaskWindows& windows, const Rules& rules, const IntervalWatch* watch = nullptr);

// -- the core of it: one device, one interval
// -------------------------------------------------------------------------

/// A sample as far as one interval's energy needs it.
struct IntervalEnd {
  UtcTime at{};
  std::optional<Milliwatts> power;
  std::optional<Microjoules> counter;
  std::optional<Milliwatts> limit;
  bool counter_comparable = false;  ///< same boot, uuid, epoch as the interval's begin, and trusted
};

struct DeviceInterval {
  Microjoules energy{};
  Milliseconds counted{0};
  Milliseconds gap{0};
  bool by_counter = false;
  std::optional<Note> counter_note;  ///< why the counter was not believed
};

/// Energy of a device from its last known sample (`begin_at`, `begin_counter`) to `end`; nullopt when nothing
/// can be booked (no power, no usable counter, or time does not advance).
std::optional<DeviceInterval> integrate_device(UtcTime begin_at, std::optional<Microjoules> begin_counter,
                                               const IntervalEnd& end, Milliseconds max_gap);

}  // namespace tidewatt::ledger
