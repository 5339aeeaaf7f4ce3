// Wall-clock times of IANA zones, from the machine's zone files.
#pragma once

#include <optional>
#include <string>

#include "tidewatt/planning/plan_file.h"
#include "tidewatt/reports/tariff.h"

namespace tidewatt::cli {

bool has_time_zone(const std::string& zone);
/// The instants at which the clocks of a zone show a time; nullopt: never (they skip it), or no such zone.
std::optional<planning::LocalInstants> local_instants(const std::string& zone,
                                                      const planning::CivilTime& civil);

/// What the clocks of a zone show at an instant; nullopt: no such zone.
std::optional<reports::LocalHour> local_hour(const std::string& zone, UtcTime at);

}  // namespace tidewatt::cli
