#include "db.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

#include "wide_functions.h"

namespace tidewatt::store {
namespace {

Error error_of(sqlite3* db, int code, std::string_view doing) {
  const char* message = db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  const char* file = db != nullptr ? sqlite3_db_filename(db, "main") : nullptr;
  auto text = fmt::format("{}: {}: {}", file != nullptr ? file : "database", doing, message);
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return {ErrorCode::unavailable, std::move(text),
              "free disk space or raise the quota; nothing acknowledged is lost"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::unavailable, std::move(text),
              "another program holds a lock on the database; try again"};
    case SQLITE_NOTADB:
      return {ErrorCode::corrupt, std::move(text), "the file is not a Tidewatt database; check the path"};
    case SQLITE_CORRUPT:
      return {ErrorCode::corrupt, std::move(text), "restore the latest backup, keep this file for rescue"};
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return {ErrorCode::permission_denied, std::move(text),
              "the folder must exist and be writable for this user"};
    case SQLITE_IOERR:
      return {ErrorCode::io, std::move(text), "look at the kernel's log for disk errors"};
    default:
      return {ErrorCode::internal, std::move(text), {}};
  }
}

int size_of(std::string_view bytes) { return static_cast<int>(bytes.size()); }

}  // namespace

Statement::~Statement() {
  if (stmt_ == nullptr) return;
  sqlite3_reset(stmt_);
  sqlite3_clear_bindings(stmt_);
}

Statement& Statement::bind(int at, std::int64_t value) {
  sqlite3_bind_int64(stmt_, at, value);
  return *this;
}
Statement& Statement::bind(int at, std::string_view text) {
  // A null data pointer would bind NULL; an empty text is not unknown.
  sqlite3_bind_text(stmt_, at, text.data() != nullptr ? text.data() : "", size_of(text), SQLITE_STATIC);
  return *this;
}
Statement& Statement::bind_blob(int at, std::string_view bytes) {
  sqlite3_bind_blob(stmt_, at, bytes.data() != nullptr ? bytes.data() : "", size_of(bytes), SQLITE_STATIC);
  return *this;
}
Statement& Statement::bind_null(int at) {
  sqlite3_bind_null(stmt_, at);
  return *this;
}
Statement& Statement::bind(int at, std::optional<std::int64_t> value) {
  return value ? bind(at, *value) : bind_null(at);
}
Statement& Statement::bind(int at, WideMicrojoules value) {
  const auto narrow = static_cast<std::int64_t>(value.raw());
  if (narrow == value.raw()) return bind(at, narrow);
  const auto text = value.to_string();
  sqlite3_bind_text(stmt_, at, text.data(), size_of(text), SQLITE_TRANSIENT);
  return *this;
}

int Statement::parameter(const char* name) const { return sqlite3_bind_parameter_index(stmt_, name); }

Result<bool> Statement::step() {
  const int code = sqlite3_step(stmt_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return tl::unexpected(error_of(db_, code, sqlite3_sql(stmt_)));
}

Status Statement::run() {
  TW_TRY_STATUS(step());
  sqlite3_reset(stmt_);
  return {};
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(stmt_, column); }
std::optional<std::int64_t> Statement::maybe_integer(int column) const {
  if (sqlite3_column_type(stmt_, column) == SQLITE_NULL) return std::nullopt;
  return integer(column);
}
std::optional<UtcTime> Statement::time(int column) const {
  const auto ms = maybe_integer(column);
  return ms ? std::optional(UtcTime{Milliseconds{*ms}}) : std::nullopt;
}

std::string_view Statement::text(int column) const {
  const auto* text = sqlite3_column_text(stmt_, column);
  // The only way to see sqlite's unsigned chars as text.
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_column_bytes(stmt_, column))};
}
std::string_view Statement::blob(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(stmt_, column));
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(stmt_, column))};
}
WideMicrojoules Statement::wide(int column) const { return wide_from(sqlite3_column_value(stmt_, column)); }

Result<Database> Database::open(const std::string& path, Access access) {
  sqlite3* raw = nullptr;
  const int flags =
      (access == Access::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY) |
      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  Database db(raw);  // also a failed open gives a handle that must be closed
  if (code != SQLITE_OK) {
    auto error = error_of(raw, code, "open");
    if (raw == nullptr || sqlite3_db_filename(raw, "main") == nullptr)
      error.message = path + ": " + error.message;
    return tl::unexpected(std::move(error));
  }
  sqlite3_busy_timeout(raw, 5'000);
  if (const int added = add_wide_functions(raw); added != SQLITE_OK)
    return tl::unexpected(error_of(raw, added, "add functions"));
  return db;
}

Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&& other) noexcept {
  statements_ = std::move(other.statements_);  // before the connection that they belong to
  db_ = std::move(other.db_);
  return *this;
}
Database::~Database() { statements_.clear(); }

Result<Statement> Database::prepare(std::string_view sql) {
  if (const auto found = statements_.find(sql); found != statements_.end())
    return Statement(db_.get(), found->second.get());
  sqlite3_stmt* stmt = nullptr;
  const int code =
      sqlite3_prepare_v3(db_.get(), sql.data(), size_of(sql), SQLITE_PREPARE_PERSISTENT, &stmt, nullptr);
  if (code != SQLITE_OK) return tl::unexpected(error_of(db_.get(), code, sql));
  if (statements_.size() > 256) statements_.clear();  // texts that name a day's partition come and go
  statements_.emplace(sql, stmt);
  return Statement(db_.get(), stmt);
}

Status Database::exec(const std::string& sql) {
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return tl::unexpected(error_of(db_.get(), code, sql));
  return {};
}

Result<std::int64_t> Database::integer(std::string_view sql) {
  TW_TRY(auto statement, prepare(sql));
  TW_TRY(const bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

bool Database::in_transaction() const { return sqlite3_get_autocommit(db_.get()) == 0; }

std::int64_t Database::changes() const { return sqlite3_changes64(db_.get()); }

void Database::Closer::operator()(sqlite3* db) const { sqlite3_close_v2(db); }
void Database::Finalizer::operator()(sqlite3_stmt* stmt) const { sqlite3_finalize(stmt); }

Result<Transaction> Transaction::begin(Database& db, Kind kind) {
  TW_TRY(auto begin, db.prepare(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN"));
  TW_TRY_STATUS(begin.run());
  return Transaction(db);
}

Transaction::~Transaction() {
  // Some failures (disk full, I/O) roll back by themselves.
  if (db_ != nullptr && db_->in_transaction()) (void)db_->exec("ROLLBACK");
}

Status Transaction::commit() {
  TW_TRY(auto commit, db_->prepare("COMMIT"));
  TW_TRY_STATUS(commit.run());
  db_ = nullptr;
  return {};
}

}  // namespace tidewatt::store
