// 128-bit sums inside SQLite. A stored energy is an INTEGER where it fits 64 bits, else decimal TEXT.
#pragma once

#include "tidewatt/units/exact.h"

struct sqlite3;
struct sqlite3_value;

namespace tidewatt::store {

/// wide_sum(x): exact sum of such values as decimal text, '0' over no rows,
/// NULL skipped. wide_add(a, b): their exact sum, stored likewise.
/// Both fail the statement for anything that is neither an integer nor decimal text.
/// @return an SQLite result code
int add_wide_functions(sqlite3* db);

/// 0 for what is neither; columns are checked when written.
WideMicrojoules wide_from(sqlite3_value* value);

}  // namespace tidewatt::store
