#include "team_hours.h"

#include <fmt/format.h>

#include "schema.h"

namespace tidewatt::store {
namespace {

using ledger::ImageParts;
using ledger::Scope;
using ledger::WideMeasures;

std::int64_t number(UtcHour hour) { return hour.time_since_epoch().count(); }

WideMeasures measures_from(const Statement& row, int at) {
  WideMeasures m;
  for (auto* energy : {&m.energy, &m.counter, &m.shared, &m.unattributed, &m.simulated, &m.spread})
    *energy = row.wide(at++);
  for (auto* duration : {&m.covered, &m.gap, &m.partial, &m.shared_time})
    *duration = Milliseconds{row.integer(at++)};
  m.samples = row.integer(at);
  return m;
}

/// Rows of tasks that stand under another team than the registry's.
Status each_moving_row(Database& db, const ImageParts& parts, TeamSums& sums) {
  static const std::string kSql = [] {
    std::string sql;
    for (const auto* table : {"energy_hourly", "energy_adjustments"})
      sql += fmt::format(
          "{}SELECT m.cluster, m.team, ifnull(t.team, ''), a.domain, h.hour, {}, h.energy_uj, h.counter_uj, "
          "h.shared_uj, h.unattributed_uj, h.simulated_uj, h.spread_uj, h.covered_ms, h.gap_ms, "
          "h.partial_ms, "
          "h.shared_ms, h.samples FROM task_moves m LEFT JOIN tasks t ON t.cluster = m.cluster AND t.task_id "
          "= "
          "m.task_id CROSS JOIN accounts a ON a.scope = 3 AND a.id = m.task_id AND a.cluster = m.cluster "
          "CROSS "
          "JOIN {} h ON h.account = a.pk WHERE h.hour >= :from AND h.hour < :to",
          sql.empty() ? "" : " UNION ALL ", sql.empty() ? 0 : 1, table);
    return sql;
  }();
  TW_TRY(auto select, db.prepare(kSql));
  select.bind(select.parameter(":from"), number(parts.from)).bind(select.parameter(":to"), number(parts.to));
  while (true) {
    TW_TRY(const bool row, select.step());
    if (!row) return {};
    TeamKey key{Scope::task_device,          UtcHour{std::chrono::hours{select.integer(4)}},
                select.integer(5) != 0,      std::string(select.text(0)),
                std::string(select.text(1)), std::string(select.text(3))};
    if (!parts.filter.cluster.empty() && parts.filter.cluster != key.cluster) continue;
    sums.move(std::move(key), std::string(select.text(2)), measures_from(select, 6));
  }
}

}  // namespace

Status note_team(Database& db, const ledger::TaskInfo& task) {
  // An account that no checkpoint wrote has no row that could stand under a team.
  TW_TRY(
      auto note,
      db.prepare("INSERT INTO task_moves(cluster, task_id, team) SELECT ?1, ?2, k.team FROM (SELECT ifnull("
                 "(SELECT team FROM tasks WHERE cluster = ?1 AND task_id = ?2), '') AS team) k WHERE k.team "
                 "<> ?3 AND EXISTS (SELECT 1 FROM accounts WHERE scope = 3 AND id = ?2 AND cluster = ?1) "
                 "ON CONFLICT(cluster, task_id) DO NOTHING"));
  note.bind(1, task.cluster).bind(2, task.task_id).bind(3, task.team);
  return note.run();
}

Result<bool> has_task_moves(Database& db) {
  TW_TRY(const auto some, db.integer("SELECT EXISTS (SELECT 1 FROM task_moves)"));
  return some != 0;
}

Status settle_task_moves(Database& db, TeamSums& sums) {
  TW_TRY_STATUS(each_moving_row(db, ImageParts{}, sums));
  return db.exec("DELETE FROM task_moves");
}

Result<std::string> team_of(Database& db, const std::string& cluster, const std::string& task_id) {
  TW_TRY(auto select, db.prepare("SELECT team FROM tasks WHERE cluster = ? AND task_id = ?"));
  select.bind(1, cluster).bind(2, task_id);
  TW_TRY(const bool row, select.step());
  return row ? std::string(select.text(0)) : std::string{};
}

Status write_team_sums(Database& db, const TeamSums& sums) {
  TW_TRY(
      auto add,
      db.prepare(
          "INSERT INTO team_hours(scope, hour, late, cluster, team, domain, rows, energy_uj, counter_uj, "
          "shared_uj, unattributed_uj, simulated_uj, spread_uj, covered_ms, gap_ms, partial_ms, shared_ms, "
          "samples) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18) "
          "ON CONFLICT(scope, hour, late, cluster, team, domain) DO UPDATE SET rows = rows + ?7, "
          "energy_uj = wide_add(energy_uj, ?8), counter_uj = wide_add(counter_uj, ?9), shared_uj = "
          "wide_add(shared_uj, ?10), unattributed_uj = wide_add(unattributed_uj, ?11), simulated_uj = "
          "wide_add(simulated_uj, ?12), spread_uj = wide_add(spread_uj, ?13), covered_ms = covered_ms + ?14, "
          "gap_ms = gap_ms + ?15, partial_ms = partial_ms + ?16, shared_ms = shared_ms + ?17, samples = "
          "samples + ?18"));
  for (const auto& [key, sum] : sums.all()) {
    const auto& m = sum.measures;
    add.bind(1, static_cast<std::int64_t>(key.scope)).bind(2, number(key.hour));
    add.bind(3, std::int64_t{key.late ? 1 : 0}).bind(4, key.cluster).bind(5, key.team).bind(6, key.domain);
    add.bind(7, sum.rows);
    int at = 8;
    for (const auto energy : {m.energy, m.counter, m.shared, m.unattributed, m.simulated, m.spread})
      add.bind(at++, energy);
    for (const auto time : {m.covered, m.gap, m.partial, m.shared_time})
      add.bind(at++, static_cast<std::int64_t>(time.count()));
    add.bind(at, m.samples);
    TW_TRY_STATUS(add.run());
  }
  return {};
}

Status fill_team_hours(Database& db) {
  TW_TRY_STATUS(db.exec("DELETE FROM team_hours"));
  return db.exec(std::string(kFillTeamHours));
}

Status add_task_moves(Database& db, const ImageParts& parts, TeamSums& sums) {
  if (parts.filter.scope && *parts.filter.scope != Scope::task_device) return {};
  return each_moving_row(db, parts, sums);
}

Status each_team_row(Database& db, const ImageParts& parts,
                     const std::function<Status(TeamKey&&, TeamSum&&)>& take) {
  for (const auto scope : {Scope::node, Scope::task_device}) {
    if (parts.filter.scope && *parts.filter.scope != scope) continue;
    TW_TRY(
        auto select,
        db.prepare(
            "SELECT scope, hour, late, cluster, team, domain, rows, energy_uj, counter_uj, shared_uj, "
            "unattributed_uj, simulated_uj, spread_uj, covered_ms, gap_ms, partial_ms, shared_ms, samples "
            "FROM "
            "team_hours WHERE scope = ?1 AND hour >= ?2 AND hour < ?3 ORDER BY scope, hour, late, cluster, "
            "team, domain"));
    select.bind(1, static_cast<std::int64_t>(scope)).bind(2, number(parts.from)).bind(3, number(parts.to));
    while (true) {
      TW_TRY(const bool row, select.step());
      if (!row) break;
      if (!parts.filter.cluster.empty() && parts.filter.cluster != select.text(3)) continue;
      TW_TRY_STATUS(
          take({scope, UtcHour{std::chrono::hours{select.integer(1)}}, select.integer(2) != 0,
                std::string(select.text(3)), std::string(select.text(4)), std::string(select.text(5))},
               {measures_from(select, 7), select.integer(6)}));
    }
  }
  return {};
}

}  // namespace tidewatt::store
