// The one connection that writes, as every use of the database needs it.
#pragma once

#include "db.h"
#include "tidewatt/base/result.h"
#include "tidewatt/store/sqlite.h"

namespace tidewatt::store {

/// Makes the file when it is missing, and the tables or their newest form. Keeps a copy of a damaged log.
/// Needs the file's lock, and its path without symbolic links.
Result<Database> open_for_writing(const SqliteOptions& options);

}  // namespace tidewatt::store
