#include "connection.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "tidewatt/units/text.h"

namespace tidewatt::store::pg {
namespace {

using std::chrono::steady_clock;

std::string_view state_of(const PGresult* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  return state != nullptr ? state : "";
}

/// Of what the server says: our code, and what to do about it.
std::pair<ErrorCode, std::string_view> meaning_of(std::string_view state) {
  if (state == "53100") return {ErrorCode::unavailable, "free disk space where PostgreSQL keeps its data"};
  if (state == "53300")
    return {ErrorCode::unavailable, "raise max_connections, or lower it for other programs"};
  if (state == "57014" || state == "55P03")
    return {ErrorCode::unavailable, "PostgreSQL is busy or something holds a lock; try again"};
  if (state == "25006")
    return {ErrorCode::unavailable,
            "this is a standby or read only: give the primary, or target_session_attrs=read-write"};
  if (state == "42501")
    return {ErrorCode::permission_denied, "grant the role CREATE on the database, or make the schema for it"};
  if (state.starts_with("28")) return {ErrorCode::permission_denied, "check user, password and pg_hba.conf"};
  if (state.starts_with("XX00") && state != "XX000")
    return {ErrorCode::corrupt, "restore the latest backup, keep this data folder for rescue"};
  if (state.starts_with("58")) return {ErrorCode::io, "look at PostgreSQL's log and the kernel's"};
  if (state.starts_with("08") || state.starts_with("40") || state.starts_with("53") ||
      state.starts_with("57"))
    return {ErrorCode::unavailable, "try again in a moment"};
  return {ErrorCode::internal, {}};
}

std::string one_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

Result<Target> Target::parse(const PostgresOptions& options) {
  Target target;
  target.options_ = options;
  char* message = nullptr;
  PQconninfoOption* parts = PQconninfoParse(options.url.c_str(), &message);
  if (parts == nullptr) {
    // libpq's message may quote the URL, with all that is in it.
    PQfreemem(message);
    return fail(ErrorCode::invalid_input,
                fmt::format("\"{}\" is no PostgreSQL URL", without_password(options.url)),
                "give one like postgresql://tidewatt@db.example:5432/tidewatt");
  }
  std::string host;
  std::string port = "5432";
  std::string database;
  for (const auto* part = parts; part->keyword != nullptr; ++part) {
    if (part->val == nullptr || *part->val == '\0') continue;
    const std::string key = part->keyword;
    if (key == "password") {
      target.password_ = part->val;
      continue;
    }
    if (key == "host" || (key == "hostaddr" && host.empty())) host = part->val;
    if (key == "port") port = part->val;
    if (key == "dbname") database = part->val;
    target.parts_.emplace_back(key, part->val);
  }
  PQconninfoFree(parts);
  if (!options.password.empty()) target.password_ = options.password;
  target.options_.password.clear();
  target.options_.url.clear();
  target.name_ =
      fmt::format("PostgreSQL at {}:{}/{}", host.empty() ? "the local socket" : host, port, database);
  return target;
}

Target Target::patient(Milliseconds timeout, const std::atomic<bool>& give_up) const {
  Target other = *this;
  other.options_.timeout = timeout;
  other.give_up_ = &give_up;
  return other;
}

std::string Target::scrubbed(std::string text) const {
  if (password_.empty()) return text;
  for (auto at = text.find(password_); at != std::string::npos; at = text.find(password_, at + 3))
    text.replace(at, password_.size(), "***");
  return text;
}

void Connection::Closer::operator()(pg_conn* conn) const { PQfinish(conn); }

Connection::Deadline Connection::deadline() const { return steady_clock::now() + target_->options().timeout; }

tl::unexpected<Error> Connection::lost_error(std::string what) {
  failure_ = Failure::lost;
  auto text = one_line(target_->scrubbed(std::move(what)));
  conn_.reset();
  prepared_.clear();
  return fail(ErrorCode::unavailable, fmt::format("{}: {}", target_->name(), text),
              "nothing acknowledged is lost; it is tried again when PostgreSQL answers");
}

/// Why there is no connection. libpq gives no code then, only a text; one in another language keeps the
/// general hint.
tl::unexpected<Error> Connection::refused_error() {
  auto error = lost_error(PQerrorMessage(conn_.get()));
  const auto says = [text = error.value().message](std::string_view words) {
    return text.find(words) != std::string::npos;
  };
  if (says("too many clients") || says("connection slots"))
    error.value().hint = meaning_of("53300").second;
  else if (says("authentication failed") || says("no password supplied") || says("pg_hba.conf"))
    error =
        fail(ErrorCode::permission_denied, error.value().message, std::string(meaning_of("28000").second));
  else if (says("database") && says("does not exist"))
    error = fail(ErrorCode::not_found, error.value().message, "make it: createdb NAME --owner ROLE");
  return error;
}

Result<Connection> Connection::open(const Target& target) {
  Connection connection(target);
  TW_TRY_STATUS(connection.connect(connection.deadline()));
  TW_TRY_STATUS(connection.prepare_session());
  return connection;
}

Status Connection::connect(Deadline deadline) {
  std::vector<const char*> keys;
  std::vector<const char*> values;
  for (const auto& [key, value] : target_->parts_) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  const auto add = [&](const char* key, const char* value) {
    keys.push_back(key);
    values.push_back(value);
  };
  if (!target_->password_.empty()) add("password", target_->password_.c_str());
  add("fallback_application_name", "tidewatt");
  add("client_encoding", "UTF8");
  keys.push_back(nullptr);
  values.push_back(nullptr);
  conn_.reset(PQconnectStartParams(keys.data(), values.data(), 0));
  if (!conn_) return lost_error("out of memory");
  PQsetNoticeProcessor(conn_.get(), [](void*, const char*) {}, nullptr);
  auto next = PGRES_POLLING_WRITING;
  while (PQstatus(conn_.get()) != CONNECTION_BAD) {
    short ready = 0;
    TW_TRY_STATUS(wait(next == PGRES_POLLING_READING ? POLLIN : POLLOUT, ready, deadline, "no connection"));
    next = PQconnectPoll(conn_.get());
    if (next == PGRES_POLLING_FAILED) break;
    if (next == PGRES_POLLING_OK) {
      PQsetnonblocking(conn_.get(), 1);
      failure_ = Failure::none;
      if (PQserverVersion(conn_.get()) < 130'000)
        return fail(ErrorCode::corrupt,
                    fmt::format("{} has version {}", target_->name(), PQserverVersion(conn_.get())),
                    "PostgreSQL 13 or later is needed");
      return {};
    }
  }
  return refused_error();
}

Status Connection::prepare_session() {
  const auto& options = target_->options();
  // The server gives up a little before we do: then nothing is unknown.
  const auto limit = std::max<std::int64_t>(1, options.timeout.count() * 4 / 5);
  return exec(fmt::format(
      "SET search_path = \"{}\"; SET statement_timeout = {}; SET lock_timeout = {}; "
      "SET idle_in_transaction_session_timeout = {}; SET jit = off; SET standard_conforming_strings = on; "
      // Stronger ones (remote_apply) stay.
      "SELECT set_config('synchronous_commit', 'on', false) "
      "WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')",
      options.schema, limit, limit, options.timeout.count() * 4));
}

Status Connection::wait(short events, short& ready, Deadline deadline, std::string_view what) {
  constexpr std::int64_t kLook = 200;  // ms between looks at whether to give up
  while (true) {
    if (target_->give_up_ != nullptr && *target_->give_up_) return lost_error("given up");
    const auto left = std::chrono::ceil<Milliseconds>(deadline - steady_clock::now()).count();
    if (left <= 0)
      return lost_error(fmt::format("{} within {} ms", what, target_->options().timeout.count()));
    pollfd waiting{PQsocket(conn_.get()), events, 0};
    if (::poll(&waiting, 1, static_cast<int>(std::min(left, kLook))) > 0) {
      ready = waiting.revents;
      return {};
    }
  }
}

Status Connection::wait_readable(Deadline deadline) {
  while (true) {
    const int unsent = PQflush(conn_.get());
    if (unsent < 0) return lost_error(PQerrorMessage(conn_.get()));
    short ready = 0;
    TW_TRY_STATUS(
        wait(static_cast<short>(unsent > 0 ? POLLIN | POLLOUT : POLLIN), ready, deadline, "no answer"));
    if ((ready & (POLLIN | POLLHUP | POLLERR)) != 0) {
      if (PQconsumeInput(conn_.get()) == 0) return lost_error(PQerrorMessage(conn_.get()));
      return {};
    }
  }
}

tl::unexpected<Error> Connection::error_of(const pg_result* result) {
  const auto state = state_of(result);
  const char* primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const char* severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  // Without a state the message is libpq's own: the connection went away.
  if (state.empty() || PQstatus(conn_.get()) == CONNECTION_BAD ||
      (severity != nullptr && std::string_view(severity) != "ERROR"))
    return lost_error(primary != nullptr ? primary : PQresultErrorMessage(result));
  failure_ = state == "40001" || state == "40P01" ? Failure::collision : Failure::rolled_back;
  const auto [code, hint] = meaning_of(state);
  return fail(code,
              fmt::format("{}: {} ({})", target_->name(),
                          one_line(target_->scrubbed(primary != nullptr ? primary : "")), state),
              std::string(hint));
}

Result<Rows> Connection::results(Deadline deadline) {
  std::optional<tl::unexpected<Error>> failed;
  Rows last;
  while (true) {
    while (PQisBusy(conn_.get()) != 0) TW_TRY_STATUS(wait_readable(deadline));
    Rows rows(PQgetResult(conn_.get()));
    if (!rows.result_) break;
    const auto status = PQresultStatus(rows.result_.get());
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY) {
      last = std::move(rows);
      continue;
    }
    if (!failed) failed = error_of(rows.result_.get());
    if (!conn_) break;
  }
  if (failed) return *std::move(failed);
  failure_ = Failure::none;
  return last;
}

Status Connection::exec(const std::string& sql) {
  if (!conn_) return lost_error("the connection was lost before");
  const auto until = deadline();
  if (PQsendQuery(conn_.get(), sql.c_str()) == 0) return lost_error(PQerrorMessage(conn_.get()));
  if (auto rows = results(until); !rows) return tl::unexpected(std::move(rows).error());
  return {};
}

Result<std::string> Connection::prepared(const std::string& sql, const Params& params, Deadline deadline) {
  if (const auto found = prepared_.find(sql); found != prepared_.end()) return found->second;
  if (prepared_.size() > 200) {
    TW_TRY_STATUS(exec("DEALLOCATE ALL"));
    prepared_.clear();
  }
  std::vector<Oid> types;
  for (const auto& value : params.values_) types.push_back(value.type);
  const auto name = fmt::format("s{}", prepared_.size());
  if (PQsendPrepare(conn_.get(), name.c_str(), sql.c_str(), static_cast<int>(types.size()), types.data()) ==
      0)
    return lost_error(PQerrorMessage(conn_.get()));
  TW_TRY([[maybe_unused]] const auto done, results(deadline));
  prepared_.emplace(sql, name);
  return name;
}

Result<Rows> Connection::query(const std::string& sql, const Params& params) {
  if (!conn_) return lost_error("the connection was lost before");
  const auto until = deadline();
  TW_TRY(const auto name, prepared(sql, params, until));
  std::vector<const char*> values;
  std::vector<int> sizes;
  std::vector<int> formats;
  for (const auto& value : params.values_) {
    const std::string_view bytes = value.view.data() != nullptr ? value.view : std::string_view(value.own);
    values.push_back(value.is_null ? nullptr : bytes.data());
    sizes.push_back(static_cast<int>(bytes.size()));
    formats.push_back(1);
  }
  if (PQsendQueryPrepared(conn_.get(), name.c_str(), static_cast<int>(values.size()), values.data(),
                          sizes.data(), formats.data(), 1) == 0)
    return lost_error(PQerrorMessage(conn_.get()));
  return results(until);
}

void Connection::roll_back() {
  if (lost()) return;
  const auto failure = failure_;
  if (exec("ROLLBACK")) failure_ = failure;
}

Result<std::int64_t> Connection::integer(const std::string& sql, const Params& params) {
  TW_TRY(const auto rows, query(sql, params));
  return rows.size() > 0 ? rows.integer(0, 0) : 0;
}

Result<Transaction> Transaction::begin(Connection& db, Kind kind) {
  TW_TRY_STATUS(db.exec(kind == Kind::write ? "BEGIN ISOLATION LEVEL READ COMMITTED"
                                            : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
  return Transaction(db);
}

Transaction::~Transaction() {
  if (db_ != nullptr) db_->roll_back();
}

Status Transaction::commit() {
  TW_TRY_STATUS(db_->exec("COMMIT"));
  db_ = nullptr;
  return {};
}

}  // namespace tidewatt::store::pg
