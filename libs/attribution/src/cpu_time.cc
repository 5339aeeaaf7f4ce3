#include "tidewatt/attribution/cpu_time.h"

#include <algorithm>
#include <utility>

#include "tidewatt/units/text.h"

namespace tidewatt::attribution {
namespace {

constexpr Microseconds kPerMillisecond = 1000;
/// No machine has used so much since its boot: 10,000 CPUs for a century are 3e19 us, this is 4.6e18.
constexpr std::uint64_t kMostUsed = std::uint64_t{1} << 62U;

std::optional<Microseconds> bounded(std::optional<std::uint64_t> n, std::uint64_t divisor) {
  if (!n || *n / divisor > kMostUsed) return std::nullopt;
  return static_cast<Microseconds>(*n / divisor);
}

/// One cgroup's time in an interval.
struct Part {
  Microseconds whole = 0;  ///< descendants included
  Microseconds own = 0;    ///< without those that are another task's
  bool baseline = false;
};

/// The nearest cgroup above `path` among `known`; nullptr for none.
template <class Map>
typename Map::mapped_type* above(Map& known, std::string_view path) {
  for (auto slash = path.rfind('/'); slash != std::string_view::npos && slash > 0;
       slash = path.rfind('/', slash - 1)) {
    if (const auto found = known.find(path.substr(0, slash)); found != known.end()) return &found->second;
  }
  return nullptr;
}

}  // namespace

std::optional<CpuInterval> CpuMeter::update(const CpuLook& look) {
  Last now{look.at, look.busy, {}};
  for (const auto& cgroup : look.cgroups) now.used[cgroup.path] = cgroup.used;
  const auto last = std::exchange(last_, std::move(now));
  if (!last || look.at <= last->at || look.busy < last->busy || look.cpus <= 0) return std::nullopt;

  CpuInterval interval;
  interval.length = look.at - last->at;
  interval.capacity = interval.length.count() * kPerMillisecond * look.cpus;
  std::map<std::string, Part, std::less<>> parts;
  for (const auto& cgroup : look.cgroups) {
    const auto before = last->used.find(cgroup.path);
    const bool baseline = before != last->used.end() && cgroup.used >= before->second;
    // One that is new since the last look used all it has in this interval, though not for its task.
    const Microseconds whole = baseline ? cgroup.used - before->second : cgroup.used;
    parts[cgroup.path] = {whole, whole, baseline};
  }
  for (const auto& [path, part] : parts)
    if (auto* outer = above(parts, path)) outer->own = std::max<Microseconds>(0, outer->own - part.whole);

  Microseconds told = 0;
  for (const auto& cgroup : look.cgroups) {
    const auto& part = parts[cgroup.path];
    if (cgroup.task_id.empty()) continue;
    const Microseconds used = part.baseline ? part.own : 0;
    interval.tasks[cgroup.task_id] += used;
    told += used;
  }
  const Microseconds busy = std::max(look.busy - last->busy, told);
  interval.capacity = std::max(interval.capacity, busy);
  interval.unattributed = busy - told;
  interval.idle = interval.capacity - busy;
  return interval;
}

CpuSplit split_by_cpu_time(std::int64_t amount, const CpuInterval& interval, CpuPolicy policy) {
  const bool nobody_ran = interval.idle == interval.capacity;
  std::vector<std::int64_t> weights;
  weights.reserve(interval.tasks.size() + 2);
  for (const auto& [task, used] : interval.tasks) weights.push_back(used);
  weights.push_back(interval.unattributed);
  // The last weight is never 0 when all others are: else the amount would be split equally.
  weights.push_back(nobody_ran ? 1 : policy == CpuPolicy::keep_idle ? interval.idle : 0);
  const auto parts = split_exactly(amount, weights);
  CpuSplit split;
  std::size_t i = 0;
  for (const auto& [task, used] : interval.tasks) split.tasks.emplace_back(task, parts[i++]);
  split.unattributed = parts[i];
  split.idle = parts[i + 1];
  return split;
}

std::optional<Microseconds> parse_cpu_stat(std::string_view text) {
  constexpr std::string_view kKey = "usage_usec ";
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with(kKey)) return bounded(parse_uint64(trim(line.substr(kKey.size()))), 1);
  }
  return std::nullopt;
}

std::optional<Microseconds> parse_cpuacct_usage(std::string_view text) {
  return bounded(parse_uint64(trim(text)), 1000);
}

}  // namespace tidewatt::attribution
