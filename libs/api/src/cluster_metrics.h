// Counts and times of what a cluster's control plane and KEDA ask.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "histogram.h"
#include "tidewatt/base/clock.h"

namespace tidewatt::api {

/// What became of a question; each is a series, so the list is short and fixed.
enum class ClusterOutcome : std::uint8_t {
  filter_answered,
  filter_invalid,
  prioritize_answered,
  prioritize_invalid,
  mutate_held,       ///< the gate was added
  mutate_changed,    ///< labels or annotations alone
  mutate_unchanged,  ///< also what isn't ours to change
  mutate_invalid,
  validate_allowed,
  validate_quota,   ///< refused: the team's energy of the month is used up
  validate_budget,  ///< refused: the team's carbon budget is
  validate_invalid,
  keda_signal,    ///< replicas by the signal
  keda_schedule,  ///< by the schedule, as the signal is degraded
  keda_nothing,   ///< by neither: the most
  keda_unknown,   ///< there is no such policy
  count_of_them
};

class ClusterMetrics {
 public:
  void count(ClusterOutcome outcome) {
    counts_.at(static_cast<std::size_t>(outcome)).fetch_add(1, std::memory_order_relaxed);
  }
  /// Prometheus text format.
  void write(std::string& out) const;

  Histogram extender, admission, keda;

 private:
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(ClusterOutcome::count_of_them)> counts_{};
};

/// Observes how long it lived.
class Timed {
 public:
  Timed(const Clock& clock, Histogram& into) : clock_(clock), into_(into), began_(clock.mono_now()) {}
  ~Timed() { into_.observe(Seconds{static_cast<double>((clock_.mono_now() - began_).count()) / 1000.0}); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  const Clock& clock_;
  Histogram& into_;
  SteadyTime began_;
};

}  // namespace tidewatt::api
