// Databases of every earlier schema version, with data, open in this version and keep their sums.
#include <fmt/format.h>
#include <sqlite3.h>

#include <map>

#include "image_text.h"
#include "journal/changes.h"
#include "postgres/connection.h"
#include "postgres/piece.h"
#include "postgres/schema.h"
#include "sqlite/db.h"
#include "sqlite/schema.h"
#include "tidewatt/ledger/ledger.h"
#include "tidewatt/store/backup.h"

namespace tidewatt::store::testing {
namespace {

/// What both stores' tables and journal hold in the test: 40 uJ in the tables, 2 uJ in the journal.
constexpr std::int64_t kBooked = 42;

Changes journaled() {
  Changes changes;
  changes.cursors.push_back({1, 2, encode(cursor_at(2)), false});
  changes.touched.push_back({1, nullptr, kNoon, kNoon});
  changes.rows.push_back({0, kHour, {}});
  changes.rows[0].measures.energy = Microjoules{2};
  changes.rows[0].measures.unattributed = Microjoules{2};
  changes.rows[0].measures.samples = 1;
  changes.touched.push_back({2, nullptr, kNoon, kNoon});
  changes.rows.push_back({1, kHour, {}});
  changes.rows[1].measures.energy = Microjoules{2};
  changes.rows[1].measures.samples = 1;
  return changes;
}

/// The data that the migrations must carry over; `version` is the schema the statements are of.
void fill_sqlite(Database& db, std::int64_t version) {
  ASSERT_GE(version, 1);
  const auto hour = static_cast<std::int64_t>(kHour.time_since_epoch().count());
  for (const auto& [pk, scope, id, unattributed] :
       {std::tuple{1, 1, "n1", 40}, std::tuple{2, 0, "n1/0", 0}}) {
    ASSERT_TRUE(db.exec(fmt::format(
        "INSERT INTO accounts VALUES({}, 'default', {}, '{}', '', 'gpu', 40, 0, 0, {}, 0, 0, "
        "20000, 0, 0, 0, 1, {}, {})",
        pk, scope, id, unattributed, kNoon.time_since_epoch().count(), kNoon.time_since_epoch().count())));
    ASSERT_TRUE(
        db.exec(fmt::format("INSERT INTO energy_hourly VALUES({}, {}, 40, 0, 0, {}, 0, 0, 20000, 0, 0, 0, 1)",
                            pk, hour, unattributed)));
  }
  ASSERT_TRUE(db.exec(
      fmt::format("INSERT INTO accounts VALUES(3, 'default', 3, 't1', 'n1/0', 'gpu', 7, 0, 0, 0, 0, 0, "
                  "20000, 0, 0, 0, 1, {0}, "
                  "{0}); INSERT INTO energy_hourly VALUES(3, {1}, 7, 0, 0, 0, 0, 0, 20000, 0, 0, 0, 1); "
                  "INSERT INTO tasks VALUES('default', 't1', '', 'vision', '', NULL, NULL)",
                  kNoon.time_since_epoch().count(), hour)));
  // From version 4 on a program keeps the sums by team itself.
  if (version >= 4) {
    ASSERT_TRUE(db.exec(std::string{kFillTeamHours}));
  }
  auto put = db.prepare("INSERT INTO nodes VALUES(1, 'default', 'n1', 1, ?, x'')");
  ASSERT_TRUE(put);
  const auto cursor = encode(cursor_at(1));
  put->bind_blob(1, cursor);
  ASSERT_TRUE(put->run());
  std::string row;
  encode(journaled(), row);
  auto journal = db.prepare("INSERT INTO journal(bytes) VALUES(?)");
  ASSERT_TRUE(journal);
  journal->bind_blob(1, row);
  ASSERT_TRUE(journal->run());
  ASSERT_TRUE(db.exec(
      "INSERT INTO tokens(id, name, role, team, sha256_hex, created_ms) VALUES('t1', 'ops', 'ops', '', "
      "'ab12', 5)"));
}

/// By team; of nodes under "nodes".
std::map<std::string, std::string> team_hours_of(Store& store) {
  struct Sink final : ImageSink {
    using ImageSink::add;
    Status add(const TeamHour& hour) override {
      sums[hour.scope == Scope::node ? "nodes" : hour.team] = hour.measures.energy.to_string();
      return {};
    }
    std::map<std::string, std::string> sums;
  };
  Sink sink;
  ImageParts parts;
  parts.team_hours = true;
  EXPECT_TRUE(store.read_image(parts, sink));
  return sink.sums;
}

void expect_the_data(Store& store) {
  EXPECT_EQ(team_hours_of(store), (std::map<std::string, std::string>{{"nodes", "42"}, {"vision", "7"}}));
  EXPECT_EQ(audit_team_hours(store)->to_string(), "0");
  EXPECT_EQ(energy_of(store, gpu_account(Scope::node, "n1")).to_string(), std::to_string(kBooked));
  const auto sums = store.sums({Scope::node, {}, {}, {}}, kHour, kHour + std::chrono::hours{1});
  ASSERT_TRUE(sums);
  ASSERT_EQ(sums->size(), 1U);
  EXPECT_EQ(sums->at(0).totals.energy.to_string(), std::to_string(kBooked));
  EXPECT_EQ(sums->at(0).rows, 1);
  EXPECT_EQ(store.cursor(kNode)->revision, 2U);
  EXPECT_EQ(*store.cursor(kNode)->cursor, cursor_at(2));
  EXPECT_TRUE(store.epochs("default", "t1", 10)->empty());
  EXPECT_TRUE(*store.add_epoch({"default", "t1", 1, kNoon, 3, Microjoules{5}, std::nullopt}));
  EXPECT_EQ(store.tokens()->at(0).sha256_hex, "ab12");
  EXPECT_EQ(put(store, accrual(kNode, 2, {delta(gpu_account(Scope::node, "n1"), 0)})),
            AccrueOutcome::applied);
}

TEST(Migration, SqliteOpensEveryEarlierVersionWithTheSameSums) {
  for (std::int64_t version = 1; version < kSchemaVersion; ++version) {
    const TempFolder folder;
    {
      auto db = Database::open(folder.file(), Database::Access::write);
      ASSERT_TRUE(db);
      ASSERT_TRUE(migrate(*db, version));
      fill_sqlite(*db, version);
      EXPECT_EQ(*db->integer("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'schema_version'"),
                version);
    }
    const auto read = open_sqlite_image(folder.file());
    ASSERT_FALSE(read) << "who only reads must not migrate";
    EXPECT_NE(read.error().message.find(fmt::format("version {} is older", version)), std::string::npos)
        << read.error().message;
    const auto store = open_or_abort({.path = folder.file()});
    expect_the_data(*store);
    EXPECT_TRUE(store->seals()->empty());
  }
}

TEST(Migration, PostgresOpensEveryEarlierVersionWithTheSameSums) {
  auto* cluster = PostgresCluster::get();
  if (cluster == nullptr) GTEST_SKIP() << PostgresCluster::why_not();
  for (std::int64_t version = 1; version < pg::kSchemaVersion; ++version) {
    PostgresOptions options{
        .url = cluster->url(), .schema = cluster->fresh_schema(), .timeout = Milliseconds{30'000}};
    {
      const auto target = pg::Target::parse(options);
      ASSERT_TRUE(target);
      auto db = pg::Connection::open(*target);
      ASSERT_TRUE(db) << db.error().to_string();
      ASSERT_TRUE(pg::migrate(*db, version));
      const auto at = kNoon.time_since_epoch().count();
      ASSERT_TRUE(db->exec(fmt::format(
          "INSERT INTO nodes(cluster, node_id) VALUES('default', 'n1'); INSERT INTO heads VALUES(1, 2); "
          "INSERT INTO account_keys(cluster, scope, id, part, domain) VALUES('default', 1, 'n1', '', 'gpu'), "
          "('default', 0, 'n1/0', '', 'gpu'); "
          "INSERT INTO account_totals VALUES(1, 40, 0, 0, 40, 0, 0, 20000, 0, 0, 0, 1, {0}, {0}), "
          "(2, 40, 0, 0, 0, 0, 0, 20000, 0, 0, 0, 1, {0}, {0}); "
          "INSERT INTO energy_hourly VALUES(1, {1}, 40, 0, 0, 40, 0, 0, 20000, 0, 0, 0, 1), "
          "(2, {1}, 40, 0, 0, 0, 0, 0, 20000, 0, 0, 0, 1); "
          "INSERT INTO account_keys(cluster, scope, id, part, domain) VALUES('default', 3, 't1', 'n1/0', "
          "'gpu'); "
          "INSERT INTO account_totals VALUES(3, 7, 0, 0, 0, 0, 0, 20000, 0, 0, 0, 1, {0}, {0}); "
          "INSERT INTO energy_hourly VALUES(3, {1}, 7, 0, 0, 0, 0, 0, 20000, 0, 0, 0, 1); "
          "INSERT INTO tasks VALUES('default', 't1', '', 'vision', '', NULL, NULL); "
          "INSERT INTO tokens(id, name, role, team, sha256_hex, created_ms) VALUES('t1', 'ops', 'ops', '', "
          "'ab12', 5)",
          at, kHour.time_since_epoch().count())));
      const auto cursor = encode(cursor_at(1));
      ASSERT_TRUE(db->query("INSERT INTO cursors VALUES(1, 1, $1)", pg::Params().blob(cursor)));
      std::string row;
      std::string scratch;
      pg::begin_row(row);
      pg::append_piece(row, 1, journaled(), scratch);
      ASSERT_TRUE(db->query("INSERT INTO journal(bytes) VALUES($1)", pg::Params().blob(row)));
    }
    const auto read = open_postgres_image(options);
    ASSERT_FALSE(read) << "who only reads must not migrate";
    const auto store = open_postgres_or_abort(options);
    expect_the_data(*store);
    EXPECT_TRUE(store->seals()->empty());
  }
}

TEST(Migration, AReleasedMigrationIsNeverChanged) {
  // FNV-1a of the statements. A change of one of them is a new entry instead.
  const auto print = [](std::string_view text) {
    std::uint64_t hash = 14695981039346656037U;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    return fmt::format("{:016x}", hash);
  };
  EXPECT_EQ(print(migration(0)), "4edbcb43be90f540");
  EXPECT_EQ(print(migration(1)), "da636bc27b603a0a");
  EXPECT_EQ(print(pg::migration(0)), "041e906968a326b6");
  EXPECT_EQ(print(pg::migration(1)), "856cc5a70ca31feb");
}

TEST(Migration, PostgresRefusesANewerSchemaWithAWayOut) {
  auto* cluster = PostgresCluster::get();
  if (cluster == nullptr) GTEST_SKIP() << PostgresCluster::why_not();
  PostgresOptions options{
      .url = cluster->url(), .schema = cluster->fresh_schema(), .timeout = Milliseconds{30'000}};
  open_postgres_or_abort(options).reset();
  cluster->sql("UPDATE " + options.schema + ".tidewatt_ledger SET schema_version = 999");
  const auto newer = open_postgres_store(options);
  ASSERT_FALSE(newer);
  EXPECT_NE(newer.error().to_string().find("999"), std::string::npos);
  EXPECT_NE(newer.error().hint.find("newer tidewatt"), std::string::npos);
}

TEST(Migration, PostgresRefusesAFoldIntoASealedMonthByAnOlderServer) {
  auto* cluster = PostgresCluster::get();
  if (cluster == nullptr) GTEST_SKIP() << PostgresCluster::why_not();
  PostgresOptions options{
      .url = cluster->url(), .schema = cluster->fresh_schema(), .timeout = Milliseconds{30'000}};
  const auto store = open_postgres_or_abort(options);
  fill(*store);
  const auto hour = std::to_string(hour_at("2026-10-31T23:00:00Z").time_since_epoch().count());
  const auto table = options.schema + ".energy_hourly";
  for (const auto& sql : {"UPDATE " + table + " SET energy_uj = energy_uj + 1 WHERE hour = " + hour,
                          "DELETE FROM " + table + " WHERE hour = " + hour})
    EXPECT_NE(cluster->sql("SET search_path = " + options.schema + "; " + sql).find("sealed month"),
              std::string::npos)
        << sql;
  EXPECT_TRUE(verify(*store)->ok());
  // Behind the guard's back it is found.
  cluster->sql("ALTER TABLE " + table + " DISABLE TRIGGER ALL; UPDATE " + table +
               " SET samples = samples + 1 WHERE hour = " + hour);
  const auto checked = verify(*store);
  ASSERT_TRUE(checked) << checked.error().to_string();
  ASSERT_FALSE(checked->ok());
  EXPECT_NE(checked->mismatches.at(0).find("seal of 2026-10"), std::string::npos)
      << checked->mismatches.at(0);
}

}  // namespace
}  // namespace tidewatt::store::testing
