#include "open.h"

#include <fmt/format.h>

#include "file_lock.h"
#include "schema.h"

namespace tidewatt::store {

Result<Database> open_for_writing(const SqliteOptions& options) {
  TW_TRY_STATUS(make_private_file(options.path));
  TW_TRY(auto db, Database::open(options.path, Database::Access::write));
  // The page size must stand before the first table, WAL before anybody reads.
  TW_TRY_STATUS(db.exec("PRAGMA journal_mode = WAL"));
  TW_TRY_STATUS(
      db.exec("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 16384; PRAGMA cache_size = -32768; "
              "PRAGMA journal_size_limit = 67108864; PRAGMA trusted_schema = OFF"));
  TW_TRY_STATUS(migrate(db));
  if (options.max_pages > 0)
    TW_TRY_STATUS(db.exec(fmt::format("PRAGMA max_page_count = {}", options.max_pages)));
  return db;
}

}  // namespace tidewatt::store
