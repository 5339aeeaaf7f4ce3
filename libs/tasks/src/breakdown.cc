#include "tidewatt/tasks/breakdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tidewatt::tasks {
namespace {

constexpr std::size_t kParts = 5;  // cards, CPU, DRAM, network, a constant
constexpr double kMostAmount = 1e15;
using PartRow = std::array<double, kParts>;

PartRow row_of(const NodeInterval& one) {
  return {one.devices.value(), one.cpu_seconds_per_second, one.dram.value(), one.network_bytes_per_second, 1};
}

Status check_intervals(std::span<const NodeInterval> intervals) {
  if (intervals.size() < kFewestIntervals)
    return fail(ErrorCode::unavailable,
                fmt::format("{} intervals: too few for a breakdown", intervals.size()),
                fmt::format("at least {} are needed", kFewestIntervals));
  if (intervals.size() > kMostIntervals)
    return fail(ErrorCode::invalid_input, fmt::format("{} intervals for a breakdown", intervals.size()),
                fmt::format("give at most {}, longer ones", kMostIntervals));
  for (const auto& one : intervals) {
    auto amounts = row_of(one);
    amounts.back() = one.node.value();
    for (const double amount : amounts)
      if (!(amount >= 0 && amount <= kMostAmount))
        return fail(ErrorCode::invalid_input, fmt::format("{} is no power, CPU time or rate", amount),
                    "leave such intervals out");
  }
  return {};
}

}  // namespace

Result<Breakdown> break_down(std::span<const NodeInterval> intervals) {
  TW_TRY_STATUS(check_intervals(intervals));
  const auto count = static_cast<double>(intervals.size());
  PartRow mean{};
  PartRow least = row_of(intervals.front());
  PartRow most{};
  double node_mean = 0;
  for (const auto& one : intervals) {
    const auto row = row_of(one);
    for (std::size_t i = 0; i < kParts; ++i) {
      mean[i] += row[i] / count;
      least[i] = std::min(least[i], row[i]);
      most[i] = std::max(most[i], row[i]);
    }
    node_mean += one.node.value() / count;
  }

  // In units of each part's largest value, so that bytes and watts weigh alike; one that never moved stays
  // out.
  std::vector<double> a;
  std::vector<double> b;
  for (const auto& one : intervals) {
    const auto row = row_of(one);
    for (std::size_t i = 0; i < kParts; ++i) {
      const bool constant = i + 1 == kParts;
      a.push_back(constant ? 1 : most[i] > least[i] ? row[i] / most[i] : 0);
    }
    b.push_back(one.node.value());
  }
  const auto x = non_negative_least_squares(a, b, kParts);

  double unexplained = 0;
  double total = 0;
  for (std::size_t r = 0; r < b.size(); ++r) {
    double said = 0;
    for (std::size_t i = 0; i < kParts; ++i) said += a[r * kParts + i] * x[i];
    unexplained += (b[r] - said) * (b[r] - said);
    total += (b[r] - node_mean) * (b[r] - node_mean);
  }
  PartRow part{};
  for (std::size_t i = 0; i < kParts; ++i)
    part[i] = i + 1 == kParts ? x[i] : most[i] > least[i] ? x[i] * mean[i] / most[i] : 0;
  Breakdown out{Watts{node_mean},
                Watts{part[0]},
                Watts{part[1]},
                Watts{part[2]},
                Watts{part[3]},
                Watts{part[4]},
                {},
                {}};
  out.residual = Watts{node_mean - part[0] - part[1] - part[2] - part[3] - part[4]};
  if (total > 0) out.r_squared = 1 - unexplained / total;
  return out;
}

}  // namespace tidewatt::tasks
