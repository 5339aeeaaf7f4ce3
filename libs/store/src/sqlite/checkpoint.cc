#include "checkpoint.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "../node_info_codec.h"
#include "months.h"
#include "schema.h"
#include "team_hours.h"

namespace tidewatt::store {
namespace {

std::int64_t milliseconds(UtcTime at) { return at.time_since_epoch().count(); }
std::optional<std::int64_t> milliseconds(std::optional<UtcTime> at) {
  return at ? std::optional(milliseconds(*at)) : std::nullopt;
}

/// Binds the eleven measures from parameter `at` on.
template <class Energy>
void bind(Statement& s, int at, const ledger::BasicMeasures<Energy>& m) {
  for (const auto energy : {m.energy, m.counter, m.shared, m.unattributed, m.simulated, m.spread})
    s.bind(at++, energy);
  for (const auto time : {m.covered, m.gap, m.partial, m.shared_time})
    s.bind(at++, static_cast<std::int64_t>(time.count()));
  s.bind(at, m.samples);
}

template <class Map>
std::vector<std::int64_t> sorted_keys(const Map& map) {
  std::vector<std::int64_t> keys;
  keys.reserve(map.size());
  for (const auto& [key, value] : map) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

Status write_names(Database& db, const Unfolded& unfolded) {
  TW_TRY(auto insert, db.prepare("INSERT INTO names(id, name) VALUES(?, ?)"));
  for (const auto id : sorted_keys(unfolded.new_names)) {
    insert.bind(1, id).bind(2, unfolded.new_names.at(id));
    TW_TRY_STATUS(insert.run());
  }
  return {};
}

// The measures' columns, and how more is added to them; parameters 1 to 11 in both.
#define TW_COLUMNS                                                                                   \
  "energy_uj, counter_uj, shared_uj, unattributed_uj, simulated_uj, spread_uj, covered_ms, gap_ms, " \
  "partial_ms, shared_ms, samples"
#define TW_ADD_TO_COLUMNS                                                                        \
  "energy_uj = wide_add(energy_uj, ?1), counter_uj = wide_add(counter_uj, ?2), shared_uj = "     \
  "wide_add(shared_uj, ?3), "                                                                    \
  "unattributed_uj = wide_add(unattributed_uj, ?4), simulated_uj = wide_add(simulated_uj, ?5), " \
  "spread_uj = wide_add(spread_uj, ?6), covered_ms = covered_ms + ?7, gap_ms = gap_ms + ?8, "    \
  "partial_ms = partial_ms + ?9, shared_ms = shared_ms + ?10, samples = samples + ?11"

/// The account's key, which journal rows of an earlier run don't say.
Result<ledger::AccountKey> key_of(Database& db, std::int64_t pk, const Unfolded& unfolded) {
  if (const auto fresh = unfolded.new_accounts.find(pk); fresh != unfolded.new_accounts.end())
    return fresh->second;
  if (const auto& account = unfolded.accounts.at(pk); account.key != nullptr) return *account.key;
  TW_TRY(auto select, db.prepare("SELECT cluster, scope, id, part, domain FROM accounts WHERE pk = ?"));
  select.bind(1, pk);
  TW_TRY(const bool row, select.step());
  if (!row)
    return fail(ErrorCode::corrupt,
                "the journal names account number " + std::to_string(pk) + ", which doesn't exist",
                "restore the latest backup");
  return ledger::AccountKey{std::string(select.text(0)), static_cast<ledger::Scope>(select.integer(1)),
                            std::string(select.text(2)), std::string(select.text(3)),
                            std::string(select.text(4))};
}

/// Where an account's hours are added up by team; nullopt = nowhere.
Result<std::optional<TeamKey>> team_key_of(Database& db, std::int64_t pk, const Unfolded& unfolded) {
  TW_TRY(const auto key, key_of(db, pk, unfolded));
  if (!ledger::has_team_hours(key.scope)) return std::nullopt;
  TeamKey sum{key.scope, {}, false, key.cluster, {}, key.domain};
  if (key.scope == ledger::Scope::task_device) {
    TW_TRY(sum.team, team_of(db, key.cluster, key.id));
  }
  return sum;
}

Status write_accounts(Database& db, const State& state, UtcTime now) {
  const auto& unfolded = state.unfolded;
  TeamSums sums;
  TW_TRY_STATUS(settle_task_moves(db, sums));
  TW_TRY(auto insert,
         db.prepare(
             "INSERT INTO accounts(" TW_COLUMNS
             ", first_sample_ms, last_sample_ms, pk, cluster, scope, id, part, domain) "
             "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)"));
  TW_TRY(
      auto update,
      db.prepare(
          "UPDATE accounts SET " TW_ADD_TO_COLUMNS ", "
          "first_sample_ms = min(ifnull(first_sample_ms, ?12), ifnull(?12, first_sample_ms)), "
          "last_sample_ms = max(ifnull(last_sample_ms, ?13), ifnull(?13, last_sample_ms)) WHERE pk = ?14"));
  TW_TRY(auto hourly,
         db.prepare("INSERT INTO energy_hourly(" TW_COLUMNS
                    ", account, hour) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) "
                    "ON CONFLICT(account, hour) DO UPDATE SET " TW_ADD_TO_COLUMNS));
  // Where rows are counted, a new one must be told from one that grows.
  TW_TRY(auto grow,
         db.prepare("UPDATE energy_hourly SET " TW_ADD_TO_COLUMNS " WHERE account = ?12 AND hour = ?13"));
  TW_TRY(
      auto adjustment,
      db.prepare("INSERT INTO energy_adjustments(" TW_COLUMNS
                 ", account, hour, booked_ms, reason) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  for (const auto pk : sorted_keys(unfolded.accounts)) {
    const auto& account = unfolded.accounts.at(pk);
    const auto fresh = unfolded.new_accounts.find(pk);
    auto& statement = fresh != unfolded.new_accounts.end() ? insert : update;
    bind(statement, 1, account.total());
    statement.bind(12, milliseconds(account.first_sample_at))
        .bind(13, milliseconds(account.last_sample_at))
        .bind(14, pk);
    if (fresh != unfolded.new_accounts.end()) {
      const auto& key = fresh->second;
      statement.bind(15, key.cluster).bind(16, static_cast<std::int64_t>(key.scope));
      statement.bind(17, key.id).bind(18, key.part).bind(19, key.domain);
    }
    TW_TRY_STATUS(statement.run());
    TW_TRY(auto team, team_key_of(db, pk, unfolded));
    for (const auto& [hour, measures] : account.hours) {
      // The month's rows are sealed: they stay as they are, and the account's totals have it all the same.
      const bool late = hour < state.frozen;
      const auto put = [&](Statement& row) -> Status {
        bind(row, 1, measures);
        row.bind(12, pk).bind(13, static_cast<std::int64_t>(hour.time_since_epoch().count()));
        if (late) row.bind(14, milliseconds(now)).bind(15, ledger::kLateReason);
        return row.run();
      };
      std::int64_t fresh_rows = 1;
      if (team && !late) {
        TW_TRY_STATUS(put(grow));
        fresh_rows = db.changes() > 0 ? 0 : 1;
      }
      if (fresh_rows > 0) TW_TRY_STATUS(put(late ? adjustment : hourly));
      if (!team) continue;
      team->hour = hour;
      team->late = late;
      ledger::WideMeasures wide;
      wide += measures;
      sums.add(*team, wide, fresh_rows);
    }
  }
  return write_team_sums(db, sums);
}

Status write_curves(Database& db, const Unfolded& unfolded) {
  struct Row {
    std::int64_t node;
    std::int64_t at;
    const std::string* bytes;
  };
  std::map<std::int64_t, std::vector<Row>> days;
  for (const auto node : sorted_keys(unfolded.points))
    for (const auto& [at, bytes] : unfolded.points.at(node))
      days[std::chrono::floor<std::chrono::days>(at).time_since_epoch().count()].push_back(
          {node, milliseconds(at), &bytes});
  for (const auto& [day, rows] : days) {
    TW_TRY_STATUS(make_curve_table(db, day));
    TW_TRY(auto insert,
           db.prepare("INSERT OR REPLACE INTO " + curve_table(day) + "(node, at_ms, point) VALUES(?, ?, ?)"));
    for (const auto& row : rows) {
      insert.bind(1, row.node).bind(2, row.at).bind_blob(3, *row.bytes);
      TW_TRY_STATUS(insert.run());
    }
  }
  return {};
}

/// What a node's row gets; copied under the lock, since liveness is noted from any thread.
struct NodeRow {
  NodeState* node;
  std::uint64_t revision;
  std::string cursor;
  std::string info;
};

std::vector<NodeRow> collect_nodes(State& state) {
  const std::lock_guard lock(state.mutex);
  std::vector<NodeRow> rows;
  for (const auto& [key, node] : state.nodes()) {
    if (!node->cursor_unfolded && !node->info_unfolded) continue;
    rows.push_back(
        {node.get(), node->revision, node->encoded, node->info ? encode(*node->info) : std::string()});
    node->info_unfolded = false;
  }
  state.infos_unfolded = false;
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.node->pk < b.node->pk; });
  return rows;
}

void give_back(State& state, const std::vector<NodeRow>& rows) {
  const std::lock_guard lock(state.mutex);
  for (const auto& row : rows) row.node->info_unfolded = row.node->info != nullptr;
  state.infos_unfolded = true;
}

Status write_nodes(Database& db, const std::vector<NodeRow>& rows) {
  TW_TRY(auto upsert,
         db.prepare(
             "INSERT INTO nodes(pk, cluster, node_id, revision, cursor, info) VALUES(?1, ?2, ?3, ?4, ?5, ?6) "
             "ON CONFLICT(pk) DO UPDATE SET revision = ?4, cursor = ?5, info = ?6"));
  for (const auto& row : rows) {
    upsert.bind(1, row.node->pk).bind(2, row.node->key->cluster).bind(3, row.node->key->node_id);
    upsert.bind(4, static_cast<std::int64_t>(row.revision)).bind_blob(5, row.cursor).bind_blob(6, row.info);
    TW_TRY_STATUS(upsert.run());
  }
  return {};
}

Status write_all(Database& db, State& state, const std::vector<NodeRow>& rows, UtcTime now) {
  TW_TRY(auto transaction, Transaction::begin(db, Transaction::Kind::write));
  TW_TRY_STATUS(write_nodes(db, rows));
  TW_TRY_STATUS(write_names(db, state.unfolded));
  TW_TRY_STATUS(write_accounts(db, state, now));
  TW_TRY_STATUS(write_curves(db, state.unfolded));
  TW_TRY_STATUS(db.exec("DELETE FROM journal"));
  // Under the lock, so that no reader sees an amount both in the tables and in memory.
  const std::lock_guard lock(state.mutex);
  TW_TRY_STATUS(transaction.commit());
  state.unfolded = {};
  ++state.checkpoints;
  for (const auto& row : rows) {
    row.node->recorded = true;
    row.node->cursor_unfolded = false;
  }
  return {};
}

}  // namespace

Status checkpoint(Database& db, State& state, UtcTime now) {
  const auto rows = collect_nodes(state);
  TW_TRY(const bool moves, has_task_moves(db));
  if (rows.empty() && state.unfolded.empty() && !moves) return {};
  auto status = write_all(db, state, rows, now);
  if (!status) give_back(state, rows);
  return status;
}

Status load_frozen(Database& db, State& state) {
  const std::lock_guard lock(state.mutex);
  TW_TRY(state.frozen, frozen_until(db));
  return {};
}

Status load_nodes(Database& db, State& state) {
  const std::lock_guard lock(state.mutex);
  TW_TRY(auto select, db.prepare("SELECT pk, cluster, node_id, revision, cursor, info FROM nodes"));
  while (true) {
    TW_TRY(const bool row, select.step());
    if (!row) return {};
    auto& node = state.add(select.integer(0), {std::string(select.text(1)), std::string(select.text(2))});
    node.recorded = true;
    node.revision = static_cast<std::uint64_t>(select.integer(3));
    node.encoded = select.blob(4);
    if (const auto info = select.blob(5); !info.empty()) {
      TW_TRY(auto decoded, decode_node_info(*node.key, info));
      node.info = std::make_shared<const ledger::NodeInfo>(std::move(decoded));
    }
  }
}

}  // namespace tidewatt::store
