// Whose CPU time an interval was, and what shares of a package's energy follow from it.
// Rules in words and a worked example: docs/method/attribution.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tidewatt/units/exact.h"
#include "tidewatt/units/time.h"

namespace tidewatt::attribution {

using Microseconds = std::int64_t;  ///< of CPU time

/// A cgroup's counter at one look. It keeps the time of children that ended.
struct CgroupTime {
  std::string path;
  std::string task_id;    ///< empty: dropped by a rule, its time is nobody's
  Microseconds used = 0;  ///< cumulative, descendants included
};

/// One look at the whole node.
struct CpuLook {
  SteadyTime at{};
  int cpus = 0;
  Microseconds busy = 0;  ///< cumulative, of the whole node, whoever used it
  std::vector<CgroupTime> cgroups;
};

/// Whose the CPU time between two looks was. tasks + unattributed + idle == capacity, exactly.
struct CpuInterval {
  Milliseconds length{0};
  Microseconds capacity = 0;  ///< cpus x length
  Microseconds idle = 0;
  Microseconds unattributed = 0;                           ///< used, but no task's counter tells by whom
  std::map<std::string, Microseconds, std::less<>> tasks;  ///< also those that used nothing
};

/// From counters to intervals.
/// - A cgroup's first look, and the first after its counter went back (another one of the same name), is a
///   baseline: what it used before is nobody's. A task with only such cgroups is there with 0.
/// - A cgroup that vanished keeps what was told of it; what it used since the last look is unattributed,
/// never
///   spread over the others.
/// - A cgroup below another task's (a pod in a container that plays a node) is taken out of that one's time.
/// - Counters are read one after the other, so parts may exceed the whole by a little: then the whole is
/// their
///   sum.
class CpuMeter {
 public:
  /// @return nullopt for the first look, and when time or the node's counter doesn't advance
  std::optional<CpuInterval> update(const CpuLook& look);

 private:
  struct Last {
    SteadyTime at{};
    Microseconds busy = 0;
    std::map<std::string, Microseconds, std::less<>> used;  // by path
  };
  std::optional<Last> last_;
};

enum class CpuPolicy : std::uint8_t {
  proportional,  ///< the package's energy follows busy time: idle time costs those who ran
  keep_idle,     ///< idle CPU seconds keep their part of the energy, which is nobody's
};

/// An amount divided by an interval's CPU time. tasks + unattributed + idle == the amount, exactly.
struct CpuSplit {
  std::vector<std::pair<std::string, std::int64_t>> tasks;  ///< by task id; 0 for one that used nothing
  std::int64_t unattributed = 0;
  std::int64_t idle = 0;  ///< with `proportional` only when nobody ran at all
};
/// @param amount  not negative: microjoules, or parts of a billion
CpuSplit split_by_cpu_time(std::int64_t amount, const CpuInterval& interval, CpuPolicy policy);

/// usage_usec of a cgroup v2's cpu.stat.
std::optional<Microseconds> parse_cpu_stat(std::string_view text);
/// A cgroup v1's cpuacct.usage, which is in nanoseconds.
std::optional<Microseconds> parse_cpuacct_usage(std::string_view text);

}  // namespace tidewatt::attribution
