// A write-ahead log that a disk damaged: found before SQLite leaves out the rest of it, and kept beside.
#pragma once

#include <string>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/ledger/store.h"
#include "tidewatt/units/time.h"
#include "wal_file.h"

namespace tidewatt::store {

/// What stands in a log. A file that is missing or has no frame is empty.
/// @error permission_denied, io
Result<WalContent> read_wal(const std::string& path);

/// Looks at the log of `database` before SQLite does. A damaged one, or one whose database is gone, is copied
/// to a file beside it, and told.
/// @error what keeps it from being read or copied: then nothing may be opened, or the log would be gone
Result<WalContent> keep_damaged_wal(const std::string& database, UtcTime now);

/// The copies that lie beside `database`, oldest first.
std::vector<ledger::StoreDamage> damaged_wals(const std::string& database);

}  // namespace tidewatt::store
