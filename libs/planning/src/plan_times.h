// The times of a plan file: instants with an offset, wall-clock times with the job's zone.
#pragma once

#include <string>
#include <string_view>

#include "json_fields.h"
#include "tidewatt/planning/plan_file.h"

namespace tidewatt::planning {

/// Which of the two instants a repeated wall-clock time means.
enum class Repeated { earlier, later };

struct ReadTime {
  UtcTime at;
  bool repeated = false;  ///< the wall clock shows it twice
};

/// @param zone  the job's time zone, or empty
/// Refuses: bad_value, local_time_without_zone, nonexistent_local_time
ReadTime read_time(std::string_view text, const std::string& zone, Repeated which, const JsonPath& path,
                   const PlanSurroundings& surroundings, Refusal& refusal);

/// Minutes from `start`, parts of a minute rounded down or up.
Minute minutes_down(UtcTime at, UtcTime start);
Minute minutes_up(UtcTime at, UtcTime start);

}  // namespace tidewatt::planning
