#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <random>
#include <utility>

#include "dump.h"
#include "infos.h"
#include "keeper.h"
#include "market.h"
#include "months.h"
#include "pool.h"
#include "reader.h"
#include "reports.h"
#include "schema.h"
#include "tidewatt/base/log.h"
#include "tidewatt/store/postgres.h"
#include "writer.h"

namespace tidewatt::store {
namespace pg {
namespace {

using namespace ledger;

std::int64_t number_of(UtcTime at) { return at.time_since_epoch().count(); }
std::optional<std::int64_t> number_of(std::optional<UtcTime> at) {
  return at ? std::optional<std::int64_t>(number_of(*at)) : std::nullopt;
}

/// Not a secret: tells one audit entry from another.
std::string entry_id() {
  static thread_local std::mt19937_64 random{(std::uint64_t{std::random_device{}()} << 32U) |
                                             std::random_device{}()};
  return fmt::format("{:016x}{:016x}", random(), random());
}

class PostgresStore final : public Store {
 public:
  explicit PostgresStore(Target target)
      : target_(std::move(target)),
        pool_(target_, std::max<std::size_t>(1, target_.options().read_connections)),
        infos_(pool_, nodes_),
        image_(nodes_, accounts_),
        reader_(pool_, image_, nodes_, names_),
        keeper_(target_, infos_, [this](std::size_t bytes) { writers_.set_journal_bytes(bytes); }),
        writers_(target_, nodes_, accounts_, names_,
                 [this](std::size_t bytes) { keeper_.committed(bytes); }) {}
  ~PostgresStore() override {
    stop_ = true;
    keeper_.stop();  // it tells the writers, which go first
    (void)infos_.flush();
  }
  PostgresStore(const PostgresStore&) = delete;
  PostgresStore& operator=(const PostgresStore&) = delete;

  Status begin() {
    {
      TW_TRY(auto db, Connection::open(target_));
      {
        // A migration that fills a table takes long.
        TW_TRY(auto patient, Connection::open(patient_));
        TW_TRY_STATUS(migrate(patient));
      }
      TW_TRY_STATUS(load_numbers(db, nodes_));
      TW_TRY(const auto fsync, db.query("SELECT current_setting('fsync')"));
      if (fsync.text(0, 0) != "on")
        log::warning("PostgreSQL runs with fsync off: a power cut may lose what was acknowledged",
                     {{"database", target_.name()}});
    }
    keeper_.start();
    writers_.start();
    return {};
  }

  Result<VersionedCursor> cursor(const NodeKey& node) override { return reader_.cursor(node); }
  Result<std::vector<AccrueOutcome>> accrue(std::span<const Accrual> accruals) override {
    return writers_.accrue(accruals);
  }
  Status note_seen(std::span<const SharedNode> nodes) override {
    infos_.note_seen(nodes);
    return {};
  }

  Result<std::vector<SharedNode>> nodes() override { return infos_.all(); }
  Result<SharedNode> node(const NodeKey& key) override { return infos_.one(key); }
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

  Result<std::vector<Seal>> seals() override {
    std::vector<Seal> found;
    TW_TRY_STATUS(pool_.run([&](Connection& db) -> Status {
      TW_TRY(found, read_seals(db));
      return {};
    }));
    return found;
  }

  Status close_month(Month month, UtcTime at) override {
    TW_TRY(auto db, open_patient());
    return pg::close_month(db, month, at);
  }

  Result<bool> finish_seal(const Seal& seal) override {
    bool finished = false;
    TW_TRY_STATUS(pool_.run([&](Connection& db) -> Status {
      TW_TRY(finished, pg::finish_seal(db, seal));
      return {};
    }));
    return finished;
  }

  [[nodiscard]] bool keeps_team_hours() const override { return true; }
  Status read_image(const ImageParts& parts, ImageSink& sink) override {
    // Asked for by pages: most of the journal is in memory already.
    if (parts.only_team_hours()) return reader_.team_hours(parts, sink);
    (void)infos_.flush();
    TW_TRY(auto db, open_patient());
    return pg::read_image(db, parts, sink);
  }

  Status put_task(const TaskInfo& task) override {
    Params params;
    params.text(task.cluster).text(task.task_id).text(task.group_id).text(task.team).text(task.kind);
    params.add(number_of(task.started_at)).add(number_of(task.finished_at)).add(number_of(task.at_once_at));
    return write(
        "INSERT INTO tasks VALUES($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (cluster, task_id) DO UPDATE "
        "SET "
        "group_id = excluded.group_id, team = excluded.team, kind = excluded.kind, "
        "started_ms = excluded.started_ms, finished_ms = excluded.finished_ms, at_once_ms = "
        "excluded.at_once_ms",
        params);
  }

  Result<std::vector<TaskInfo>> tasks() override { return tasks_where("ORDER BY cluster, task_id"); }
  Result<std::vector<TaskInfo>> moved_tasks() override { return tasks_where("WHERE at_once_ms IS NOT NULL"); }
  Result<std::vector<TaskInfo>> tasks_where(const char* which) {
    const auto sql = fmt::format(
        "SELECT cluster, task_id, group_id, team, kind, started_ms, finished_ms, at_once_ms FROM tasks {}",
        which);
    return rows<TaskInfo>(sql, {}, [](const Rows& r, int i) {
      return TaskInfo{std::string(r.text(i, 0)),
                      std::string(r.text(i, 1)),
                      std::string(r.text(i, 2)),
                      std::string(r.text(i, 3)),
                      std::string(r.text(i, 4)),
                      r.time(i, 5),
                      r.time(i, 6),
                      r.time(i, 7)};
    });
  }

  Result<bool> add_epoch(const EpochReport& report) override {
    return ask<bool>([&](Connection& db) { return insert_epoch(db, report); });
  }
  Result<std::vector<EpochReport>> epochs(const std::string& cluster, const std::string& task_id,
                                          std::size_t limit) override {
    return ask<std::vector<EpochReport>>(
        [&](Connection& db) { return read_epochs(db, cluster, task_id, limit); });
  }
  Result<bool> add_usage(const UsageReport& report) override {
    return ask<bool>([&](Connection& db) { return insert_usage(db, report); });
  }
  Result<std::optional<TokenCounter>> token_counter(const std::string& cluster,
                                                    const std::string& series) override {
    return ask<std::optional<TokenCounter>>(
        [&](Connection& db) { return read_token_counter(db, cluster, series); });
  }
  Result<bool> step_token_counter(const CounterStep& step) override {
    return ask<bool>([&](Connection& db) { return pg::step_token_counter(db, step); });
  }
  Result<std::vector<TokenHour>> token_hours(UtcHour from, UtcHour to) override {
    return ask<std::vector<TokenHour>>([&](Connection& db) { return read_token_hours(db, from, to); });
  }
  Status forget_requests(UtcTime before) override {
    return pool_.run([before](Connection& db) { return delete_requests(db, before); });
  }

  Result<MarketAppend> append_market(const MarketEntry& entry) override {
    return ask<MarketAppend>([&](Connection& db) { return insert_market(db, entry); });
  }
  Result<std::optional<MarketEntry>> market_entry(const std::string& key) override {
    return ask<std::optional<MarketEntry>>([&](Connection& db) { return read_market_entry(db, key); });
  }
  Result<std::vector<MarketEntry>> market_entries(std::int64_t after, std::size_t limit) override {
    return ask<std::vector<MarketEntry>>([&](Connection& db) { return read_market(db, after, limit); });
  }

  Status put_token(const TokenRecord& token) override {
    Params params;
    params.text(token.id).text(token.name).text(token.role).text(token.team).text(token.sha256_hex);
    params.add(number_of(token.created_at)).add(number_of(token.expires_at)).add(number_of(token.revoked_at));
    return write(
        "INSERT INTO tokens VALUES($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO UPDATE SET "
        "name = excluded.name, role = excluded.role, team = excluded.team, sha256_hex = excluded.sha256_hex, "
        "created_ms = excluded.created_ms, expires_ms = excluded.expires_ms, revoked_ms = "
        "excluded.revoked_ms",
        params);
  }

  Result<bool> replace_token(const TokenRecord& before, const TokenRecord& ended,
                             const TokenRecord& successor) override {
    Params params;
    params.text(before.id).add(number_of(before.expires_at)).add(number_of(before.revoked_at));
    params.add(number_of(ended.expires_at)).add(number_of(ended.revoked_at));
    const auto& next = successor;
    params.text(next.id).text(next.name).text(next.role).text(next.team).text(next.sha256_hex);
    params.add(number_of(next.created_at)).add(number_of(next.expires_at)).add(number_of(next.revoked_at));
    bool replaced = false;
    TW_TRY_STATUS(pool_.run([&](Connection& db) -> Status {
      TW_TRY(const auto done,
             db.query("WITH ended AS (UPDATE tokens SET expires_ms = $4, revoked_ms = $5 WHERE id = $1 AND "
                      "expires_ms IS NOT DISTINCT FROM $2::bigint AND "
                      "revoked_ms IS NOT DISTINCT FROM $3::bigint RETURNING 1) "
                      "INSERT INTO tokens SELECT $6::text, $7::text, $8::text, $9::text, $10::text, "
                      "$11::bigint, $12::bigint, $13::bigint FROM ended",
                      params));
      replaced = done.touched() == 1;
      return {};
    }));
    return replaced;
  }

  Result<std::vector<TokenRecord>> tokens() override {
    return rows<TokenRecord>(
        "SELECT id, name, role, team, sha256_hex, created_ms, expires_ms, revoked_ms FROM tokens ORDER BY id",
        {}, [](const Rows& r, int i) {
          return TokenRecord{std::string(r.text(i, 0)),
                             std::string(r.text(i, 1)),
                             std::string(r.text(i, 2)),
                             std::string(r.text(i, 3)),
                             std::string(r.text(i, 4)),
                             UtcTime{Milliseconds{r.integer(i, 5)}},
                             r.time(i, 6),
                             r.time(i, 7)};
        });
  }

  Status append_audit(const AuditEntry& entry) override {
    // A number of its own: written again after a lost answer, it is still one entry.
    Params params;
    params.text(entry_id()).add(number_of(entry.at)).text(entry.actor).text(entry.action).text(entry.subject);
    return write(
        "INSERT INTO audit(entry, at_ms, actor, action, subject) VALUES($1, $2, $3, $4, $5) ON CONFLICT "
        "(entry) DO NOTHING",
        params);
  }

  Result<std::vector<AuditEntry>> audit(std::size_t limit) override {
    const auto most =
        static_cast<std::int64_t>(std::min<std::size_t>(limit, std::numeric_limits<std::int32_t>::max()));
    return rows<AuditEntry>("SELECT at_ms, actor, action, subject FROM audit ORDER BY seq DESC LIMIT $1",
                            Params().add(most), [](const Rows& r, int i) {
                              return AuditEntry{UtcTime{Milliseconds{r.integer(i, 0)}},
                                                std::string(r.text(i, 1)), std::string(r.text(i, 2)),
                                                std::string(r.text(i, 3))};
                            });
  }

  Status drop_curves(UtcTime before) override {
    const auto first_kept = std::chrono::floor<std::chrono::days>(before);
    TW_TRY(const bool waiting, reader_.journal_has_points_before(UtcTime{first_kept}));
    return pool_.run([&, day = static_cast<std::int64_t>(first_kept.time_since_epoch().count())](
                         Connection& db) -> Status {
      // What waits in the journal for a day that goes must go with it.
      if (waiting) {
        TW_TRY([[maybe_unused]] const bool folded, fold_journal(db, FoldMode::wait));
      }
      return drop_days(db, day);
    });
  }

  Status ping() override {
    return pool_.run([](Connection& db) -> Status {
      TW_TRY([[maybe_unused]] const auto one, db.integer("SELECT generation FROM tidewatt_ledger"));
      return {};
    });
  }

 private:
  /// A connection for what takes long; beside those of the pool.
  Result<Connection> open_patient() {
    TW_TRY(auto db, Connection::open(patient_));
    TW_TRY_STATUS(check_version(db));
    return db;
  }

  template <class T, class Question>
  Result<T> ask(const Question& question) {
    T answer{};
    TW_TRY_STATUS(pool_.run([&](Connection& db) -> Status {
      TW_TRY(answer, question(db));
      return {};
    }));
    return answer;
  }

  Status write(const std::string& sql, const Params& params) {
    return pool_.run([&](Connection& db) -> Status {
      TW_TRY([[maybe_unused]] const auto done, db.query(sql, params));
      return {};
    });
  }

  template <class T, class Read>
  Result<std::vector<T>> rows(const std::string& sql, const Params& params, const Read& read) {
    std::vector<T> result;
    TW_TRY_STATUS(pool_.run([&](Connection& db) -> Status {
      result.clear();
      TW_TRY(const auto found, db.query(sql, params));
      for (int i = 0; i < found.size(); ++i) result.push_back(read(found, i));
      return {};
    }));
    return result;
  }

  static Status drop_days(Connection& db, std::int64_t before) {
    TW_TRY(const auto days,
           db.query("SELECT day FROM curve_days WHERE day < $1 ORDER BY day", Params().add(before)));
    if (days.size() == 0) return {};
    TW_TRY(const auto lock, lock_number(db, "fold"));
    for (int i = 0; i < days.size(); ++i) {
      // One by one, under the lock of those who make days: another server may do the same.
      TW_TRY(auto transaction, Transaction::begin(db, Transaction::Kind::write));
      TW_TRY([[maybe_unused]] const auto locked,
             db.query("SELECT pg_advisory_xact_lock($1)::text", Params().add(lock)));
      TW_TRY(const auto mine,
             db.query("DELETE FROM curve_days WHERE day = $1", Params().add(days.integer(i, 0))));
      if (mine.touched() > 0)
        TW_TRY_STATUS(db.exec("DROP TABLE IF EXISTS " + curve_table(days.integer(i, 0))));
      TW_TRY_STATUS(transaction.commit());
    }
    return {};
  }

  std::atomic<bool> stop_{false};
  Target target_;
  Target patient_ = patient_target(target_, stop_);
  Pool pool_;
  Nodes nodes_;
  Accounts accounts_;
  Names names_;
  Infos infos_;
  Image image_;
  Reader reader_;
  Keeper keeper_;
  Writers writers_;  // last: they stop first
};

}  // namespace
}  // namespace pg

bool is_postgres_url(const std::string& text) {
  return text.starts_with("postgres://") || text.starts_with("postgresql://");
}

std::string without_password(const std::string& url) {
  std::string shown = url;
  const auto scheme = shown.find("://");
  if (scheme == std::string::npos) return is_postgres_url(url) ? url : "***";
  const auto begin = scheme + 3;
  const auto end = shown.find_first_of("/?", begin);
  // The last @ of the authority: a password may hold one.
  const auto authority_end = std::min(end, shown.size());
  const auto at = shown.rfind('@', authority_end == 0 ? 0 : authority_end - 1);
  if (at != std::string::npos && at >= begin) {
    const auto colon = shown.find(':', begin);
    if (colon != std::string::npos && colon < at) shown.replace(colon + 1, at - colon - 1, "***");
  }
  for (const std::string key : {"password=", "sslpassword="})
    for (auto place = shown.find(key); place != std::string::npos;
         place = shown.find(key, place + key.size())) {
      const auto stop = std::min(shown.find('&', place), shown.size());
      shown.replace(place + key.size(), stop - place - key.size(), "***");
    }
  return shown;
}

Result<std::unique_ptr<ledger::Store>> open_postgres_store(const PostgresOptions& options) {
  if (!pg::is_schema_name(options.schema))
    return fail(ErrorCode::invalid_input, fmt::format("\"{}\" is no name for a schema", options.schema),
                "use lower-case letters, digits and underscores");
  TW_TRY(auto target, pg::Target::parse(options));
  auto store = std::make_unique<pg::PostgresStore>(std::move(target));
  TW_TRY_STATUS(store->begin());
  return std::unique_ptr<ledger::Store>(std::move(store));
}

}  // namespace tidewatt::store
