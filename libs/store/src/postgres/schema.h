// Tables and their migrations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "connection.h"
#include "tidewatt/base/result.h"

namespace tidewatt::store::pg {

/// Letters, digits and underscores: it stands unescaped in statements.
bool is_schema_name(const std::string& name);

inline constexpr std::int64_t kSchemaVersion = 6;

/// Makes the schema or brings an older one up to date, one server at a time.
/// @param to  tests make older ones
/// @error corrupt  another program's tables, or a newer tidewatt's
Status migrate(Connection& db, std::int64_t to = kSchemaVersion);
/// What takes version n to n + 1.
std::string_view migration(std::int64_t n);
/// For who only reads. @error corrupt  not ours, newer or older than this program
Status check_same_version(Connection& db);

/// For connections opened later: a newer tidewatt may have migrated meanwhile. @error corrupt
Status check_version(Connection& db);

/// A number for pg_advisory_xact_lock(), one for each job and schema.
Result<std::int64_t> lock_number(Connection& db, const std::string& job);

/// The day's partition of `curves`, made unless it is there; in a transaction.
Status make_curve_day(Connection& db, std::int64_t day);
std::string curve_table(std::int64_t day);

}  // namespace tidewatt::store::pg
