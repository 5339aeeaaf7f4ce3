// What to expect of a forecast whose error record is known.
#pragma once

#include <map>
#include <utility>

#include "bill.h"
#include "task.h"
#include "tidewatt/planning/problem.h"

namespace tidewatt::planning {

/// Whether any zone has an error record or a past.
bool has_error_record(const Problem& problem);

/// The problem with what to expect of each zone. Where its past is known, the forecast with its recent error
/// taken out; where only an error record is given, intensities drawn towards the zone's mean by what its
/// record says of their lead time: of a forecast's variance v, the part std^2 is error, so that the expected
/// intensity is mean + (1 - std^2 / v) x (forecast - mean).
Problem believed(const Problem& problem);

/// Whether a job may leave its baseline.
class HarmGate {
 public:
  explicit HarmGate(const Problem& problem) : belief_(believed(problem)), belief_grid_(belief_) {}
  HarmGate(const HarmGate&) = delete;
  HarmGate& operator=(const HarmGate&) = delete;

  /// Moving to `segments` must be expected to save (and then does so as likely as not, the error being
  /// symmetric about the expectation). Where the zone's past is known and the job stays in it, waits of its
  /// kind that were expected to save as much must have saved.
  bool allows(const Task& task, const Segments& segments);

 private:
  const HarmRecord& record(std::size_t zone, const WaitKind& kind);

  Problem belief_;
  Grid belief_grid_;
  std::map<std::size_t, Replay> replays_;
  std::map<std::pair<std::size_t, WaitKind>, HarmRecord> records_;
};

}  // namespace tidewatt::planning
