// The tables and how an older database gets to them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "db.h"
#include "tidewatt/base/result.h"

namespace tidewatt::store {

inline constexpr std::int64_t kSchemaVersion = 6;

/// Makes the tables or migrates them, one transaction per version.
/// @param to  tests make older ones
/// @error corrupt  not our database, or newer than this program
Status migrate(Database& db, std::int64_t to = kSchemaVersion);
/// For who only reads. @error corrupt  not our database, newer or older than this program
Status check_version(Database& db);
/// What takes version n to n + 1.
std::string_view migration(std::int64_t n);

/// Adds up all hourly rows and adjustments in an empty team_hours.
extern const std::string_view kFillTeamHours;

/// Days since 1970-01-01 name a curve partition.
std::string curve_table(std::int64_t day);
Status make_curve_table(Database& db, std::int64_t day);

}  // namespace tidewatt::store
