// Books one beat of a node into deltas of accounts: what the files book*.cc share.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sharing.h"
#include "tidewatt/ledger/integrate.h"

namespace tidewatt::ledger {

constexpr Milliseconds kLongestBridge{
    std::chrono::hours{366 * 24}};  ///< a year of rows by the hour is the most one beat may make
/// One beat's energy in one domain stays below this, so that sums of a beat fit 64 bits.
constexpr std::int64_t kMostPerBeat = 9'000'000'000'000'000'000;

/// Adds a stretch of time to the hours it lies in. What lies further back than a bridge may reach, or a gap
/// is told by the hour, goes to its first hour: a clock from 1970 must not make half a million rows.
void add_time(AccountDelta& delta, UtcRange range, Milliseconds Measures::* what);
void add_sample(AccountDelta& delta, UtcTime at);
/// As tools spell vendors and uuids: "NVIDIA" and "nvidia" are one.
bool same_name(std::string_view a, std::string_view b);

/// A machine has one total, whoever meters it: two meters of it (in the machine and in its supply, or by two
/// agents) aren't added.
inline bool is_metered_once(std::string_view domain) { return domain == kDomainPlatform; }

/// What one task gets from one beat in one domain, over all its devices.
struct TaskWork {
  AccountDelta account;
  std::vector<AccountDelta> devices;
  std::optional<UtcRange> interval;  ///< hull of its devices' intervals
  std::optional<UtcTime> counted_from;
  std::optional<UtcRange> shared;
  Milliseconds partial{0};
};

/// What one domain of the node gets from one beat.
struct DomainWork {
  std::string domain;
  AccountDelta node;
  std::int64_t budget = kMostPerBeat;  ///< what this beat may still book here
  bool advanced = false;               ///< some sample is newer than its cursor
  bool bridged = false;                ///< some device's counter covers its whole interval
  bool powered = false;                ///< some device's power is known
  bool metered = false;                ///< some device's interval was booked, ...
  Milliseconds counted{0};             ///< ... the last one for so long
  Milliseconds partial{0};
  Milliseconds least_counted{Milliseconds::max()};  ///< of devices with a gap
  std::vector<const DeviceCursor*> unknown;         ///< once known, not in this beat
  std::map<std::string, TaskWork, std::less<>> tasks;
};

/// A part of a device's interval within one hour and one segment, with its exact energy.
struct Piece {
  UtcRange range;
  const Segment* segment = nullptr;
  std::int64_t energy = 0;
};

/// How the energy of an interval is marked, and what its sample says of who shares it.
struct Marks {
  const DeviceSample& sample;
  const TaskSet& now;  ///< holders at its end
  bool by_counter;
  bool spread;
  UtcTime since;  ///< begin of the whole interval
};

class Booker {
 public:
  Booker(NodeCursor& cursor, const Beat& beat, UtcTime at, const TaskWindows& windows, const Rules& rules,
         const IntervalWatch* watch)
      : cursor_(cursor), beat_(beat), at_(at), windows_(windows), rules_(rules), watch_(watch) {}

  void run(Booking& booking);

 private:
  DomainWork& work(const std::string& domain);

  TaskWork& work(DomainWork& domain, const std::string& task);

  void note(Note n);

  /// By uuid; by domain and index where one side has none (an old agent, a text tool without uuids): two
  /// cursors for one card would count its joules twice. Cards of two vendors that have the same index are
  /// two, and so is a card beside one that this beat names by its uuid.
  std::optional<std::size_t> find(const DeviceSample& sample);

  [[nodiscard]] bool named_in_beat(const DeviceCursor& c) const;

  /// When the same agent last named another card in this one's slot, if that was later. The cards of two
  /// agents (two containers, each with an index 0) are never each other's successors.
  [[nodiscard]] std::optional<UtcTime> replaced_at(std::size_t place) const;

  std::size_t make_cursor(const DeviceSample& sample);

  void device(const DeviceSample& sample);

  /// Same boot, card and epoch as at the last known sample, and trusted. Without an epoch only one agent's
  /// values belong together: another one may count from another zero.
  [[nodiscard]] bool counters_compare(const DeviceCursor& cursor, const DeviceSample& sample) const;

  void interval(DomainWork& domain, const DeviceCursor& cursor, const DeviceSample& sample, IntervalEnd end,
                bool comparable, const TaskSet& now, AccountDelta& device);

  void share_out(DomainWork& domain, AccountDelta& device, const Piece& piece, const Marks& marks);

  /// Where a device's interval begins: at its last sample; where one meter counts, not before what another
  /// one has already booked.
  [[nodiscard]] UtcTime unbooked_from(const DomainWork& domain, const DeviceCursor& cursor) const;

  /// Counter and integrated power are compared all the time; what is booked stays the counter's.
  void reconcile(DeviceCursor& cursor, const DeviceSample& sample, const IntervalEnd& end);

  /// Seconds of the interval that the agent's samples didn't cover, when that is more than a tenth of it.
  static Milliseconds uncovered(const DeviceSample& sample, const DeviceInterval& result, Milliseconds dt);

  void time_of_tasks(DomainWork& domain, const Segment& segment, UtcRange counted, Milliseconds short_by,
                     const AccountKey& device);

  AccountDelta& on_device(TaskWork& tw, const std::string& task, const AccountKey& device);

  void advance(DeviceCursor& cursor, const DeviceSample& sample, const IntervalEnd& end,
               const TaskSet& tasks);

  void add_to_curve(const DeviceSample& sample, std::optional<Milliwatts> power, const TaskSet& tasks);

  /// A device that this agent used to report and that this beat doesn't name fell off the bus: unknown, not
  /// gone. Where another card begins in its slot, nobody knows what the slot drew meanwhile.
  void find_missing();

  [[nodiscard]] bool begins_in_slot(const DeviceCursor& c) const;

  DomainCursor& domain_cursor(const std::string& name, bool& made);

  void close(DomainWork& domain);

  /// A task's seconds on this node are counted once, on however many of its devices it runs.
  void close(const DomainWork& domain, DomainCursor& cursor, const std::string& task, TaskWork& tw);

  void forget_tasks(DomainCursor& cursor);

  void retire();

  NodeCursor& cursor_;
  const Beat& beat_;
  const UtcTime at_;
  const TaskWindows& windows_;
  const Rules& rules_;

  std::vector<bool> listed_;        ///< by place in cursor_.devices: named by this beat
  std::vector<std::size_t> begun_;  ///< places whose first sample this is
  std::vector<std::size_t> unknown_;
  std::vector<AccountDelta> devices_;
  std::vector<DomainWork> domains_;
  CurvePoint curve_;
  std::vector<Note> notes_;
  bool any_known_ = false;
  bool any_advanced_ = false;
  bool frozen_ = false;
  std::optional<Microjoules> by_counter_;  ///< of the device at hand
  std::vector<CheckedCounter> checks_;
  const IntervalWatch* watch_;
  std::vector<TaskInterval> intervals_;
};

}  // namespace tidewatt::ledger
