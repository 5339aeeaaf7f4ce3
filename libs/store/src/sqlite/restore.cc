// An image into a new database, in one transaction.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>

#include "../node_info_codec.h"
#include "../numbering.h"
#include "../semantics.h"
#include "file_lock.h"
#include "market.h"
#include "open.h"
#include "reports.h"
#include "schema.h"
#include "team_hours.h"
#include "tidewatt/ledger/store.h"
#include "tidewatt/store/sqlite.h"

namespace tidewatt::store {
namespace {

using namespace ledger;

std::int64_t ms(UtcTime at) { return at.time_since_epoch().count(); }
std::optional<std::int64_t> ms(std::optional<UtcTime> at) {
  return at ? std::optional<std::int64_t>(ms(*at)) : std::nullopt;
}

int bind(Statement& s, int at, const WideMeasures& m) {
  for (const auto energy : {m.energy, m.counter, m.shared, m.unattributed, m.simulated, m.spread})
    s.bind(at++, energy);
  for (const auto time : {m.covered, m.gap, m.partial, m.shared_time})
    s.bind(at++, static_cast<std::int64_t>(time.count()));
  s.bind(at++, m.samples);
  return at;
}

#define TW_RESTORE_COLUMNS                                                                           \
  "energy_uj, counter_uj, shared_uj, unattributed_uj, simulated_uj, spread_uj, covered_ms, gap_ms, " \
  "partial_ms, shared_ms, samples"

class Loader final : public ImageSink {
 public:
  Loader(Database& db, UtcTime now) : db_(db), now_(now) {}

  Status add(const TaskInfo& task) override {
    TW_TRY(auto put, db_.prepare("INSERT INTO tasks VALUES(?, ?, ?, ?, ?, ?, ?, ?)"));
    put.bind(1, task.cluster)
        .bind(2, task.task_id)
        .bind(3, task.group_id)
        .bind(4, task.team)
        .bind(5, task.kind);
    put.bind(6, ms(task.started_at)).bind(7, ms(task.finished_at)).bind(8, ms(task.at_once_at));
    return put.run();
  }
  Status add(const EpochReport& report) override {
    TW_TRY([[maybe_unused]] const bool fresh, insert_epoch(db_, report));
    return {};
  }
  Status add(const TokenHour& hour) override { return add_tokens(db_, hour); }
  Status add(const TokenCounter& counter) override { return put_token_counter(db_, counter); }
  Status add(const TokenRecord& token) override {
    TW_TRY(auto put,
           db_.prepare("INSERT INTO tokens(id, name, role, team, sha256_hex, created_ms, expires_ms, "
                       "revoked_ms) VALUES(?, ?, ?, ?, ?, ?, ?, ?)"));
    put.bind(1, token.id)
        .bind(2, token.name)
        .bind(3, token.role)
        .bind(4, token.team)
        .bind(5, token.sha256_hex);
    put.bind(6, ms(token.created_at)).bind(7, ms(token.expires_at)).bind(8, ms(token.revoked_at));
    return put.run();
  }
  Status add(const AuditEntry& entry) override {
    TW_TRY(auto put, db_.prepare("INSERT INTO audit(at_ms, actor, action, subject) VALUES(?, ?, ?, ?)"));
    put.bind(1, ms(entry.at)).bind(2, entry.actor).bind(3, entry.action).bind(4, entry.subject);
    return put.run();
  }
  Status add(const MarketEntry& entry) override { return restore_market(db_, entry); }
  Status add(const NodeImage& node) override {
    TW_TRY(auto put,
           db_.prepare("INSERT INTO nodes(cluster, node_id, revision, cursor, info) VALUES(?, ?, ?, ?, ?)"));
    const auto info = node.info ? encode(*node.info) : std::string();
    put.bind(1, node.key.cluster).bind(2, node.key.node_id).bind(3, static_cast<std::int64_t>(node.revision));
    put.bind_blob(4, node.cursor).bind_blob(5, info);
    return put.run();
  }
  Status add(const Seal& seal) override {
    TW_TRY(auto put, db_.prepare("INSERT INTO seals VALUES(?, ?, ?, ?, ?, ?)"));
    put.bind(1, seal.month.n).bind(2, ms(seal.sealed_at)).bind(3, seal.rows).bind(4, seal.energy);
    put.bind(5, seal.hash).bind(6, seal.previous);
    return put.run();
  }
  Status add(const Account& account) override {
    TW_TRY(const auto pk, numbers_.give(account.key));
    TW_TRY(auto put, db_.prepare("INSERT INTO accounts(" TW_RESTORE_COLUMNS
                                 ", pk, cluster, scope, id, part, domain, first_sample_ms, last_sample_ms) "
                                 "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    auto at = bind(put, 1, account.totals);
    put.bind(at, pk)
        .bind(at + 1, account.key.cluster)
        .bind(at + 2, static_cast<std::int64_t>(account.key.scope));
    put.bind(at + 3, account.key.id).bind(at + 4, account.key.part).bind(at + 5, account.key.domain);
    put.bind(at + 6, ms(account.first_sample_at)).bind(at + 7, ms(account.last_sample_at));
    return put.run();
  }
  Status add(const HourlyRow& row) override {
    TW_TRY(const auto pk, numbers_.of(row.key));
    TW_TRY(auto put, db_.prepare("INSERT INTO energy_hourly(" TW_RESTORE_COLUMNS
                                 ", account, hour) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    const auto at = bind(put, 1, row.measures);
    put.bind(at, pk).bind(at + 1, static_cast<std::int64_t>(row.hour.time_since_epoch().count()));
    return put.run();
  }
  Status add(const Adjustment& late) override {
    TW_TRY(const auto pk, numbers_.of(late.key));
    TW_TRY(auto put,
           db_.prepare(
               "INSERT INTO energy_adjustments(" TW_RESTORE_COLUMNS
               ", account, hour, booked_ms, reason) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    const auto at = bind(put, 1, late.measures);
    put.bind(at, pk).bind(at + 1, static_cast<std::int64_t>(late.hour.time_since_epoch().count()));
    put.bind(at + 2, ms(late.booked_at.value_or(now_))).bind(at + 3, late.reason);
    return put.run();
  }

 private:
  Database& db_;
  UtcTime now_;
  Numbering numbers_;
};

/// With what SQLite makes beside it.
void remove_database(const std::string& path) {
  for (const auto* end : {"", "-wal", "-shm"}) (void)::unlink((path + end).c_str());
}

/// The file's name is on the disk, too.
Status flush_folder_of(const std::string& path) {
  auto folder = std::filesystem::path{path}.parent_path();
  if (folder.empty()) folder = ".";
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool flushed = fd >= 0 && ::fsync(fd) == 0;
  const int code = errno;
  if (fd >= 0) ::close(fd);
  if (!flushed) return fail(ErrorCode::io, fmt::format("{}: {}", folder.string(), std::strerror(code)));
  return {};
}

Status load(const SqliteOptions& options, const std::function<Status(ImageSink&)>& feed) {
  TW_TRY(const auto lock, FileLock::take_database(options.path));
  TW_TRY(auto db, open_for_writing(options));
  TW_TRY(auto transaction, Transaction::begin(db, Transaction::Kind::write));
  Loader loader(
      db, options.now ? options.now() : std::chrono::floor<Milliseconds>(std::chrono::system_clock::now()));
  TW_TRY_STATUS(feed(loader));
  TW_TRY_STATUS(fill_team_hours(db));
  TW_TRY_STATUS(transaction.commit());
  return db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace

Status restore_sqlite(const SqliteOptions& options, const std::function<Status(ImageSink&)>& feed) {
  const auto path = real_path(options.path);
  TW_TRY(const auto lock, FileLock::take(path + ".lock"));
  const auto there = [&] {
    return fail(ErrorCode::conflict, options.path + " is there already",
                "restore to a path where no file is; nothing is ever overwritten");
  };
  if (::access(path.c_str(), F_OK) == 0) return there();
  // Until it is whole it has another name: a restore that was killed must not look like a ledger.
  auto part = options;
  part.path = path + ".part";
  remove_database(part.path);
  auto status = load(part, feed);
  // Unlike a rename, a link never replaces what came meanwhile.
  if (status && ::link(part.path.c_str(), path.c_str()) != 0)
    status = errno == EEXIST ? Status{there()}
                             : Status{fail(ErrorCode::io, fmt::format("{}: {}", path, std::strerror(errno)))};
  remove_database(part.path);
  if (status) status = flush_folder_of(path);
  return status;
}

}  // namespace tidewatt::store
