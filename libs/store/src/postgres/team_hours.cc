#include "team_hours.h"

#include <fmt/format.h>

#include <set>

namespace tidewatt::store::pg {
namespace {

using ledger::ImageParts;
using ledger::Scope;
using ledger::WideMeasures;

constexpr int kTeamRowsAPortion = 5'000;

std::int64_t hours_of(UtcHour hour) { return hour.time_since_epoch().count(); }

WideMeasures summed_at(const Rows& rows, int row, int column) {
  WideMeasures m;
  for (auto* energy : {&m.energy, &m.counter, &m.shared, &m.unattributed, &m.simulated, &m.spread})
    *energy = rows.wide(row, column++);
  for (auto* duration : {&m.covered, &m.gap, &m.partial, &m.shared_time})
    *duration = Milliseconds{rows.integer(row, column++)};
  m.samples = rows.integer(row, column);
  return m;
}

std::string measures_of_table(std::string_view table, std::string_view sign) {
  std::string sql;
  for (const auto* column : {"energy_uj", "counter_uj", "shared_uj", "unattributed_uj", "simulated_uj",
                             "spread_uj", "covered_ms", "gap_ms", "partial_ms", "shared_ms", "samples"})
    sql += fmt::format(", {}{}.{} AS {}", sign, table, column, column);
  return sql;
}

/// Rows of the tasks $1, $2 that stand under another team: cluster, old team, new team, domain, hour, late,
/// measures.
std::string moving_rows(std::string_view tasks) {
  std::string sql;
  for (const auto* table : {"energy_hourly", "energy_adjustments"})
    sql += fmt::format(
        "{}SELECT m.cluster, m.team AS old, coalesce(t.team, '') AS new, k.domain, h.hour, {}::bigint AS "
        "late{} FROM "
        "{} m LEFT JOIN tasks t ON t.cluster = m.cluster AND t.task_id = m.task_id JOIN account_keys k ON "
        "k.scope = 3 "
        "AND k.id = m.task_id AND k.cluster = m.cluster JOIN {} h ON h.account = k.pk",
        sql.empty() ? "" : " UNION ALL ", sql.empty() ? 0 : 1, measures_of_table("h", ""), tasks, table);
  return sql;
}

std::string summed() {
  std::string sql;
  for (const auto* column : {"energy_uj", "counter_uj", "shared_uj", "unattributed_uj", "simulated_uj",
                             "spread_uj", "covered_ms", "gap_ms", "partial_ms", "shared_ms", "samples"})
    sql += fmt::format(", sum(b.{})", column);
  return sql;
}
std::string added() {
  std::string sql = "rows = s.rows + excluded.rows";
  for (const auto* column : {"energy_uj", "counter_uj", "shared_uj", "unattributed_uj", "simulated_uj",
                             "spread_uj", "covered_ms", "gap_ms", "partial_ms", "shared_ms", "samples"})
    sql += fmt::format(", {0} = s.{0} + excluded.{0}", column);
  return sql;
}

/// Which rows of a task the registry or the journal means.
std::string scopes_of(const ImageParts& parts) {
  return parts.filter.scope ? fmt::format("{}", static_cast<int>(*parts.filter.scope)) : "1, 3";
}

}  // namespace

Result<bool> has_task_moves(Connection& db) {
  TW_TRY(const auto some, db.integer("SELECT (EXISTS (SELECT FROM task_moves))::int::bigint"));
  return some != 0;
}

Status settle_task_moves(Connection& db) {
  // Their registry rows are locked first, so that no team changes between the look at it and the move.
  TW_TRY(const auto tasks,
         db.query("SELECT t.cluster, t.task_id FROM task_moves m JOIN tasks t ON t.cluster = "
                  "m.cluster AND t.task_id = m.task_id FOR UPDATE OF t"));
  if (tasks.size() == 0) return {};
  Array clusters(Array::Of::texts), ids(Array::Of::texts);
  for (int i = 0; i < tasks.size(); ++i) {
    clusters.add(tasks.text(i, 0));
    ids.add(tasks.text(i, 1));
  }
  static const std::string kSql = fmt::format(
      "WITH gone AS (DELETE FROM task_moves m USING unnest($1::text[], $2::text[]) w(cluster, task_id) WHERE "
      "m.cluster = w.cluster AND m.task_id = w.task_id RETURNING m.cluster, m.task_id, m.team), moved AS "
      "({}), "
      "both_sides AS (SELECT cluster, new AS team, domain, hour, late, 1 AS n{} FROM moved v WHERE old <> "
      "new UNION "
      "ALL SELECT cluster, old, domain, hour, late, -1{} FROM moved v WHERE old <> new) "
      "INSERT INTO team_hours AS s SELECT 3, b.hour, b.late <> 0, b.cluster, b.team, b.domain, sum(b.n){} "
      "FROM "
      "both_sides b GROUP BY b.hour, b.late, b.cluster, b.team, b.domain "
      "ON CONFLICT (scope, hour, late, cluster, team, domain) DO UPDATE SET {}",
      moving_rows("gone"), measures_of_table("v", ""), measures_of_table("v", "-"), summed(), added());
  Params params;
  params.add(std::move(clusters)).add(std::move(ids));
  TW_TRY([[maybe_unused]] const auto done, db.query(kSql, params));
  return {};
}

Status add_task_moves(Connection& db, const ImageParts& parts, TeamSums& sums) {
  if (parts.filter.scope && *parts.filter.scope != Scope::task_device) return {};
  static const std::string kSql = "SELECT * FROM (" + moving_rows("task_moves") +
                                  ") v WHERE v.hour >= $1 AND v.hour < $2 AND v.old <> v.new";
  TW_TRY(const auto rows, db.query(kSql, Params().add(hours_of(parts.from)).add(hours_of(parts.to))));
  for (int i = 0; i < rows.size(); ++i) {
    TeamKey key{Scope::task_device,           UtcHour{std::chrono::hours{rows.integer(i, 4)}},
                rows.integer(i, 5) != 0,      std::string(rows.text(i, 0)),
                std::string(rows.text(i, 1)), std::string(rows.text(i, 3))};
    if (!parts.filter.cluster.empty() && parts.filter.cluster != key.cluster) continue;
    sums.move(std::move(key), std::string(rows.text(i, 2)), summed_at(rows, i, 6));
  }
  return {};
}

Status add_journal(Connection& db, const Unfolded& unfolded, UtcHour frozen, const ImageParts& parts,
                   TeamSums& sums) {
  std::set<std::pair<std::string, std::string>> tasks;
  for (const auto& [pk, account] : unfolded.accounts)
    if (account.key->scope == Scope::task_device && wants_team_hours_of(parts, *account.key))
      tasks.emplace(account.key->cluster, account.key->id);
  std::map<std::pair<std::string, std::string>, std::string> teams;
  if (!tasks.empty()) {
    Array clusters(Array::Of::texts), ids(Array::Of::texts);
    for (const auto& [cluster, id] : tasks) {
      clusters.add(std::string_view(cluster));
      ids.add(std::string_view(id));
    }
    Params params;
    params.add(std::move(clusters)).add(std::move(ids));
    TW_TRY(const auto rows,
           db.query("SELECT t.cluster, t.task_id, t.team FROM unnest($1::text[], $2::text[]) "
                    "w(cluster, task_id) JOIN tasks t ON t.cluster = w.cluster AND t.task_id = "
                    "w.task_id",
                    params));
    for (int i = 0; i < rows.size(); ++i)
      teams[{std::string(rows.text(i, 0)), std::string(rows.text(i, 1))}] = rows.text(i, 2);
  }
  return add_unfolded(sums, unfolded, frozen, parts,
                      [&teams](const std::string& cluster, const std::string& task) -> Result<std::string> {
                        const auto found = teams.find({cluster, task});
                        return found == teams.end() ? std::string{} : found->second;
                      });
}

Status each_team_row(Connection& db, const ImageParts& parts,
                     const std::function<Status(TeamKey&&, TeamSum&&)>& take) {
  Params params;
  params.add(hours_of(parts.from)).add(hours_of(parts.to)).text(parts.filter.cluster);
  TW_TRY(
      [[maybe_unused]] const auto declared,
      db.query(fmt::format(
                   "DECLARE team_rows NO SCROLL CURSOR FOR SELECT scope, hour, late::int::bigint, cluster, "
                   "team, domain, rows, energy_uj, counter_uj, shared_uj, unattributed_uj, simulated_uj, "
                   "spread_uj, covered_ms, gap_ms, partial_ms, shared_ms, samples FROM team_hours WHERE "
                   "scope IN ({}) AND hour >= $1 AND hour < $2 AND ($3 = '' OR cluster = $3) ORDER BY "
                   "scope, hour, late, cluster, team, domain",
                   scopes_of(parts)),
               params));
  while (true) {
    TW_TRY(const auto rows, db.query(fmt::format("FETCH {} FROM team_rows", kTeamRowsAPortion)));
    for (int i = 0; i < rows.size(); ++i)
      TW_TRY_STATUS(
          take({static_cast<Scope>(rows.integer(i, 0)), UtcHour{std::chrono::hours{rows.integer(i, 1)}},
                rows.integer(i, 2) != 0, std::string(rows.text(i, 3)), std::string(rows.text(i, 4)),
                std::string(rows.text(i, 5))},
               {summed_at(rows, i, 7), rows.integer(i, 6)}));
    if (rows.size() < kTeamRowsAPortion) break;
  }
  return db.exec("CLOSE team_rows");
}

Status read_team_hours(Connection& db, const ImageParts& parts, const TeamSums& more,
                       ledger::ImageSink& sink) {
  TeamMerge merge(more, sink);
  const auto take = [&merge](TeamKey&& key, TeamSum&& sum) { return merge.take(key, std::move(sum)); };
  TW_TRY_STATUS(each_team_row(db, parts, take));
  return merge.end();
}

}  // namespace tidewatt::store::pg
