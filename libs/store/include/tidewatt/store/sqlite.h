// The ledger store in one SQLite file: embedded, durable, one process at a time. How: docs/adr/0004.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tidewatt/base/result.h"
#include "tidewatt/ledger/image.h"
#include "tidewatt/ledger/store.h"
#include "tidewatt/units/time.h"

namespace tidewatt::store {

struct SqliteOptions {
  std::string
      path;  ///< made when missing (mode 0600); its folder must exist. Beside it: -wal, -shm and .lock
  std::size_t read_connections = 3;
  std::size_t queue_limit =
      20'000;  ///< accruals (or other writes) waiting; beyond it: ErrorCode::unavailable
  std::size_t commit_limit = 2'000;       ///< accruals that share one commit, at most
  Milliseconds checkpoint_after{60'000};  ///< fold the journal into the tables after this long ...
  std::size_t checkpoint_bytes = std::size_t{64} << 20U;  ///< ... or when it has grown by this much
  std::function<UtcTime()> now{};                         ///< dates adjustments; empty = the system's clock
  std::int64_t max_pages =
      0;  ///< upper bound of the file in 4 KiB pages; 0 = SQLite's own. A quota, or a full disk in a test
};

/// Opens or makes the database, migrates an older schema, replays what a crash left in the journal.
/// An accrual is answered `applied` only when it would survive a power cut (WAL, synchronous=FULL).
/// @error permission_denied  the path can't be opened or made
/// @error conflict           another process has it open (its pid is in the message)
/// @error corrupt            not a database, not ours, damaged, or written by a newer tidewatt
/// @error io                 the disk failed
Result<std::unique_ptr<ledger::Store>> open_sqlite_store(const SqliteOptions& options);

/// The ledger in a file, for reading only; a server may have it open and go on booking. What that server's
/// memory alone holds (when nodes were last heard of) may be a minute old.
/// @error permission_denied, not_found, corrupt (also of an older schema: a server migrates it)
Result<std::unique_ptr<ledger::ImageSource>> open_sqlite_image(const std::string& path);

/// Makes a new database at `options.path` of what `feed` gives, all or nothing.
/// @error conflict  there is a file already
Status restore_sqlite(const SqliteOptions& options, const std::function<Status(ledger::ImageSink&)>& feed);

}  // namespace tidewatt::store
