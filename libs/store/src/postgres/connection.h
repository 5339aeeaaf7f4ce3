// A thin, move-only hold on libpq: one connection, its statements and rows, every wait bounded. Nothing of it
// leaves this library.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/store/postgres.h"
#include "tidewatt/units/exact.h"
#include "tidewatt/units/time.h"

struct pg_conn;
struct pg_result;

namespace tidewatt::store::pg {

/// A one-dimensional array for unnest() and ANY(), in PostgreSQL's binary form.
class Array {
 public:
  enum class Of { integers, texts, blobs, numbers };
  explicit Array(Of of);
  Array& add(std::int64_t value);
  Array& add(std::optional<std::int64_t> value);
  Array& add(std::string_view text);  ///< also for blobs
  Array& add(WideMicrojoules value);
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] Of of() const { return of_; }
  /// Complete; nothing may be added any more.
  [[nodiscard]] std::string take();

 private:
  void null();
  Of of_;
  std::size_t count_ = 0;
  bool has_null_ = false;
  std::string bytes_;
};

/// What $1, $2, ... stand for, in this order.
class Params {
 public:
  Params& add(std::int64_t value);
  Params& add(std::optional<std::int64_t> value);
  Params& text(std::string_view text);
  /// Not copied: must live until the statement has run.
  Params& blob(std::string_view bytes);
  Params& add(Array&& array);

 private:
  friend class Connection;
  struct Value {
    unsigned type;
    bool is_null = false;
    std::string own;
    std::string_view view{};  // used instead of `own` where it has data
  };
  std::vector<Value> values_;
};

/// A statement's rows. Views live as long as this does.
class Rows {
 public:
  Rows() = default;
  [[nodiscard]] int size() const;
  /// Rows that an INSERT, UPDATE or DELETE touched.
  [[nodiscard]] std::int64_t touched() const;
  [[nodiscard]] bool null(int row, int column) const;
  [[nodiscard]] std::int64_t integer(int row, int column) const;  ///< a bigint; NULL reads as 0
  [[nodiscard]] std::optional<std::int64_t> maybe_integer(int row, int column) const;
  [[nodiscard]] std::optional<UtcTime> time(int row, int column) const;
  [[nodiscard]] std::string_view text(int row, int column) const;  ///< text or bytea
  [[nodiscard]] WideMicrojoules wide(int row, int column) const;   ///< a numeric without fraction
  [[nodiscard]] std::vector<std::int64_t> integers(int row, int column) const;  ///< a bigint[], sorted

 private:
  friend class Connection;
  struct Closer {
    void operator()(pg_result* result) const;
  };
  explicit Rows(pg_result* result) : result_(result) {}
  std::unique_ptr<pg_result, Closer> result_;
};

/// How a statement failed, for those who may try again.
enum class Failure : std::uint8_t {
  none,
  lost,         ///< the connection is gone: whether the statement took effect isn't known
  collision,    ///< rolled back over another transaction: the same again may work at once
  rolled_back,  ///< it took no effect, for any other reason
};

/// How connections are opened: the URL taken apart, and whom messages name.
class Target {
 public:
  /// @error invalid_input  for a URL that libpq can't read; its password is in no message
  static Result<Target> parse(const PostgresOptions& options);
  [[nodiscard]] const PostgresOptions& options() const { return options_; }
  /// "host:port/database", for messages.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The same with another time limit, whose waits end when `give_up` becomes true.
  [[nodiscard]] Target patient(Milliseconds timeout, const std::atomic<bool>& give_up) const;
  /// `text` without the password.
  [[nodiscard]] std::string scrubbed(std::string text) const;

 private:
  friend class Connection;
  PostgresOptions options_;
  std::string name_;
  std::vector<std::pair<std::string, std::string>> parts_;
  std::string password_;
  const std::atomic<bool>* give_up_ = nullptr;
};

/// One connection, for one thread at a time. Statements with parameters are prepared once per text.
class Connection {
 public:
  /// Connects and makes the session ours: time limits, search path, durable commits.
  static Result<Connection> open(const Target& target);
  Connection(Connection&&) noexcept = default;
  Connection& operator=(Connection&&) noexcept = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() = default;

  /// One statement. @error unavailable (also after the time limit), permission_denied, corrupt, io, internal
  Result<Rows> query(const std::string& sql, const Params& params = {});
  /// Any number of statements without parameters or rows.
  Status exec(const std::string& sql);
  /// One row, one integer.
  Result<std::int64_t> integer(const std::string& sql, const Params& params = {});
  /// Ends a transaction without effect; failure() stays what it was.
  void roll_back();

  /// Of the last call.
  [[nodiscard]] Failure failure() const { return failure_; }
  /// No further statement can run here.
  [[nodiscard]] bool lost() const { return !conn_ || failure_ == Failure::lost; }
  [[nodiscard]] const Target& target() const { return *target_; }

 private:
  struct Closer {
    void operator()(pg_conn* conn) const;
  };
  explicit Connection(const Target& target) : target_(&target) {}
  using Deadline = std::chrono::steady_clock::time_point;

  Status connect(Deadline deadline);
  Status prepare_session();
  Result<std::string> prepared(const std::string& sql, const Params& params, Deadline deadline);
  /// Waits for all results of what was sent and gives the last; the first error wins.
  Result<Rows> results(Deadline deadline);
  Status wait_readable(Deadline deadline);
  Status wait(short events, short& ready, Deadline deadline, std::string_view what);
  tl::unexpected<Error> lost_error(std::string what);
  tl::unexpected<Error> refused_error();
  tl::unexpected<Error> error_of(const pg_result* result);
  [[nodiscard]] Deadline deadline() const;

  const Target* target_;
  std::unique_ptr<pg_conn, Closer> conn_;
  std::unordered_map<std::string, std::string> prepared_;
  Failure failure_ = Failure::none;
};

/// BEGIN ... COMMIT; rolls back when it ends uncommitted.
class Transaction {
 public:
  enum class Kind { snapshot, write };  ///< repeatable read and read only; read committed
  static Result<Transaction> begin(Connection& db, Kind kind);
  Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status commit();

 private:
  explicit Transaction(Connection& db) : db_(&db) {}
  Connection* db_;
};

}  // namespace tidewatt::store::pg
