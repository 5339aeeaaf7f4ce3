// Accounts: who used how much, with the seconds that were and weren't covered. All exact integers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/units/exact.h"
#include "tidewatt/units/time.h"

namespace tidewatt::ledger {

enum class Scope : std::uint8_t {
  device,       ///< id = "node/index"
  node,         ///< id = node id
  task,         ///< id = task id
  task_device,  ///< id = task id, part = "node/index": where a task's energy was used
};
std::string_view to_string(Scope scope);
std::optional<Scope> scope_from(std::string_view text);

struct AccountKey {
  std::string cluster;
  Scope scope = Scope::device;
  std::string id;
  std::string part;    ///< empty but for task_device
  std::string domain;  ///< "gpu", "cpu_package", ...
  friend auto operator<=>(const AccountKey&, const AccountKey&) = default;
  friend bool operator==(const AccountKey&, const AccountKey&) = default;
};

/// What an account or one hour of it holds. `Energy` is Microjoules for what one call adds, WideMicrojoules
/// for what is stored and read.
template <class Energy>
struct BasicMeasures {
  Energy energy{};        ///< all booked energy
  Energy counter{};       ///< of it, by the hardware's counter; the rest is integrated power
  Energy shared{};        ///< of it, an estimated share of a shared device (tasks)
  Energy unattributed{};  ///< of it, what no holder took (nodes)
  Energy simulated{};     ///< of it, from simulated sources: never in reports or quotas
  Energy spread{};        ///< of it, from bridges > 1 h spread pro rata: not hour-resolved
  Milliseconds covered{0};
  Milliseconds gap{0};
  Milliseconds partial{0};
  Milliseconds shared_time{0};
  std::int64_t samples = 0;  ///< known samples, the first counted

  template <class Other>
  BasicMeasures& operator+=(const BasicMeasures<Other>& o) {
    energy += o.energy;
    counter += o.counter;
    shared += o.shared;
    unattributed += o.unattributed;
    simulated += o.simulated;
    spread += o.spread;
    covered += o.covered;
    gap += o.gap;
    partial += o.partial;
    shared_time += o.shared_time;
    samples += o.samples;
    return *this;
  }
  friend bool operator==(const BasicMeasures&, const BasicMeasures&) = default;
};
using Measures = BasicMeasures<Microjoules>;
using WideMeasures = BasicMeasures<WideMicrojoules>;

struct HourMeasures {
  UtcHour hour;
  Measures measures;
};

/// What one or more beats add to one account: by UTC hour; the account's totals grow by the sum over hours.
struct AccountDelta {
  AccountKey key;
  std::vector<HourMeasures> hours;  ///< ascending, each hour once
  std::optional<UtcTime> first_sample_at;
  std::optional<UtcTime> last_sample_at;

  Measures& at(UtcHour hour);  ///< the hour's row, made when missing
  [[nodiscard]] Measures total() const;
  void add(const AccountDelta& other);  ///< same key
};

/// Which accounts. Empty members don't filter.
struct AccountFilter {
  std::optional<Scope> scope;
  std::string cluster;
  std::vector<std::string> ids;
  std::string domain;
};

/// An account as stored, or a sum over hours.
struct Account {
  AccountKey key;
  WideMeasures totals;  ///< each joule once: hourly rows and adjustments
  std::optional<UtcTime> first_sample_at;
  std::optional<UtcTime> last_sample_at;
  std::int64_t rows = 0;       ///< of a sum: how many hourly rows matched, and how many hours were adjusted
  WideMeasures adjustments{};  ///< of a sum: the part of totals that came after its month was sealed
  Milliseconds open_gap{0};    ///< of totals.gap: what no sample ended yet (open_gap.h); stores leave it 0
};

struct HourlyRow {
  AccountKey key;
  UtcHour hour;
  WideMeasures measures;
};

/// What came for an hour after its month was sealed: the hourly row stays as it was.
struct Adjustment {
  AccountKey key;
  UtcHour hour;
  WideMeasures measures;
  std::optional<UtcTime> booked_at;  ///< nullopt = durable, not in the tables yet
  std::string reason;                ///< kLateReason
};
inline constexpr std::string_view kLateReason = "after_seal";

/// What the tasks of one team, or all nodes of a cluster, used in one hour in one domain: the sum of their
/// hourly rows (or of their adjustments). Kept beside the rows, so that a month of a million tasks is few
/// rows.
struct TeamHour {
  std::string cluster;
  Scope scope = Scope::task_device;  ///< task_device; or node, whose team is empty
  std::string team;                  ///< as the registry has it now; empty = none
  std::string domain;
  UtcHour hour;
  bool late = false;  ///< the sum of adjustments
  WideMeasures measures;
};
/// Scopes that have team hours.
constexpr bool has_team_hours(Scope scope) { return scope == Scope::node || scope == Scope::task_device; }

/// How coverage is printed everywhere: percent with one decimal, cut, so that "100%" stands only where no
/// second is missing and none was partial. "<0.1%" for a share below that which isn't 0.
/// @param share  covered / (covered + gap), 0..1
/// @param whole  neither gap nor partial seconds
std::string coverage_text(double share, bool whole);
/// The same of an account's seconds; "—" where no second is known.
std::string coverage_text(Milliseconds covered, Milliseconds gap, Milliseconds partial);

/// exclusive | shared_estimated, by shared *seconds* (a card shared at 0 W was shared).
std::string_view attribution_of(const WideMeasures& totals);

}  // namespace tidewatt::ledger
