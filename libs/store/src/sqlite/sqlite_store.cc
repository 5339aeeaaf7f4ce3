#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <utility>

#include "checkpoint.h"
#include "file_lock.h"
#include "image.h"
#include "market.h"
#include "months.h"
#include "open.h"
#include "reader.h"
#include "reports.h"
#include "schema.h"
#include "state.h"
#include "team_hours.h"
#include "tidewatt/store/sqlite.h"
#include "wal_damage.h"
#include "writer.h"

#include "../semantics.h"

namespace tidewatt::store {
namespace {

using namespace ledger;

std::optional<std::int64_t> milliseconds(std::optional<UtcTime> at) {
  return at ? std::optional<std::int64_t>(at->time_since_epoch().count()) : std::nullopt;
}

class SqliteStore final : public Store {
 public:
  static Result<std::unique_ptr<Store>> open(const SqliteOptions& options);

  Result<VersionedCursor> cursor(const NodeKey& key) override {
    const std::lock_guard lock(state_.mutex);
    auto* node = state_.find(key);
    return node == nullptr ? VersionedCursor{} : State::cursor_of(*node);
  }

  Result<std::vector<AccrueOutcome>> accrue(std::span<const Accrual> accruals) override {
    return writer_.accrue(accruals);
  }

  Status note_seen(std::span<const SharedNode> nodes) override {
    bool news = false;
    {
      const std::lock_guard lock(state_.mutex);
      for (const auto& info : nodes) {
        auto& node = state_.node(info->key);
        news = news || !node.info || node.info->zone != info->zone || node.info->region != info->region ||
               node.info->labels != info->labels;
        node.info = noted(node.info, info);
        node.info_unfolded = true;
      }
    }
    // A power cut mustn't leave a node's energy without its zone.
    if (news) writer_.fold_soon();
    return {};
  }

  Result<std::vector<SharedNode>> nodes() override {
    std::vector<SharedNode> result;
    {
      const std::lock_guard lock(state_.mutex);
      result.reserve(state_.nodes().size());
      for (const auto& [key, node] : state_.nodes())
        if (node->info) result.push_back(node->info);
    }
    std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a->key < b->key; });
    return result;
  }

  Result<SharedNode> node(const NodeKey& key) override {
    const std::lock_guard lock(state_.mutex);
    const auto* node = state_.find(key);
    return node == nullptr ? nullptr : node->info;
  }

  Result<std::vector<Account>> accounts(const AccountFilter& filter) override {
    return reader_.accounts(filter);
  }
  Result<std::vector<Account>> sums(const AccountFilter& filter, UtcHour from, UtcHour to) override {
    return reader_.sums(filter, from, to);
  }
  Result<std::vector<HourlyRow>> hourly(const AccountFilter& filter, UtcHour from, UtcHour to) override {
    return reader_.hourly(filter, from, to);
  }
  Result<std::unique_ptr<CurveReader>> read_curve(const NodeKey& node, UtcRange range,
                                                  std::size_t limit) override {
    return reader_.curve(node, range, limit);
  }

  Result<std::vector<Seal>> seals() override { return reader_.seals(); }

  Status close_month(Month month, UtcTime at) override {
    return writer_.run_settled([this, month, at](Database& db) -> Status {
      TW_TRY(auto transaction, Transaction::begin(db, Transaction::Kind::write));
      TW_TRY(const bool due, insert_seal(db, month, at));
      if (!due) return {};
      // Under the lock, so that no reader takes an hour for frozen in memory and for open in the tables.
      const std::lock_guard lock(state_.mutex);
      TW_TRY_STATUS(transaction.commit());
      state_.frozen = month.end();
      ++state_.checkpoints;
      return {};
    });
  }

  Result<bool> finish_seal(const Seal& seal) override {
    bool finished = false;
    TW_TRY_STATUS(writer_.run([&](Database& db) -> Status {
      TW_TRY(finished, store::finish_seal(db, seal));
      return {};
    }));
    return finished;
  }

  [[nodiscard]] bool keeps_team_hours() const override { return true; }
  Status read_image(const ImageParts& parts, ImageSink& sink) override {
    // Asked for by pages: the journal is in memory already.
    if (parts.only_team_hours()) return reader_.team_hours(parts, sink);
    // When nodes were last heard of is in memory alone until a checkpoint.
    if (parts.nodes) TW_TRY_STATUS(writer_.run_settled([](Database&) { return Status{}; }));
    TW_TRY(auto db, Database::open(path_, Database::Access::read));
    return store::read_image(db, parts, sink);
  }

  Status put_task(const TaskInfo& task) override {
    return writer_.run([&task](Database& db) -> Status {
      TW_TRY_STATUS(note_team(db, task));
      TW_TRY(auto put, db.prepare("INSERT OR REPLACE INTO tasks VALUES(?, ?, ?, ?, ?, ?, ?, ?)"));
      put.bind(1, task.cluster)
          .bind(2, task.task_id)
          .bind(3, task.group_id)
          .bind(4, task.team)
          .bind(5, task.kind);
      put.bind(6, milliseconds(task.started_at))
          .bind(7, milliseconds(task.finished_at))
          .bind(8, milliseconds(task.at_once_at));
      return put.run();
    });
  }
  Result<std::vector<TaskInfo>> tasks() override { return reader_.tasks(); }
  Result<std::vector<TaskInfo>> moved_tasks() override { return reader_.moved_tasks(); }

  Result<bool> add_epoch(const EpochReport& report) override {
    return changed([&](Database& db) { return insert_epoch(db, report); });
  }
  Result<std::vector<EpochReport>> epochs(const std::string& cluster, const std::string& task_id,
                                          std::size_t limit) override {
    TW_TRY(const auto db, pool_.lease());
    return read_epochs(*db, cluster, task_id, limit);
  }
  Result<bool> add_usage(const UsageReport& report) override {
    return changed([&](Database& db) { return insert_usage(db, report); });
  }
  Result<std::optional<TokenCounter>> token_counter(const std::string& cluster,
                                                    const std::string& series) override {
    TW_TRY(const auto db, pool_.lease());
    return read_token_counter(*db, cluster, series);
  }
  Result<bool> step_token_counter(const CounterStep& step) override {
    return changed([&](Database& db) { return store::step_token_counter(db, step); });
  }
  Result<std::vector<TokenHour>> token_hours(UtcHour from, UtcHour to) override {
    TW_TRY(const auto db, pool_.lease());
    return read_token_hours(*db, from, to);
  }
  Status forget_requests(UtcTime before) override {
    return writer_.run([before](Database& db) { return delete_requests(db, before); });
  }

  Result<MarketAppend> append_market(const MarketEntry& entry) override {
    auto outcome = MarketAppend::seq_taken;
    TW_TRY_STATUS(writer_.run([&](Database& db) -> Status {
      TW_TRY(outcome, insert_market(db, entry));
      return {};
    }));
    return outcome;
  }
  Result<std::optional<MarketEntry>> market_entry(const std::string& key) override {
    TW_TRY(const auto db, pool_.lease());
    return read_market_entry(*db, key);
  }
  Result<std::vector<MarketEntry>> market_entries(std::int64_t after, std::size_t limit) override {
    TW_TRY(const auto db, pool_.lease());
    return read_market(*db, after, limit);
  }

  Status put_token(const TokenRecord& token) override {
    return writer_.run([&token](Database& db) { return write_token(db, token); });
  }
  Result<bool> replace_token(const TokenRecord& before, const TokenRecord& ended,
                             const TokenRecord& successor) override {
    bool replaced = false;
    const auto done = writer_.run([&](Database& db) -> Status {
      replaced = false;
      TW_TRY(auto same,
             db.prepare("SELECT 1 FROM tokens WHERE id = ? AND expires_ms IS ? AND revoked_ms IS ?"));
      same.bind(1, before.id)
          .bind(2, milliseconds(before.expires_at))
          .bind(3, milliseconds(before.revoked_at));
      TW_TRY(const bool found, same.step());
      if (!found) return {};
      TW_TRY_STATUS(write_token(db, ended));
      TW_TRY_STATUS(write_token(db, successor));
      replaced = true;
      return {};
    });
    TW_TRY_STATUS(done);
    return replaced;
  }
  Result<std::vector<TokenRecord>> tokens() override { return reader_.tokens(); }

  Status append_audit(const AuditEntry& entry) override {
    return writer_.run([&entry](Database& db) -> Status {
      TW_TRY(auto append, db.prepare("INSERT INTO audit(at_ms, actor, action, subject) VALUES(?, ?, ?, ?)"));
      append.bind(1, milliseconds(entry.at))
          .bind(2, entry.actor)
          .bind(3, entry.action)
          .bind(4, entry.subject);
      return append.run();
    });
  }
  Result<std::vector<AuditEntry>> audit(std::size_t limit) override { return reader_.audit(limit); }

  Status drop_curves(UtcTime before) override {
    const auto first_kept = std::chrono::floor<std::chrono::days>(before);
    return writer_.run([this, first_kept](Database& db) { return drop_days_before(db, first_kept); });
  }

  Status ping() override { return reader_.ping(); }

  [[nodiscard]] std::vector<StoreDamage> damage() const override {
    auto left = damage_;
    std::erase_if(left,
                  [](const StoreDamage& damage) { return ::access(damage.evidence.c_str(), F_OK) != 0; });
    return left;
  }

 private:
  static Status write_token(Database& db, const TokenRecord& token) {
    TW_TRY(auto put, db.prepare("INSERT OR REPLACE INTO tokens VALUES(?, ?, ?, ?, ?, ?, ?, ?)"));
    put.bind(1, token.id)
        .bind(2, token.name)
        .bind(3, token.role)
        .bind(4, token.team)
        .bind(5, token.sha256_hex);
    put.bind(6, milliseconds(token.created_at))
        .bind(7, milliseconds(token.expires_at))
        .bind(8, milliseconds(token.revoked_at));
    return put.run();
  }

  /// A write that says whether it changed anything.
  Result<bool> changed(const std::function<Result<bool>(Database&)>& change) {
    bool effect = false;
    TW_TRY_STATUS(writer_.run([&](Database& db) -> Status {
      TW_TRY(effect, change(db));
      return {};
    }));
    return effect;
  }

  SqliteStore(DatabaseLock lock, Database db, const SqliteOptions& options)
      : lock_(std::move(lock)),
        path_(options.path),
        damage_(damaged_wals(options.path)),
        pool_(options.path, options.read_connections),
        reader_(state_, pool_),
        writer_(std::move(db), state_, options) {}

  /// In the writer's thread, which alone may change `unfolded`.
  Status drop_days_before(Database& db, std::chrono::sys_days first_kept) {
    std::vector<std::int64_t> days;
    {
      TW_TRY(auto select, db.prepare("SELECT day FROM curve_days WHERE day < ?"));
      select.bind(1, static_cast<std::int64_t>(first_kept.time_since_epoch().count()));
      while (true) {
        TW_TRY(const bool row, select.step());
        if (!row) break;
        days.push_back(select.integer(0));
      }
    }
    for (const auto day : days) {
      TW_TRY_STATUS(db.exec("DROP TABLE " + curve_table(day)));
      TW_TRY_STATUS(db.exec(fmt::format("DELETE FROM curve_days WHERE day = {}", day)));
    }
    const std::lock_guard lock(state_.mutex);
    for (auto& [node, points] : state_.unfolded.points)
      std::erase_if(points, [&](const auto& point) { return point.first < UtcTime{first_kept}; });
    return {};
  }

  DatabaseLock lock_;
  std::string path_;
  const std::vector<StoreDamage> damage_;
  State state_;
  ReaderPool pool_;
  Reader reader_;
  Writer writer_;  // last: it stops first
};

Result<std::unique_ptr<Store>> SqliteStore::open(const SqliteOptions& options) {
  TW_TRY(auto lock, DatabaseLock::take(options.path));
  auto real = options;
  real.path = lock.path;
  TW_TRY(auto db, open_for_writing(real));
  std::unique_ptr<SqliteStore> store(new SqliteStore(std::move(lock), std::move(db), real));
  TW_TRY_STATUS(store->writer_.load());
  store->writer_.start();
  return store;
}

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(const SqliteOptions& options) {
  auto store = SqliteStore::open(options);
  if (store) return store;
  auto error = std::move(store).error();
  if (error.message.find(options.path) == std::string::npos) error = error.with_context(options.path);
  return tl::unexpected(std::move(error));
}

}  // namespace tidewatt::store
