// Curves: what each device drew at each beat, kept for days. Energy is never computed from them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/ledger/task_set.h"
#include "tidewatt/metering/beat.h"
#include "tidewatt/units/exact.h"
#include "tidewatt/units/time.h"

namespace tidewatt::ledger {

struct CurveSample {
  std::string domain;
  int index = 0;
  std::optional<Milliwatts> power;  ///< mean of the beat's interval; nullopt = unknown (stored as such)
  std::optional<Milliwatts> power_min;
  std::optional<Milliwatts> power_max;
  std::optional<Milliwatts> power_limit;
  Quality quality = Quality::measured;
  TaskSet holders;  ///< tasks that held the device at this beat
  std::optional<Health> health;
};

/// One beat of one node.
struct CurvePoint {
  UtcTime at{};
  std::optional<double> cpu_util;
  std::vector<CurveSample> devices;
};

/// One node's curve, point by point in time order: weeks of it would be many megabytes at once. One thread's.
class CurveReader {
 public:
  virtual ~CurveReader() = default;
  /// Of all points, those already read too.
  [[nodiscard]] virtual const std::vector<UtcTime>& times() const = 0;
  /// The next one, valid until the next call; nullptr after the last. @error corrupt
  [[nodiscard]] virtual Result<const CurvePoint*> next() = 0;
};
/// Points that are there already, by time.
std::unique_ptr<CurveReader> read_points(std::vector<CurvePoint> points);
/// All that is left.
Result<std::vector<CurvePoint>> read_all(CurveReader& reader);

}  // namespace tidewatt::ledger
