#include "tidewatt/studies/wait_awhile.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

namespace tidewatt::studies {
namespace {

/// Box and Muller's: the same on every library.
class Normal {
 public:
  explicit Normal(std::uint64_t seed) : random_(seed) {}
  double operator()() {
    const double u = 1 - uniform();
    const double v = uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }

 private:
  double uniform() { return static_cast<double>(random_() >> 11U) * 0x1.0p-53; }
  std::mt19937_64 random_;
};

}  // namespace

Shifted wait_awhile_study(std::span<const double> slots, const std::vector<WaitingJob>& jobs, double error,
                          std::uint64_t seed) {
  std::vector<double> seen{slots.begin(), slots.end()};
  if (error > 0 && !slots.empty()) {
    const double mean = std::accumulate(slots.begin(), slots.end(), 0.0) / static_cast<double>(slots.size());
    Normal normal{seed};
    for (auto& value : seen) value += error * mean * normal();
  }
  Shifted sum;
  for (const auto& job : jobs) {
    if (job.start + job.length > slots.size()) continue;
    const auto end = std::min(slots.size(), std::max(job.deadline, job.start + job.length));
    sum += shift(std::span{seen}.subspan(job.start, end - job.start),
                 slots.subspan(job.start, end - job.start), job.length);
  }
  return sum;
}

}  // namespace tidewatt::studies
