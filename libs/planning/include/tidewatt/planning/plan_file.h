// The plan file tidewatt-plan/1 from its text.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tidewatt/base/result.h"
#include "tidewatt/planning/problem.h"
#include "tidewatt/units/time.h"

namespace tidewatt::planning {

/// The most that is planned at once; more is refused as too_large.
struct Limits {
  static constexpr std::size_t kFileBytes = std::size_t{128} << 20U;
  static constexpr std::size_t kJobs = 200'000;
  static constexpr std::size_t kSlots = 120'000;
  static constexpr std::size_t kSites = 1'000;
  static constexpr std::size_t kZones = 1'000;
  static constexpr std::size_t kReplicas = 1'024;
  /// Jobs times the slots of the horizon.
  static constexpr std::size_t kJobSlots = 200'000'000;
  static constexpr Minute kMinutes = Minute{60} * 24 * 366 * 10;
};

/// A wall-clock time without offset.
struct CivilTime {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0;
  Milliseconds below_minute{0};
};

/// The instants that a wall clock shows as one time: equal unless a clock set back shows it twice.
struct LocalInstants {
  UtcTime earlier, later;
};

/// What a plan file refers to outside itself.
struct PlanSurroundings {
  /// The text of a CSV file that the plan names. Any error is told as csv_unreadable.
  std::function<Result<std::string>(const std::string& path)> read_csv;
  /// Whether there is a time zone of this name.
  std::function<bool(const std::string& zone)> has_zone;
  /// nullopt: the clocks of the zone never show this time.
  std::function<std::optional<LocalInstants>(const std::string& zone, const CivilTime& civil)> local;
};

/// Reads and checks a whole plan file.
/// @error invalid_input  the message begins with the error's word and the JSON path:
///        "unknown_key: $.jobs[0].dead_line: …"
Result<Problem> parse_plan(std::string_view text, const PlanSurroundings& surroundings);

}  // namespace tidewatt::planning
