#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "tidewatt/agent/workloads.h"

namespace tidewatt::agent {

struct AttributionStatus {
  WorkloadStats last;            ///< of the last look that ended
  std::uint64_t looks = 0;       ///< that ended
  std::uint64_t late = 0;        ///< beats that went without, since the look took too long
  bool is_late = false;          ///< the newest beat was one of them
  double seconds = 0;            ///< that the last look took
  double cpu_seconds_total = 0;  ///< CPU time of all looks
};

/// Runs a WorkloadScanner on a thread of its own, so that a /proc that hangs costs a beat its holders, never
/// the beat.
class AttributionThread {
 public:
  /// @param patience  how long a beat may wait for its look
  explicit AttributionThread(std::unique_ptr<WorkloadScanner> scanner,
                             Milliseconds patience = Milliseconds{500});
  /// Stops. A look under way gets a moment to end, then its thread is left behind.
  ~AttributionThread();
  AttributionThread(const AttributionThread&) = delete;
  AttributionThread& operator=(const AttributionThread&) = delete;

  /// Looks now. nullopt: it took too long, or an earlier look still does; its result is then only a baseline.
  std::optional<Workloads> look(std::vector<metering::Reading> devices);
  [[nodiscard]] AttributionStatus status() const;

 private:
  struct Desk;
  static void note_late(Desk& desk);
  static void work(const std::shared_ptr<Desk>& desk);

  std::shared_ptr<Desk> desk_;
  Milliseconds patience_;
  std::thread thread_;
};

}  // namespace tidewatt::agent
