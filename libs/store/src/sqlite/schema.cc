#include "schema.h"

#include <fmt/format.h>

#include <array>

namespace tidewatt::store {
namespace {

constexpr std::int64_t kApplicationId = 0x54574C47;  // "TWLG"

// Energies have no type on purpose: INTEGER where 64 bits hold them, decimal TEXT beyond (wide_functions.h).
constexpr std::string_view kVersion1 = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE journal(seq INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE nodes(
  pk INTEGER PRIMARY KEY, cluster TEXT NOT NULL, node_id TEXT NOT NULL,
  revision INTEGER NOT NULL DEFAULT 0, cursor BLOB, info BLOB,
  UNIQUE(cluster, node_id));
CREATE TABLE names(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE accounts(
  pk INTEGER PRIMARY KEY, cluster TEXT NOT NULL, scope INTEGER NOT NULL, id TEXT NOT NULL, part TEXT NOT NULL, domain TEXT NOT NULL,
  energy_uj NOT NULL, counter_uj NOT NULL, shared_uj NOT NULL, unattributed_uj NOT NULL, simulated_uj NOT NULL, spread_uj NOT NULL,
  covered_ms INTEGER NOT NULL, gap_ms INTEGER NOT NULL, partial_ms INTEGER NOT NULL, shared_ms INTEGER NOT NULL,
  samples INTEGER NOT NULL, first_sample_ms INTEGER, last_sample_ms INTEGER,
  UNIQUE(scope, id, part, domain, cluster));
CREATE TABLE energy_hourly(
  account INTEGER NOT NULL, hour INTEGER NOT NULL,
  energy_uj NOT NULL, counter_uj NOT NULL, shared_uj NOT NULL, unattributed_uj NOT NULL, simulated_uj NOT NULL, spread_uj NOT NULL,
  covered_ms INTEGER NOT NULL, gap_ms INTEGER NOT NULL, partial_ms INTEGER NOT NULL, shared_ms INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  PRIMARY KEY(account, hour)) WITHOUT ROWID;
CREATE TABLE curve_days(day INTEGER PRIMARY KEY);
CREATE TABLE tasks(
  cluster TEXT NOT NULL, task_id TEXT NOT NULL, group_id TEXT NOT NULL, team TEXT NOT NULL, kind TEXT NOT NULL,
  started_ms INTEGER, finished_ms INTEGER, PRIMARY KEY(cluster, task_id)) WITHOUT ROWID;
CREATE TABLE tokens(
  id TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, team TEXT NOT NULL, sha256_hex TEXT NOT NULL,
  created_ms INTEGER NOT NULL, expires_ms INTEGER, revoked_ms INTEGER) WITHOUT ROWID;
CREATE TABLE audit(
  seq INTEGER PRIMARY KEY AUTOINCREMENT, at_ms INTEGER NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL, subject TEXT NOT NULL);
)sql";

// Closed months. Adjustments are few: an hour's are found by the hour.
constexpr std::string_view kVersion2 = R"sql(
CREATE TABLE seals(
  month INTEGER PRIMARY KEY, sealed_ms INTEGER NOT NULL, rows INTEGER NOT NULL DEFAULT 0, energy_uj NOT NULL DEFAULT 0,
  hash TEXT NOT NULL DEFAULT '', previous TEXT NOT NULL DEFAULT '');
CREATE TABLE energy_adjustments(
  seq INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL, hour INTEGER NOT NULL,
  energy_uj NOT NULL, counter_uj NOT NULL, shared_uj NOT NULL, unattributed_uj NOT NULL, simulated_uj NOT NULL, spread_uj NOT NULL,
  covered_ms INTEGER NOT NULL, gap_ms INTEGER NOT NULL, partial_ms INTEGER NOT NULL, shared_ms INTEGER NOT NULL,
  samples INTEGER NOT NULL, booked_ms INTEGER NOT NULL, reason TEXT NOT NULL);
CREATE INDEX energy_adjustments_by_hour ON energy_adjustments(hour, account);
)sql";

// What tasks report. Requests are only there to count each once.
constexpr std::string_view kVersion3 = R"sql(
CREATE TABLE task_epochs(
  cluster TEXT NOT NULL, task_id TEXT NOT NULL, epoch INTEGER NOT NULL, at_ms INTEGER NOT NULL, epochs_total INTEGER,
  energy_uj INTEGER, step_us INTEGER, PRIMARY KEY(cluster, task_id, epoch)) WITHOUT ROWID;
CREATE TABLE token_hours(
  cluster TEXT NOT NULL, group_id TEXT NOT NULL, hour INTEGER NOT NULL, prompt INTEGER NOT NULL, completion INTEGER NOT NULL,
  PRIMARY KEY(cluster, group_id, hour)) WITHOUT ROWID;
CREATE TABLE token_requests(
  cluster TEXT NOT NULL, group_id TEXT NOT NULL, request_id TEXT NOT NULL, at_ms INTEGER NOT NULL,
  PRIMARY KEY(cluster, group_id, request_id)) WITHOUT ROWID;
CREATE INDEX token_requests_by_time ON token_requests(at_ms);
CREATE TABLE token_counters(
  cluster TEXT NOT NULL, series TEXT NOT NULL, at_ms INTEGER NOT NULL, value INTEGER NOT NULL,
  PRIMARY KEY(cluster, series)) WITHOUT ROWID;
)sql";

// Sums kept beside the rows, so that a month of many tasks is read from few rows (team_hours.h).
#define TW_FILL_TEAM_HOURS                                                                                  \
  "INSERT INTO team_hours SELECT a.scope, h.hour, h.late, a.cluster, CASE a.scope WHEN 3 THEN "             \
  "ifnull(t.team, "                                                                                         \
  "'') ELSE '' END AS team, a.domain, count(*), wide_add(0, wide_sum(h.energy_uj)), wide_add(0, "           \
  "wide_sum(h.counter_uj)), wide_add(0, wide_sum(h.shared_uj)), wide_add(0, wide_sum(h.unattributed_uj)), " \
  "wide_add(0, wide_sum(h.simulated_uj)), wide_add(0, wide_sum(h.spread_uj)), sum(h.covered_ms), "          \
  "sum(h.gap_ms), sum(h.partial_ms), sum(h.shared_ms), sum(h.samples) FROM (SELECT account, hour, 0 AS "    \
  "late, "                                                                                                  \
  "energy_uj, counter_uj, shared_uj, unattributed_uj, simulated_uj, spread_uj, covered_ms, gap_ms, "        \
  "partial_ms, shared_ms, samples FROM energy_hourly UNION ALL SELECT account, hour, 1, energy_uj, "        \
  "counter_uj, shared_uj, unattributed_uj, simulated_uj, spread_uj, covered_ms, gap_ms, partial_ms, "       \
  "shared_ms, samples FROM energy_adjustments) h JOIN accounts a ON a.pk = h.account LEFT JOIN tasks t ON " \
  "t.cluster = a.cluster AND t.task_id = a.id WHERE a.scope IN (1, 3) GROUP BY a.scope, h.hour, h.late, "   \
  "a.cluster, CASE a.scope WHEN 3 THEN ifnull(t.team, '') ELSE '' END, a.domain;"

constexpr std::string_view kVersion4 = R"sql(
CREATE TABLE team_hours(
  scope INTEGER NOT NULL, hour INTEGER NOT NULL, late INTEGER NOT NULL, cluster TEXT NOT NULL, team TEXT NOT NULL, domain TEXT NOT NULL,
  rows INTEGER NOT NULL,
  energy_uj NOT NULL, counter_uj NOT NULL, shared_uj NOT NULL, unattributed_uj NOT NULL, simulated_uj NOT NULL, spread_uj NOT NULL,
  covered_ms INTEGER NOT NULL, gap_ms INTEGER NOT NULL, partial_ms INTEGER NOT NULL, shared_ms INTEGER NOT NULL,
  samples INTEGER NOT NULL, PRIMARY KEY(scope, hour, late, cluster, team, domain)) WITHOUT ROWID;
CREATE TABLE task_moves(
  cluster TEXT NOT NULL, task_id TEXT NOT NULL, team TEXT NOT NULL, PRIMARY KEY(cluster, task_id)) WITHOUT ROWID;
)sql" TW_FILL_TEAM_HOURS;

// The carbon market's journal (market.h).
constexpr std::string_view kVersion5 = R"sql(
CREATE TABLE market_journal(
  seq INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, at_ms INTEGER NOT NULL, body TEXT NOT NULL);
)sql";

/// When a task would have started had nobody moved it.
constexpr std::string_view kVersion6 =
    "ALTER TABLE tasks ADD COLUMN at_once_ms INTEGER;"
    "CREATE INDEX moved_tasks ON tasks(at_once_ms) WHERE at_once_ms IS NOT NULL;";

/// kMigrations[n] takes version n to n + 1. Never changed once released: a change is a new entry.
constexpr std::array<std::string_view, kSchemaVersion> kMigrations{kVersion1, kVersion2, kVersion3,
                                                                   kVersion4, kVersion5, kVersion6};

Result<std::int64_t> version_of(Database& db) {
  TW_TRY(const auto tables, db.integer("SELECT count(*) FROM sqlite_schema"));
  if (tables == 0) return 0;
  TW_TRY(const auto application, db.integer("PRAGMA application_id"));
  if (application != kApplicationId)
    return fail(ErrorCode::corrupt,
                fmt::format("an SQLite database of another program (application id {})", application),
                "give the path of a Tidewatt database or of a new file");
  return db.integer("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'schema_version'");
}

Status check_not_newer(std::int64_t found) {
  if (found > kSchemaVersion)
    return fail(ErrorCode::corrupt,
                fmt::format("schema version {} is newer than this program's {}", found, kSchemaVersion),
                "run the newer tidewatt, or restore a backup made before the upgrade");
  return {};
}

}  // namespace

const std::string_view kFillTeamHours = TW_FILL_TEAM_HOURS;

std::string_view migration(std::int64_t n) { return kMigrations.at(static_cast<std::size_t>(n)); }

Status check_version(Database& db) {
  TW_TRY(const auto found, version_of(db));
  TW_TRY_STATUS(check_not_newer(found));
  if (found < kSchemaVersion)
    return fail(ErrorCode::corrupt,
                fmt::format("schema version {} is older than this program's {}", found, kSchemaVersion),
                "start the server with it once: that brings it up to date");
  return {};
}

Status migrate(Database& db, std::int64_t to) {
  TW_TRY(const auto found, version_of(db));
  TW_TRY_STATUS(check_not_newer(found));
  for (auto version = found; version < to; ++version) {
    TW_TRY(auto transaction, Transaction::begin(db, Transaction::Kind::write));
    TW_TRY_STATUS(db.exec(std::string(kMigrations.at(static_cast<std::size_t>(version)))));
    TW_TRY_STATUS(
        db.exec(fmt::format("INSERT OR REPLACE INTO meta VALUES('schema_version', '{}')", version + 1)));
    TW_TRY_STATUS(db.exec(fmt::format("PRAGMA application_id = {}", kApplicationId)));
    TW_TRY_STATUS(transaction.commit());
  }
  return {};
}

std::string curve_table(std::int64_t day) { return fmt::format("\"curve_{}\"", day); }

Status make_curve_table(Database& db, std::int64_t day) {
  TW_TRY_STATUS(
      db.exec(fmt::format("CREATE TABLE IF NOT EXISTS {}(node INTEGER NOT NULL, at_ms INTEGER NOT NULL, "
                          "point BLOB NOT NULL, PRIMARY KEY(node, at_ms)) "
                          "WITHOUT ROWID",
                          curve_table(day))));
  return db.exec(fmt::format("INSERT OR IGNORE INTO curve_days VALUES({})", day));
}

}  // namespace tidewatt::store
