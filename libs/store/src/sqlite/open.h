// The one connection that writes, as every use of the database needs it.
#pragma once

#include "db.h"
#include "tidewatt/base/result.h"
#include "tidewatt/store/sqlite.h"

namespace tidewatt::store {

/// Makes the file when it is missing, and the tables or their newest form. Needs the file's lock.
Result<Database> open_for_writing(const SqliteOptions& options);

}  // namespace tidewatt::store
