#include "reader.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "months.h"
#include "team_hours.h"

namespace tidewatt::store {
namespace {

/// Snapshots that a checkpoint may spoil before the lock is held throughout.
constexpr int kOptimisticAttempts = 3;

template <class T>
Result<std::vector<T>> all_rows(ReaderPool& pool, std::string_view sql,
                                const std::function<T(const Statement&)>& read) {
  TW_TRY(const auto db, pool.lease());
  TW_TRY(auto select, (*db).prepare(sql));
  std::vector<T> rows;
  while (true) {
    TW_TRY(const bool row, select.step());
    if (!row) return rows;
    rows.push_back(read(select));
  }
}

}  // namespace

ReaderPool::Lease::~Lease() {
  if (!db_) return;
  {
    const std::lock_guard lock(pool_->mutex_);
    pool_->idle_.push_back(std::move(db_));
  }
  pool_->returned_.notify_one();
}

Result<ReaderPool::Lease> ReaderPool::lease() {
  std::unique_lock lock(mutex_);
  returned_.wait(lock, [this] { return !idle_.empty() || open_ < most_; });
  if (!idle_.empty()) {
    auto db = std::move(idle_.back());
    idle_.pop_back();
    return Lease(*this, std::move(db));
  }
  auto db = Database::open(path_, Database::Access::read);
  if (!db) return tl::unexpected(std::move(db).error());
  ++open_;
  return Lease(*this, std::make_unique<Database>(std::move(*db)));
}

Status Reader::consistently(Database& db, const std::function<Status()>& from_tables,
                            const std::function<Status()>& from_memory) {
  for (int attempt = 0;; ++attempt) {
    std::unique_lock lock(state_.mutex);
    const auto before = state_.checkpoints;
    const bool patient = attempt < kOptimisticAttempts;
    if (patient) lock.unlock();
    TW_TRY(const auto snapshot, Transaction::begin(db, Transaction::Kind::read));
    TW_TRY_STATUS(from_tables());
    if (patient) lock.lock();
    if (state_.checkpoints == before) return from_memory();
  }
}

Status Reader::team_hours(const ledger::ImageParts& parts, ledger::ImageSink& sink) {
  TW_TRY(const auto lease, pool_.lease());
  auto& db = *lease;
  TeamSums sums;
  std::vector<std::pair<TeamKey, TeamSum>> rows;
  const auto from_tables = [&]() -> Status {
    sums.clear();
    rows.clear();
    TW_TRY_STATUS(add_task_moves(db, parts, sums));
    return each_team_row(db, parts, [&rows](TeamKey&& key, TeamSum&& sum) -> Status {
      rows.emplace_back(std::move(key), std::move(sum));
      return {};
    });
  };
  const auto from_memory = [&]() -> Status {
    const auto team = [&db](const std::string& cluster, const std::string& task) {
      return team_of(db, cluster, task);
    };
    return add_unfolded(sums, state_.unfolded, state_.frozen, parts, team);
  };
  TW_TRY_STATUS(consistently(db, from_tables, from_memory));
  TeamMerge merge(sums, sink);
  for (const auto& [key, sum] : rows) TW_TRY_STATUS(merge.take(key, sum));
  return merge.end();
}

Result<std::vector<ledger::TaskInfo>> Reader::tasks() { return tasks_where("ORDER BY cluster, task_id"); }
Result<std::vector<ledger::TaskInfo>> Reader::moved_tasks() {
  return tasks_where("WHERE at_once_ms IS NOT NULL");
}

Result<std::vector<ledger::TaskInfo>> Reader::tasks_where(std::string_view which) {
  const auto sql = fmt::format(
      "SELECT cluster, task_id, group_id, team, kind, started_ms, finished_ms, at_once_ms FROM tasks {}",
      which);
  return all_rows<ledger::TaskInfo>(pool_, sql, [](const Statement& row) {
    return ledger::TaskInfo{std::string(row.text(0)),
                            std::string(row.text(1)),
                            std::string(row.text(2)),
                            std::string(row.text(3)),
                            std::string(row.text(4)),
                            row.time(5),
                            row.time(6),
                            row.time(7)};
  });
}

Result<std::vector<ledger::TokenRecord>> Reader::tokens() {
  return all_rows<ledger::TokenRecord>(
      pool_,
      "SELECT id, name, role, team, sha256_hex, created_ms, expires_ms, revoked_ms FROM tokens ORDER BY id",
      [](const Statement& row) {
        return ledger::TokenRecord{std::string(row.text(0)),
                                   std::string(row.text(1)),
                                   std::string(row.text(2)),
                                   std::string(row.text(3)),
                                   std::string(row.text(4)),
                                   UtcTime{Milliseconds{row.integer(5)}},
                                   row.time(6),
                                   row.time(7)};
      });
}

Result<std::vector<ledger::AuditEntry>> Reader::audit(std::size_t limit) {
  TW_TRY(const auto db, pool_.lease());
  TW_TRY(auto select,
         (*db).prepare("SELECT at_ms, actor, action, subject FROM audit ORDER BY seq DESC LIMIT ?"));
  select.bind(
      1, static_cast<std::int64_t>(std::min<std::size_t>(limit, std::numeric_limits<std::int64_t>::max())));
  std::vector<ledger::AuditEntry> entries;
  while (true) {
    TW_TRY(const bool row, select.step());
    if (!row) return entries;
    entries.push_back({UtcTime{Milliseconds{select.integer(0)}}, std::string(select.text(1)),
                       std::string(select.text(2)), std::string(select.text(3))});
  }
}

Result<std::vector<ledger::Seal>> Reader::seals() {
  TW_TRY(const auto db, pool_.lease());
  return read_seals(*db);
}

Status Reader::ping() {
  TW_TRY(const auto db, pool_.lease());
  TW_TRY_STATUS((*db).integer("SELECT count(*) FROM meta"));
  return {};
}

}  // namespace tidewatt::store
