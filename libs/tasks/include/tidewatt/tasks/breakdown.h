// A task's node power split into its parts by an additive model: an estimate, with what it leaves
// unexplained.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/units/quantity.h"

namespace tidewatt::tasks {

/// One interval of a node while the task ran.
struct NodeInterval {
  Watts node;                         ///< of the whole machine
  Watts devices;                      ///< of its cards
  double cpu_seconds_per_second = 0;  ///< CPU time used per second, of all cores
  Watts dram;                         ///< 0 where it isn't measured
  double network_bytes_per_second = 0;
};

/// Mean power of each part; parts + residual = node. The residual may be negative.
struct Breakdown {
  Watts node;
  Watts gpu;
  Watts cpu;
  Watts dram;
  Watts network;
  Watts idle;  ///< what is drawn whatever runs
  Watts residual;
  std::optional<double> r_squared;  ///< nullopt: the node's power never changed
};

inline constexpr std::size_t kFewestIntervals = 10;
inline constexpr std::size_t kMostIntervals = 100'000;

/// Non-negative least squares of node power on the parts and a constant; each part's share is its coefficient
/// times its mean. A part that never moved can't be told from idle, and counts as idle.
/// @error unavailable    fewer than kFewestIntervals
/// @error invalid_input  more than kMostIntervals, a negative or not finite amount
/// Source: docs/method/tasks.md#breakdown
Result<Breakdown> break_down(std::span<const NodeInterval> intervals);

/// Non-negative x that makes |A x - b| smallest (Lawson and Hanson). `a` row by row.
/// @pre a.size() == b.size() * columns, columns in 1..16
std::vector<double> non_negative_least_squares(std::span<const double> a, std::span<const double> b,
                                               std::size_t columns);

}  // namespace tidewatt::tasks
