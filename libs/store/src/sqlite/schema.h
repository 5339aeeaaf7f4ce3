// The tables and how an older database gets to them.
#pragma once

#include <string>

#include "db.h"
#include "tidewatt/base/result.h"

namespace tidewatt::store {

inline constexpr std::int64_t kSchemaVersion = 1;

/// Makes the tables or migrates them, one transaction per version.
/// @error corrupt  not our database, or newer than this program
Status migrate(Database& db);

/// Days since 1970-01-01 name a curve partition.
std::string curve_table(std::int64_t day);
Status make_curve_table(Database& db, std::int64_t day);

}  // namespace tidewatt::store
