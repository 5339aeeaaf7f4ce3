#include "open.h"

#include <fmt/format.h>

#include <chrono>

#include "schema.h"
#include "wal_damage.h"

namespace tidewatt::store {

Result<Database> open_for_writing(const SqliteOptions& options) {
  const auto now =
      options.now ? options.now() : std::chrono::floor<Milliseconds>(std::chrono::system_clock::now());
  TW_TRY(const auto left, keep_damaged_wal(options.path, now));
  TW_TRY(auto db, Database::open(options.path, Database::Access::write));
  // The page size must stand before the first table, WAL before anybody reads.
  TW_TRY_STATUS(db.exec("PRAGMA journal_mode = WAL"));
  TW_TRY_STATUS(
      db.exec("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 16384; PRAGMA cache_size = -32768; "
              "PRAGMA journal_size_limit = 67108864; PRAGMA trusted_schema = OFF"));
  TW_TRY_STATUS(migrate(db));
  // What SQLite left out would stay in the file behind the new commits, and look like damage the next time.
  if (left.has_rest()) TW_TRY_STATUS(db.exec("PRAGMA wal_checkpoint(TRUNCATE)"));
  if (options.max_pages > 0)
    TW_TRY_STATUS(db.exec(fmt::format("PRAGMA max_page_count = {}", options.max_pages)));
  return db;
}

}  // namespace tidewatt::store
