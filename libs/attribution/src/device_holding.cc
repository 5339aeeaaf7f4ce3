#include "tidewatt/attribution/device_holding.h"

#include <algorithm>
#include <map>
#include <set>

namespace tidewatt::attribution {
namespace {

struct Sum {
  std::int64_t memory = 0;
  bool memory_known = true;
  double slices = 0;
};
using Sums = std::map<std::string, Sum, std::less<>>;

/// Slices of each instance, shared by the tasks in it. nullopt: some process doesn't tell its instance.
std::optional<double> add_slices(Sums& sums, std::span<const ProcessOnDevice> processes) {
  std::map<std::uint64_t, std::pair<int, std::set<std::string>>> instances;
  for (const auto& process : processes) {
    if (!process.compute_slices || *process.compute_slices <= 0 || !process.instance) return std::nullopt;
    auto& [slices, tasks] = instances[*process.instance];
    slices = *process.compute_slices;
    tasks.insert(process.task_id);
  }
  double total = 0;
  for (const auto& [id, instance] : instances) {
    total += instance.first;
    for (const auto& task : instance.second)
      sums[task].slices += static_cast<double>(instance.first) / static_cast<double>(instance.second.size());
  }
  return total;
}

std::optional<double> share(double part, double whole) {
  if (whole <= 0) return std::nullopt;
  return std::min(1.0, part / whole);
}

}  // namespace

DeviceHolding holding_of(std::span<const ProcessOnDevice> processes,
                         std::optional<std::int64_t> memory_total) {
  Sums sums;
  std::int64_t used = 0;
  for (const auto& process : processes) {
    auto& sum = sums[process.task_id];
    const bool known = process.memory_used && *process.memory_used >= 0;
    sum.memory_known = sum.memory_known && known;
    if (known) sum.memory += *process.memory_used;
    if (known) used += *process.memory_used;
  }
  const auto slices = add_slices(sums, processes);
  const auto whole = static_cast<double>(std::max(memory_total.value_or(0), used));

  DeviceHolding holding;
  for (const auto& [task, sum] : sums) {
    const auto memory = sum.memory_known ? share(static_cast<double>(sum.memory), whole) : std::nullopt;
    const auto compute = slices ? share(sum.slices, *slices) : std::nullopt;
    if (task.empty()) {
      holding.unheld = Unheld{compute, memory, std::nullopt};
    } else {
      holding.holders.push_back({task, compute, memory, HolderState::running});
    }
  }
  return holding;
}

}  // namespace tidewatt::attribution
