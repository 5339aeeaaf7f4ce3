#include "capacity.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tidewatt::studies {
namespace {

constexpr double kEqualCost = 1e-9;

Slots in_a_row(std::uint32_t begin, std::uint32_t count) {
  Slots slots(count);
  std::iota(slots.begin(), slots.end(), begin);
  return slots;
}

}  // namespace

Slots Capacity::earliest(std::uint32_t from, std::uint32_t count, double cpus) const {
  std::uint32_t begin = from;
  for (auto slot = from; slot < size(); ++slot) {
    if (!free(slot, cpus)) begin = slot + 1;
    if (slot + 1 >= begin + count) return in_a_row(begin, count);
  }
  return {};
}

Slots Capacity::cheapest_window(std::uint32_t from, std::uint32_t end, std::uint32_t count, double cpus,
                                const SlotCost& cost) const {
  end = std::min(end, size());
  std::uint32_t begin = from;
  std::uint32_t best = 0;
  double sum = 0;
  double least = 0;
  bool found = false;
  for (auto slot = from; slot < end; ++slot) {
    if (!free(slot, cpus)) {
      begin = slot + 1;
      sum = 0;
      continue;
    }
    sum += cost(slot);
    if (slot + 1 - begin > count) sum -= cost(begin++);
    if (slot + 1 - begin < count || (found && sum >= least - kEqualCost)) continue;
    found = true;
    least = sum;
    best = begin;
  }
  return found ? in_a_row(best, count) : Slots{};
}

Slots Capacity::cheapest_slots(std::uint32_t from, std::uint32_t end, std::uint32_t count, double cpus,
                               const SlotCost& cost) const {
  end = std::min(end, size());
  std::vector<std::pair<double, std::uint32_t>> open;
  for (auto slot = from; slot < end; ++slot)
    if (free(slot, cpus)) open.emplace_back(cost(slot), slot);
  if (open.size() < count) return {};
  const auto cut = open.begin() + static_cast<std::ptrdiff_t>(count);
  if (cut != open.end()) std::nth_element(open.begin(), cut, open.end());
  Slots slots;
  for (auto at = open.begin(); at != cut; ++at) slots.push_back(at->second);
  std::sort(slots.begin(), slots.end());
  return slots;
}

}  // namespace tidewatt::studies
