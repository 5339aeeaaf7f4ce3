// A site's CPUs, slot by slot, and where a job finds room among them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace tidewatt::studies {

using Slots = std::vector<std::uint32_t>;

/// What a slot is thought to cost.
using SlotCost = std::function<double(std::uint32_t slot)>;

class Capacity {
 public:
  /// @param cap  0: none
  Capacity(std::size_t slots, double cap) : used_(slots, 0), cap_(cap) {}

  void take(const Slots& slots, double cpus) {
    for (const auto slot : slots) used_[slot] += cpus;
  }
  void give(const Slots& slots, double cpus) {
    for (const auto slot : slots) used_[slot] -= cpus;
  }
  [[nodiscard]] bool free(std::uint32_t slot, double cpus) const {
    return cap_ <= 0 || used_[slot] + cpus <= cap_ + kSlack;
  }
  [[nodiscard]] double peak() const {
    return used_.empty() ? 0 : *std::max_element(used_.begin(), used_.end());
  }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(used_.size()); }

  /// The earliest `count` slots in a row with room; empty: there are none.
  [[nodiscard]] Slots earliest(std::uint32_t from, std::uint32_t count, double cpus) const;
  /// The cheapest `count` slots in a row that end by `end`, of equal ones the earliest; empty: none has room.
  [[nodiscard]] Slots cheapest_window(std::uint32_t from, std::uint32_t end, std::uint32_t count, double cpus,
                                      const SlotCost& cost) const;
  /// The cheapest `count` slots before `end`, in order of time, of equal ones the earliest; empty: too few
  /// have room.
  [[nodiscard]] Slots cheapest_slots(std::uint32_t from, std::uint32_t end, std::uint32_t count, double cpus,
                                     const SlotCost& cost) const;

 private:
  static constexpr double kSlack = 1e-9;
  std::vector<double> used_;
  double cap_;
};

}  // namespace tidewatt::studies
