// A thin, move-only hold on sqlite3 and its statements. Nothing of it leaves this library.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tidewatt/base/result.h"
#include "tidewatt/units/exact.h"
#include "tidewatt/units/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tidewatt::store {

/// A prepared statement in use; goes back to its database's cache, reset, when it ends.
class Statement {
 public:
  Statement(sqlite3* db, sqlite3_stmt* stmt) : db_(db), stmt_(stmt) {}
  Statement(Statement&& other) noexcept : db_(other.db_), stmt_(std::exchange(other.stmt_, nullptr)) {}
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  /// Parameters count from 1. Text and blobs are not copied: they must live until the last step().
  Statement& bind(int at, std::int64_t value);
  Statement& bind(int at, std::string_view text);
  Statement& bind_blob(int at, std::string_view bytes);
  Statement& bind_null(int at);
  Statement& bind(int at, std::optional<std::int64_t> value);
  /// An integer where it fits 64 bits, else decimal text.
  Statement& bind(int at, WideMicrojoules value);
  Statement& bind(int at, Microjoules value) { return bind(at, value.n); }

  /// The place of a named parameter, ":from".
  [[nodiscard]] int parameter(const char* name) const;

  /// true = a row is there. @error unavailable (busy, disk full), io, corrupt
  Result<bool> step();
  /// Runs a statement that gives no rows and makes it ready for the next binds.
  Status run();

  /// Columns count from 0. Views live until the next step().
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::optional<std::int64_t> maybe_integer(int column) const;
  /// An integer of milliseconds since 1970; NULL = none.
  [[nodiscard]] std::optional<UtcTime> time(int column) const;
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] std::string_view blob(int column) const;
  [[nodiscard]] WideMicrojoules wide(int column) const;

 private:
  sqlite3* db_;
  sqlite3_stmt* stmt_;
};

/// One connection, for one thread at a time. Statements are prepared once per text.
class Database {
 public:
  enum class Access { read, write };
  static Result<Database> open(const std::string& path, Access access);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  /// `sql` must be one statement. One use of the same text at a time.
  Result<Statement> prepare(std::string_view sql);
  /// Any number of statements without parameters or rows.
  Status exec(const std::string& sql);
  /// The first column of the first row.
  Result<std::int64_t> integer(std::string_view sql);
  [[nodiscard]] bool in_transaction() const;
  /// Rows that the last INSERT, UPDATE or DELETE touched.
  [[nodiscard]] std::int64_t changes() const;

 private:
  struct Closer {
    void operator()(sqlite3* db) const;
  };
  struct Finalizer {
    void operator()(sqlite3_stmt* stmt) const;
  };
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
  };
  explicit Database(sqlite3* db) : db_(db) {}

  std::unique_ptr<sqlite3, Closer> db_;
  std::unordered_map<std::string, std::unique_ptr<sqlite3_stmt, Finalizer>, TextHash, std::equal_to<>>
      statements_;
};

/// BEGIN ... COMMIT; rolls back when it ends uncommitted.
class Transaction {
 public:
  enum class Kind { read, write };
  static Result<Transaction> begin(Database& db, Kind kind);
  Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status commit();

 private:
  explicit Transaction(Database& db) : db_(&db) {}
  Database* db_;
};

}  // namespace tidewatt::store
