// An image into an empty schema, in one transaction.
#include <fmt/format.h>

#include <atomic>
#include <utility>
#include <vector>

#include "../node_info_codec.h"
#include "../numbering.h"
#include "connection.h"
#include "dump.h"
#include "market.h"
#include "reports.h"
#include "schema.h"
#include "tidewatt/ledger/store.h"
#include "tidewatt/store/postgres.h"

namespace tidewatt::store::pg {
namespace {

using namespace ledger;

constexpr std::size_t kRestoredAtOnce = 2'000;

std::int64_t stamp_of(UtcTime at) { return at.time_since_epoch().count(); }
std::optional<std::int64_t> stamp_of(std::optional<UtcTime> at) {
  return at ? std::optional<std::int64_t>(stamp_of(*at)) : std::nullopt;
}

#define TW_PG_RESTORE_COLUMNS                                                                        \
  "energy_uj, counter_uj, shared_uj, unattributed_uj, simulated_uj, spread_uj, covered_ms, gap_ms, " \
  "partial_ms, shared_ms, samples"
#define TW_PG_RESTORE_UNNEST                                                                   \
  "$1::numeric[], $2::numeric[], $3::numeric[], $4::numeric[], $5::numeric[], $6::numeric[], " \
  "$7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[]"

/// Rows with the eleven measures and whatever else, gathered for one statement.
class Batch {
 public:
  explicit Batch(std::vector<Array::Of> others) : others_(std::move(others)) { clear(); }
  void measures(const WideMeasures& m) {
    std::size_t column = 0;
    for (const auto energy : {m.energy, m.counter, m.shared, m.unattributed, m.simulated, m.spread})
      columns_[column++].add(energy);
    for (const auto time : {m.covered, m.gap, m.partial, m.shared_time})
      columns_[column++].add(static_cast<std::int64_t>(time.count()));
    columns_[column].add(m.samples);
    ++rows_;
  }
  Array& other(std::size_t n) { return columns_[kMeasures + n]; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  Status write(Connection& db, const std::string& sql) {
    if (rows_ == 0) return {};
    Params params;
    for (auto& column : columns_) params.add(std::move(column));
    clear();
    TW_TRY([[maybe_unused]] const auto done, db.query(sql, params));
    return {};
  }

 private:
  static constexpr std::size_t kMeasures = 11;
  void clear() {
    rows_ = 0;
    columns_.clear();
    for (int i = 0; i < 6; ++i) columns_.emplace_back(Array::Of::numbers);
    for (int i = 0; i < 5; ++i) columns_.emplace_back(Array::Of::integers);
    for (const auto of : others_) columns_.emplace_back(of);
  }
  std::vector<Array::Of> others_;
  std::vector<Array> columns_;
  std::size_t rows_ = 0;
};

class Loader final : public ImageSink {
 public:
  explicit Loader(Connection& db) : db_(db) {}

  Status add(const TaskInfo& task) override {
    Params params;
    params.text(task.cluster).text(task.task_id).text(task.group_id).text(task.team).text(task.kind);
    params.add(stamp_of(task.started_at)).add(stamp_of(task.finished_at)).add(stamp_of(task.at_once_at));
    return run("INSERT INTO tasks VALUES($1, $2, $3, $4, $5, $6, $7, $8)", params);
  }
  Status add(const EpochReport& report) override { return restore_epoch(db_, report); }
  Status add(const TokenHour& hour) override { return restore_token_hour(db_, hour); }
  Status add(const TokenCounter& counter) override { return restore_token_counter(db_, counter); }
  Status add(const TokenRecord& token) override {
    Params params;
    params.text(token.id).text(token.name).text(token.role).text(token.team).text(token.sha256_hex);
    params.add(stamp_of(token.created_at)).add(stamp_of(token.expires_at)).add(stamp_of(token.revoked_at));
    return run(
        "INSERT INTO tokens(id, name, role, team, sha256_hex, created_ms, expires_ms, revoked_ms) VALUES($1, "
        "$2, $3, $4, $5, $6, $7, $8)",
        params);
  }
  Status add(const AuditEntry& entry) override {
    Params params;
    params.text(fmt::format("restored {}", ++entries_)).add(stamp_of(entry.at)).text(entry.actor);
    params.text(entry.action).text(entry.subject);
    return run("INSERT INTO audit(entry, at_ms, actor, action, subject) VALUES($1, $2, $3, $4, $5)", params);
  }
  Status add(const MarketEntry& entry) override { return restore_market(db_, entry); }
  Status add(const NodeImage& node) override {
    ++nodes_;
    TW_TRY_STATUS(run("INSERT INTO nodes(pk, cluster, node_id) OVERRIDING SYSTEM VALUE VALUES($1, $2, $3)",
                      Params().add(nodes_).text(node.key.cluster).text(node.key.node_id)));
    if (node.revision > 0) {
      const auto revision = static_cast<std::int64_t>(node.revision);
      TW_TRY_STATUS(run("INSERT INTO heads VALUES($1, $2)", Params().add(nodes_).add(revision)));
      TW_TRY_STATUS(run("INSERT INTO cursors VALUES($1, $2, $3)",
                        Params().add(nodes_).add(revision).blob(node.cursor)));
    }
    if (!node.info) return {};
    const auto info = encode(*node.info);
    return run("INSERT INTO node_infos(node, first_seen_ms, last_seen_ms, info) VALUES($1, $2, $3, $4)",
               Params()
                   .add(nodes_)
                   .add(stamp_of(node.info->first_seen_at))
                   .add(stamp_of(node.info->last_seen_at))
                   .blob(info));
  }
  /// Last, since a seal forbids that its hours come.
  Status add(const Seal& seal) override {
    seals_.push_back(seal);
    return {};
  }
  Status add(const Account& account) override {
    TW_TRY(const auto pk, numbers_.give(account.key));
    totals_.measures(account.totals);
    totals_.other(0).add(pk);
    totals_.other(1).add(std::string_view(account.key.cluster));
    totals_.other(2).add(static_cast<std::int64_t>(account.key.scope));
    totals_.other(3).add(std::string_view(account.key.id));
    totals_.other(4).add(std::string_view(account.key.part));
    totals_.other(5).add(std::string_view(account.key.domain));
    totals_.other(6).add(stamp_of(account.first_sample_at));
    totals_.other(7).add(stamp_of(account.last_sample_at));
    return totals_.rows() < kRestoredAtOnce ? Status{} : write_totals();
  }
  Status add(const HourlyRow& row) override {
    TW_TRY(const auto pk, numbers_.of(row.key));
    hourly_.measures(row.measures);
    hourly_.other(0).add(pk);
    hourly_.other(1).add(static_cast<std::int64_t>(row.hour.time_since_epoch().count()));
    return hourly_.rows() < kRestoredAtOnce ? Status{} : write_hourly();
  }
  Status add(const Adjustment& late) override {
    TW_TRY(const auto pk, numbers_.of(late.key));
    late_.measures(late.measures);
    late_.other(0).add(pk);
    late_.other(1).add(static_cast<std::int64_t>(late.hour.time_since_epoch().count()));
    late_.other(2).add(stamp_of(late.booked_at));
    late_.other(3).add(std::string_view(late.reason));
    return late_.rows() < kRestoredAtOnce ? Status{} : write_late();
  }

  Status finish() {
    TW_TRY_STATUS(write_totals());
    TW_TRY_STATUS(write_late());
    TW_TRY_STATUS(write_hourly());
    for (const auto& seal : seals_) {
      Array energy(Array::Of::numbers);
      energy.add(seal.energy);
      TW_TRY_STATUS(run("INSERT INTO seals VALUES($1, $2, $3, $4, ($5::numeric[])[1], $6, $7)",
                        Params()
                            .add(seal.month.n)
                            .add(static_cast<std::int64_t>(seal.month.end().time_since_epoch().count()))
                            .add(stamp_of(seal.sealed_at))
                            .add(seal.rows)
                            .add(std::move(energy))
                            .text(seal.hash)
                            .text(seal.previous)));
    }
    // Numbers that were given by hand must not be given again.
    for (const auto& [table, last] : {std::pair{"nodes", nodes_}, std::pair{"account_keys", numbers_.last()}})
      if (last > 0)
        TW_TRY_STATUS(run(fmt::format("SELECT setval(pg_get_serial_sequence('{}', 'pk'), $1)", table),
                          Params().add(last)));
    return {};
  }

 private:
  Status run(const std::string& sql, const Params& params) {
    TW_TRY([[maybe_unused]] const auto done, db_.query(sql, params));
    return {};
  }
  Status write_totals() {
    static const std::string kSql =
        "WITH w AS (SELECT * FROM unnest(" TW_PG_RESTORE_UNNEST
        ", $12::bigint[], $13::text[], $14::bigint[], $15::text[], $16::text[], $17::text[], $18::bigint[], "
        "$19::bigint[]) u(" TW_PG_RESTORE_COLUMNS
        ", pk, cluster, scope, id, part, domain, first_sample_ms, last_sample_ms)), "
        "k AS (INSERT INTO account_keys(pk, cluster, scope, id, part, domain) OVERRIDING SYSTEM VALUE "
        "SELECT pk, cluster, scope, id, part, domain FROM w) "
        "INSERT INTO account_totals(account, first_sample_ms, last_sample_ms, " TW_PG_RESTORE_COLUMNS
        ") SELECT pk, first_sample_ms, last_sample_ms, " TW_PG_RESTORE_COLUMNS " FROM w";
    return totals_.write(db_, kSql);
  }
  Status write_hourly() {
    return hourly_.write(db_, "INSERT INTO energy_hourly(" TW_PG_RESTORE_COLUMNS
                              ", account, hour) SELECT * FROM unnest(" TW_PG_RESTORE_UNNEST
                              ", $12::bigint[], $13::bigint[])");
  }
  Status write_late() {
    return late_.write(
        db_, "INSERT INTO energy_adjustments(" TW_PG_RESTORE_COLUMNS
             ", account, hour, booked_ms, reason) SELECT " TW_PG_RESTORE_COLUMNS
             ", account, hour, coalesce(booked_ms, (extract(epoch FROM now()) * 1000)::bigint), reason "
             "FROM unnest(" TW_PG_RESTORE_UNNEST
             ", $12::bigint[], $13::bigint[], $14::bigint[], $15::text[]) u(" TW_PG_RESTORE_COLUMNS
             ", account, hour, booked_ms, reason)");
  }

  using Of = Array::Of;
  Connection& db_;
  Numbering numbers_;
  std::int64_t nodes_ = 0;
  std::int64_t entries_ = 0;
  std::vector<Seal> seals_;
  Batch totals_{
      {Of::integers, Of::texts, Of::integers, Of::texts, Of::texts, Of::texts, Of::integers, Of::integers}};
  Batch hourly_{{Of::integers, Of::integers}};
  Batch late_{{Of::integers, Of::integers, Of::integers, Of::texts}};
};

Status check_empty(Connection& db) {
  for (const auto* table :
       {"nodes", "account_keys", "journal", "energy_hourly", "seals", "tasks", "task_epochs", "token_hours",
        "token_counters", "tokens", "audit", "market_journal"}) {
    TW_TRY(const auto rows,
           db.integer(fmt::format("SELECT count(*) FROM (SELECT FROM {} LIMIT 1) t", table)));
    if (rows > 0)
      return fail(ErrorCode::conflict,
                  fmt::format("{}: schema \"{}\" holds a ledger already ({} isn't empty)", db.target().name(),
                              db.target().options().schema, table),
                  "restore into an empty database before a server uses it; nothing is ever overwritten");
  }
  return {};
}

}  // namespace
}  // namespace tidewatt::store::pg

namespace tidewatt::store {

Status restore_postgres(const PostgresOptions& options,
                        const std::function<Status(ledger::ImageSink&)>& feed) {
  const std::atomic<bool> never{false};
  TW_TRY(const auto parsed, pg::Target::parse(options));
  const auto target = pg::patient_target(parsed, never);
  TW_TRY(auto db, pg::Connection::open(target));
  TW_TRY_STATUS(pg::migrate(db));
  TW_TRY(const auto lock, pg::lock_number(db, "fold"));
  TW_TRY(auto transaction, pg::Transaction::begin(db, pg::Transaction::Kind::write));
  TW_TRY([[maybe_unused]] const auto locked,
         db.query("SELECT pg_advisory_xact_lock($1)::text", pg::Params().add(lock)));
  TW_TRY_STATUS(pg::check_empty(db));
  pg::Loader loader(db);
  TW_TRY_STATUS(feed(loader));
  TW_TRY_STATUS(loader.finish());
  return transaction.commit();
}

}  // namespace tidewatt::store
