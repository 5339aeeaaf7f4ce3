// The ledger store in PostgreSQL: several servers share one database. How: docs/adr/0008.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "tidewatt/base/result.h"
#include "tidewatt/ledger/image.h"
#include "tidewatt/ledger/store.h"
#include "tidewatt/units/time.h"

namespace tidewatt::store {

struct PostgresOptions {
  std::string url{};                 ///< postgresql://user@host:port/database?sslmode=..., as libpq reads it
  std::string password{};            ///< wins over one in the URL; empty = the URL's, or libpq's own ways
  std::string schema = "tidewatt";   ///< all tables live in it; made when missing
  std::size_t writers = 2;           ///< connections that commit
  std::size_t read_connections = 4;  ///< for everything else
  Milliseconds timeout{5'000};       ///< for one statement or a connect; then `unavailable`
  std::size_t queue_limit = 20'000;  ///< accruals waiting; beyond it: ErrorCode::unavailable
  std::size_t commit_limit = 2'000;  ///< accruals that share one commit, at most
  Milliseconds fold_after{30'000};   ///< fold the journal into the tables when its oldest row is this old ...
  std::size_t fold_bytes = std::size_t{64} << 20U;  ///< ... or when it has grown by this much
};

/// "postgres://..." or "postgresql://..."
bool is_postgres_url(const std::string& text);
/// The URL as it may be shown: without its password.
std::string without_password(const std::string& url);

/// Connects, makes or migrates the schema. PostgreSQL 13 or later.
/// An accrual is answered `applied` only when PostgreSQL says that it is durable (synchronous_commit, fsync).
/// @error invalid_input      the URL can't be read
/// @error unavailable        no connection, or no answer in time
/// @error permission_denied  PostgreSQL refuses the login, or the role may not make or use the schema
/// @error not_found          there is no such database
/// @error corrupt            not ours, or written by a newer tidewatt
Result<std::unique_ptr<ledger::Store>> open_postgres_store(const PostgresOptions& options);

/// The ledger in a database, for reading only, without taking part in it as a server does.
/// @error as open_postgres_store; corrupt also of an older schema: a server migrates it
Result<std::unique_ptr<ledger::ImageSource>> open_postgres_image(const PostgresOptions& options);

/// Makes the schema and fills it with what `feed` gives, all or nothing.
/// @error conflict  the schema holds something already
Status restore_postgres(const PostgresOptions& options,
                        const std::function<Status(ledger::ImageSink&)>& feed);

}  // namespace tidewatt::store
