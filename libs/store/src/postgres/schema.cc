#include "schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tidewatt::store::pg {
namespace {

// Energies are numeric: neither a row nor a sum of rows can overflow.
#define TW_PG_MEASURES                                                                                    \
  "energy_uj numeric NOT NULL, counter_uj numeric NOT NULL, shared_uj numeric NOT NULL, "                 \
  "unattributed_uj numeric NOT NULL, simulated_uj numeric NOT NULL, spread_uj numeric NOT NULL, "         \
  "covered_ms bigint NOT NULL, gap_ms bigint NOT NULL, partial_ms bigint NOT NULL, shared_ms bigint NOT " \
  "NULL, samples bigint NOT NULL"

// heads and writers are what every commit updates: narrow rows with room beside them for the next version.
// The journal's bytes are dense already, so PostgreSQL needn't try to compress them.
constexpr std::string_view kPgVersion1 = R"sql(
CREATE TABLE tidewatt_ledger(one boolean PRIMARY KEY DEFAULT true CHECK (one), schema_version bigint NOT NULL, generation bigint NOT NULL DEFAULT 0);
INSERT INTO tidewatt_ledger(schema_version) VALUES (0);
CREATE TABLE nodes(
  pk bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, cluster text COLLATE "C" NOT NULL, node_id text COLLATE "C" NOT NULL,
  UNIQUE(cluster, node_id));
CREATE TABLE heads(node bigint PRIMARY KEY, revision bigint NOT NULL)
  WITH (fillfactor = 40, autovacuum_vacuum_scale_factor = 0.5, autovacuum_vacuum_threshold = 5000);
CREATE TABLE cursors(node bigint PRIMARY KEY, revision bigint NOT NULL, bytes bytea NOT NULL);
CREATE TABLE node_infos(
  node bigint PRIMARY KEY, first_seen_ms bigint, last_seen_ms bigint NOT NULL,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(), info bytea NOT NULL) WITH (fillfactor = 60);
CREATE TABLE names(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE);
CREATE TABLE account_keys(
  pk bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, cluster text COLLATE "C" NOT NULL, scope bigint NOT NULL,
  id text COLLATE "C" NOT NULL, part text COLLATE "C" NOT NULL, domain text COLLATE "C" NOT NULL,
  UNIQUE(scope, id, part, domain, cluster));
CREATE TABLE account_totals(account bigint PRIMARY KEY, )sql" TW_PG_MEASURES R"sql(,
  first_sample_ms bigint, last_sample_ms bigint) WITH (fillfactor = 70);
CREATE TABLE energy_hourly(account bigint NOT NULL, hour bigint NOT NULL, )sql" TW_PG_MEASURES R"sql(,
  PRIMARY KEY(account, hour)) WITH (fillfactor = 80);
CREATE VIEW energy_accounts AS
  SELECT k.cluster, (ARRAY['device', 'node', 'task', 'task_device'])[k.scope + 1] AS scope, k.id AS scope_id, k.part, k.domain, t.*
  FROM account_keys k JOIN account_totals t ON t.account = k.pk;
CREATE TABLE curves(node bigint NOT NULL, at_ms bigint NOT NULL, point bytea NOT NULL, PRIMARY KEY(node, at_ms)) PARTITION BY RANGE (at_ms);
CREATE TABLE curve_days(day bigint PRIMARY KEY);
CREATE TABLE journal(
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  at timestamptz NOT NULL DEFAULT clock_timestamp(), nodes bigint[], bytes bytea NOT NULL)
  WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, toast.autovacuum_vacuum_scale_factor = 0.2);
ALTER TABLE journal ALTER COLUMN bytes SET STORAGE EXTERNAL;
CREATE TABLE writers(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, commits bigint NOT NULL DEFAULT 0, at timestamptz NOT NULL DEFAULT now())
  WITH (fillfactor = 20, autovacuum_vacuum_threshold = 5000);
CREATE TABLE partial_commits(writer bigint NOT NULL, number bigint NOT NULL, nodes bigint[] NOT NULL, PRIMARY KEY(writer, number));
CREATE TABLE tasks(
  cluster text COLLATE "C" NOT NULL, task_id text COLLATE "C" NOT NULL, group_id text NOT NULL, team text NOT NULL, kind text NOT NULL,
  started_ms bigint, finished_ms bigint, PRIMARY KEY(cluster, task_id));
CREATE TABLE tokens(
  id text COLLATE "C" PRIMARY KEY, name text NOT NULL, role text NOT NULL, team text NOT NULL, sha256_hex text NOT NULL,
  created_ms bigint NOT NULL, expires_ms bigint, revoked_ms bigint);
CREATE TABLE audit(
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, entry text NOT NULL UNIQUE, at_ms bigint NOT NULL, actor text NOT NULL,
  action text NOT NULL, subject text NOT NULL);
)sql";

// Closed months. The trigger holds for everybody, also for servers of an older version that still fold.
constexpr std::string_view kPgVersion2 = R"sql(
CREATE TABLE seals(
  month bigint PRIMARY KEY, until_hour bigint NOT NULL, sealed_ms bigint NOT NULL, rows bigint NOT NULL DEFAULT 0,
  energy_uj numeric NOT NULL DEFAULT 0, hash text NOT NULL DEFAULT '', previous text NOT NULL DEFAULT '');
CREATE TABLE energy_adjustments(
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account bigint NOT NULL, hour bigint NOT NULL, )sql" TW_PG_MEASURES
                                         R"sql(,
  booked_ms bigint NOT NULL, reason text NOT NULL);
CREATE INDEX energy_adjustments_by_hour ON energy_adjustments(hour, account);
CREATE FUNCTION refuse_sealed_hours() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  IF EXISTS (SELECT FROM changed WHERE hour < (SELECT max(until_hour) FROM seals)) THEN
    RAISE EXCEPTION 'an hourly row of a sealed month must not change';
  END IF;
  RETURN NULL;
END $body$;
CREATE TRIGGER sealed_hours_inserted AFTER INSERT ON energy_hourly REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_sealed_hours();
CREATE TRIGGER sealed_hours_updated AFTER UPDATE ON energy_hourly REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_sealed_hours();
CREATE TRIGGER sealed_hours_deleted AFTER DELETE ON energy_hourly REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_sealed_hours();
)sql";

// What tasks report. Requests are only there to count each once.
constexpr std::string_view kPgVersion3 = R"sql(
CREATE TABLE task_epochs(
  cluster text COLLATE "C" NOT NULL, task_id text COLLATE "C" NOT NULL, epoch bigint NOT NULL, at_ms bigint NOT NULL,
  epochs_total bigint, energy_uj bigint, step_us bigint, PRIMARY KEY(cluster, task_id, epoch));
CREATE TABLE token_hours(
  cluster text COLLATE "C" NOT NULL, group_id text COLLATE "C" NOT NULL, hour bigint NOT NULL, prompt bigint NOT NULL,
  completion bigint NOT NULL, PRIMARY KEY(cluster, group_id, hour)) WITH (fillfactor = 70);
CREATE TABLE token_requests(
  cluster text COLLATE "C" NOT NULL, group_id text COLLATE "C" NOT NULL, request_id text COLLATE "C" NOT NULL, at_ms bigint NOT NULL,
  PRIMARY KEY(cluster, group_id, request_id));
CREATE INDEX token_requests_by_time ON token_requests(at_ms);
CREATE TABLE token_counters(
  cluster text COLLATE "C" NOT NULL, series text COLLATE "C" NOT NULL, at_ms bigint NOT NULL, value bigint NOT NULL,
  PRIMARY KEY(cluster, series)) WITH (fillfactor = 70);
)sql";

// Sums kept beside the rows, so that a month of many tasks is read from few rows (team_hours.h). Triggers
// keep them, for whoever folds: also for a server of an older version that still has a connection. They are
// made before the table is filled, since that waits for a fold that is under way.
#define TW_PG_SUMS(source)                                                                                   \
  "INSERT INTO team_hours AS s (scope, hour, late, cluster, team, domain, rows, energy_uj, counter_uj, "     \
  "shared_uj, unattributed_uj, simulated_uj, spread_uj, covered_ms, gap_ms, partial_ms, shared_ms, "         \
  "samples) "                                                                                                \
  "SELECT k.scope, c.hour, c.late, k.cluster, CASE WHEN k.scope = 3 THEN coalesce(m.team, t.team, '') ELSE " \
  "'' "                                                                                                      \
  "END, k.domain, sum(c.n), sum(c.energy_uj), sum(c.counter_uj), sum(c.shared_uj), sum(c.unattributed_uj), " \
  "sum(c.simulated_uj), sum(c.spread_uj), sum(c.covered_ms), sum(c.gap_ms), sum(c.partial_ms), "             \
  "sum(c.shared_ms), sum(c.samples) FROM (" source                                                           \
  ") c JOIN account_keys k ON k.pk = c.account "                                                             \
  "LEFT JOIN task_moves m ON k.scope = 3 AND m.cluster = k.cluster AND m.task_id = k.id "                    \
  "LEFT JOIN tasks t ON k.scope = 3 AND t.cluster = k.cluster AND t.task_id = k.id "                         \
  "WHERE k.scope IN (1, 3) GROUP BY 1, 2, 3, 4, 5, 6 "                                                       \
  "ON CONFLICT (scope, hour, late, cluster, team, domain) DO UPDATE SET rows = s.rows + excluded.rows, "     \
  "energy_uj = s.energy_uj + excluded.energy_uj, counter_uj = s.counter_uj + excluded.counter_uj, "          \
  "shared_uj = s.shared_uj + excluded.shared_uj, "                                                           \
  "unattributed_uj = s.unattributed_uj + excluded.unattributed_uj, "                                         \
  "simulated_uj = s.simulated_uj + excluded.simulated_uj, spread_uj = s.spread_uj + excluded.spread_uj, "    \
  "covered_ms = s.covered_ms + excluded.covered_ms, gap_ms = s.gap_ms + excluded.gap_ms, "                   \
  "partial_ms = s.partial_ms + excluded.partial_ms, shared_ms = s.shared_ms + excluded.shared_ms, "          \
  "samples = s.samples + excluded.samples;\n"
#define TW_PG_MORE(n, late, table)             \
  "SELECT account, hour, " late " AS late, " n \
  " AS n, energy_uj, counter_uj, shared_uj, "  \
  "unattributed_uj, simulated_uj, spread_uj, covered_ms, gap_ms, partial_ms, shared_ms, samples FROM " table
#define TW_PG_LESS(n, late, table)                                                                     \
  "SELECT account, hour, " late " AS late, " n                                                         \
  " AS n, -energy_uj AS energy_uj, -counter_uj AS counter_uj, "                                        \
  "-shared_uj AS shared_uj, -unattributed_uj AS unattributed_uj, -simulated_uj AS simulated_uj, "      \
  "-spread_uj AS spread_uj, -covered_ms AS covered_ms, -gap_ms AS gap_ms, -partial_ms AS partial_ms, " \
  "-shared_ms AS shared_ms, -samples AS samples FROM " table
#define TW_PG_TRIGGER(name, source) \
  "CREATE FUNCTION " name           \
  "() RETURNS trigger LANGUAGE plpgsql AS $body$\nBEGIN\n" TW_PG_SUMS(source) "RETURN NULL;\nEND $body$;\n"

constexpr std::string_view kPgVersion4 = R"sql(
CREATE TABLE team_hours(
  scope bigint NOT NULL, hour bigint NOT NULL, late boolean NOT NULL, cluster text COLLATE "C" NOT NULL, team text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL, rows bigint NOT NULL, )sql" TW_PG_MEASURES R"sql(,
  PRIMARY KEY(scope, hour, late, cluster, team, domain)) WITH (fillfactor = 70);
CREATE TABLE task_moves(
  cluster text COLLATE "C" NOT NULL, task_id text COLLATE "C" NOT NULL, team text NOT NULL, PRIMARY KEY(cluster, task_id));
CREATE FUNCTION note_task_move() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  INSERT INTO task_moves VALUES (NEW.cluster, NEW.task_id, CASE WHEN TG_OP = 'UPDATE' THEN OLD.team ELSE '' END)
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $body$;
CREATE TRIGGER task_got_team AFTER INSERT ON tasks FOR EACH ROW WHEN (NEW.team <> '') EXECUTE FUNCTION note_task_move();
CREATE TRIGGER task_changed_team AFTER UPDATE ON tasks FOR EACH ROW WHEN (NEW.team <> OLD.team) EXECUTE FUNCTION note_task_move();
)sql" TW_PG_TRIGGER("add_inserted_hours", TW_PG_MORE("1", "false", "changed")) TW_PG_TRIGGER(
    "add_updated_hours", TW_PG_MORE("0", "false", "changed") " UNION ALL " TW_PG_LESS("0", "false", "before"))
    TW_PG_TRIGGER("add_deleted_hours", TW_PG_LESS("-1", "false", "before"))
        TW_PG_TRIGGER("add_late_hours", TW_PG_MORE("1", "true", "changed")) R"sql(
CREATE TRIGGER team_hours_inserted AFTER INSERT ON energy_hourly REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION add_inserted_hours();
CREATE TRIGGER team_hours_updated AFTER UPDATE ON energy_hourly REFERENCING OLD TABLE AS before NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION add_updated_hours();
CREATE TRIGGER team_hours_deleted AFTER DELETE ON energy_hourly REFERENCING OLD TABLE AS before
  FOR EACH STATEMENT EXECUTE FUNCTION add_deleted_hours();
CREATE TRIGGER team_hours_late AFTER INSERT ON energy_adjustments REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION add_late_hours();
)sql" TW_PG_SUMS(TW_PG_MORE("1", "false", "energy_hourly") " UNION ALL " TW_PG_MORE("1", "true",
                                                                                    "energy_adjustments"));

// The carbon market's journal (market.h).
constexpr std::string_view kPgVersion5 = R"sql(
CREATE TABLE market_journal(
  seq bigint PRIMARY KEY, key text COLLATE "C" NOT NULL UNIQUE, at_ms bigint NOT NULL, body text NOT NULL);
)sql";

/// When a task would have started had nobody moved it.
constexpr std::string_view kPgVersion6 =
    "ALTER TABLE tasks ADD COLUMN at_once_ms bigint;"
    "CREATE INDEX moved_tasks ON tasks(at_once_ms) WHERE at_once_ms IS NOT NULL;";

/// kPgMigrations[n] takes version n to n + 1. Never changed once released: a change is a new entry.
constexpr std::array<std::string_view, kSchemaVersion> kPgMigrations{kPgVersion1, kPgVersion2, kPgVersion3,
                                                                     kPgVersion4, kPgVersion5, kPgVersion6};
constexpr std::int64_t kMillisecondsADay = 86'400'000;

Status check_not_newer(std::int64_t found) {
  if (found > kSchemaVersion)
    return fail(ErrorCode::corrupt,
                fmt::format("schema version {} is newer than this program's {}", found, kSchemaVersion),
                "run the newer tidewatt, or restore a backup made before the upgrade");
  return {};
}

Result<std::int64_t> version_of(Connection& db) {
  const auto& schema = db.target().options().schema;
  TW_TRY(const auto ours,
         db.integer("SELECT count(*) FROM pg_tables WHERE schemaname = $1 AND tablename = 'tidewatt_ledger'",
                    Params().text(schema)));
  if (ours > 0) return db.integer("SELECT schema_version FROM tidewatt_ledger");
  TW_TRY(const auto others,
         db.integer("SELECT count(*) FROM pg_tables WHERE schemaname = $1", Params().text(schema)));
  if (others > 0)
    return fail(ErrorCode::corrupt, fmt::format("schema \"{}\" holds another program's tables", schema),
                "give a database of its own");
  return 0;
}

}  // namespace

bool is_schema_name(const std::string& name) {
  return !name.empty() && name.size() <= 63 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

Result<std::int64_t> lock_number(Connection& db, const std::string& job) {
  return db.integer("SELECT hashtextextended($1, 7310)",
                    Params().text("tidewatt/" + db.target().options().schema + "/" + job));
}

std::string_view migration(std::int64_t n) { return kPgMigrations.at(static_cast<std::size_t>(n)); }

Status migrate(Connection& db, std::int64_t to) {
  TW_TRY(const auto lock, lock_number(db, "migrate"));
  TW_TRY(auto transaction, Transaction::begin(db, Transaction::Kind::write));
  TW_TRY([[maybe_unused]] const auto locked,
         db.query("SELECT pg_advisory_xact_lock($1)::text", Params().add(lock)));
  const auto& schema = db.target().options().schema;
  TW_TRY(const auto exists,
         db.integer("SELECT count(*) FROM pg_namespace WHERE nspname = $1", Params().text(schema)));
  if (exists == 0) TW_TRY_STATUS(db.exec(fmt::format("CREATE SCHEMA \"{}\"", schema)));
  TW_TRY(const auto found, version_of(db));
  TW_TRY_STATUS(check_not_newer(found));
  for (auto version = found; version < to; ++version) {
    TW_TRY_STATUS(db.exec(std::string(kPgMigrations.at(static_cast<std::size_t>(version)))));
    TW_TRY_STATUS(db.exec(fmt::format("UPDATE tidewatt_ledger SET schema_version = {}", version + 1)));
  }
  return transaction.commit();
}

Status check_version(Connection& db) {
  TW_TRY(const auto found, db.integer("SELECT schema_version FROM tidewatt_ledger"));
  return check_not_newer(found);
}

Status check_same_version(Connection& db) {
  TW_TRY(const auto found, version_of(db));
  TW_TRY_STATUS(check_not_newer(found));
  if (found < kSchemaVersion)
    return fail(ErrorCode::corrupt,
                fmt::format("{}: schema version {} is older than this program's {}", db.target().name(),
                            found, kSchemaVersion),
                "start a server of this version once: that brings it up to date");
  return {};
}

std::string curve_table(std::int64_t day) { return fmt::format("\"curve_{}\"", day); }

Status make_curve_day(Connection& db, std::int64_t day) {
  TW_TRY(const auto added, db.query("INSERT INTO curve_days VALUES($1) ON CONFLICT DO NOTHING RETURNING day",
                                    Params().add(day)));
  if (added.size() == 0) return {};
  // Attached rather than made in place: that would keep readers away until the transaction ends.
  const auto table = curve_table(day);
  return db.exec(
      fmt::format("CREATE TABLE {0} (LIKE curves INCLUDING ALL); "
                  "ALTER TABLE curves ATTACH PARTITION {0} FOR VALUES FROM ({1}) TO ({2})",
                  table, day * kMillisecondsADay, (day + 1) * kMillisecondsADay));
}

}  // namespace tidewatt::store::pg
