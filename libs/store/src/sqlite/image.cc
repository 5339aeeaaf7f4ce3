#include "image.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "../journal/cursor_patch.h"
#include "../journal/overlay.h"
#include "../node_info_codec.h"
#include "file_lock.h"
#include "market.h"
#include "months.h"
#include "reports.h"
#include "schema.h"
#include "team_hours.h"
#include "tidewatt/base/log.h"
#include "tidewatt/ledger/store.h"
#include "tidewatt/store/sqlite.h"
#include "wal_damage.h"

namespace tidewatt::store {
namespace {

using namespace ledger;

constexpr auto kKey = "a.cluster, a.scope, a.id, a.part, a.domain";
constexpr int kKeyColumns = 5;
constexpr int kMeasureColumns = 11;

AccountKey key_at(const Statement& row, int at) {
  return {std::string(row.text(at)), static_cast<Scope>(row.integer(at + 1)), std::string(row.text(at + 2)),
          std::string(row.text(at + 3)), std::string(row.text(at + 4))};
}

WideMeasures measures_at(const Statement& row, int at) {
  WideMeasures m;
  for (auto* energy : {&m.energy, &m.counter, &m.shared, &m.unattributed, &m.simulated, &m.spread})
    *energy = row.wide(at++);
  for (auto* duration : {&m.covered, &m.gap, &m.partial, &m.shared_time})
    *duration = Milliseconds{row.integer(at++)};
  m.samples = row.integer(at);
  return m;
}

std::string measures_of(char table) {
  return fmt::format(
      "{0}.energy_uj, {0}.counter_uj, {0}.shared_uj, {0}.unattributed_uj, {0}.simulated_uj, {0}.spread_uj, "
      "{0}.covered_ms, {0}.gap_ms, {0}.partial_ms, {0}.shared_ms, {0}.samples",
      table);
}

/// The filter as SQL over `accounts a`; ids are left to `matches`, there may be any number.
std::string where(const AccountFilter& filter) {
  std::string sql = "true";
  if (filter.scope) sql += fmt::format(" AND a.scope = {}", static_cast<int>(*filter.scope));
  if (!filter.cluster.empty()) sql += " AND a.cluster = :cluster";
  if (!filter.domain.empty()) sql += " AND a.domain = :domain";
  return sql;
}
void bind(Statement& s, const ImageParts& parts) {
  s.bind(s.parameter(":from"), static_cast<std::int64_t>(parts.from.time_since_epoch().count()));
  s.bind(s.parameter(":to"), static_cast<std::int64_t>(parts.to.time_since_epoch().count()));
  if (!parts.filter.cluster.empty()) s.bind(s.parameter(":cluster"), std::string_view(parts.filter.cluster));
  if (!parts.filter.domain.empty()) s.bind(s.parameter(":domain"), std::string_view(parts.filter.domain));
}

/// The journal of the snapshot.
class Journal {
 public:
  Status read(Database& db) {
    TW_TRY(auto select, db.prepare("SELECT bytes FROM journal ORDER BY seq"));
    while (true) {
      TW_TRY(const bool row, select.step());
      if (!row) break;
      TW_TRY(auto changes, decode_changes(select.blob(0)));
      for (const auto& node : changes.nodes) new_nodes_.emplace(node.pk, node.key);
      for (auto& cursor : changes.cursors) steps_[cursor.node].push_back(std::move(cursor));
      unfolded.add(std::move(changes), select.blob(0).size());
    }
    return name_accounts(db);
  }

  /// The node's cursor behind the journal.
  Status move_on(std::int64_t pk, NodeImage& node) {
    const auto steps = steps_.find(pk);
    if (steps == steps_.end()) return {};
    for (auto& step : steps->second) {
      if (step.is_patch) {
        TW_TRY(node.cursor, patched(node.cursor, step.bytes));
      } else {
        node.cursor = std::move(step.bytes);
      }
      node.revision = step.revision;
    }
    steps_.erase(steps);
    return {};
  }
  /// Nodes that no table has yet; after all others were moved on.
  Result<std::vector<NodeImage>> fresh_nodes() {
    std::vector<NodeImage> nodes;
    for (const auto& [pk, key] : new_nodes_) {
      if (!steps_.contains(pk)) continue;
      NodeImage node{key, 0, {}, nullptr};
      TW_TRY_STATUS(move_on(pk, node));
      nodes.push_back(std::move(node));
    }
    return nodes;
  }

  Unfolded unfolded;

 private:
  Status name_accounts(Database& db) {
    keys_.reserve(unfolded.accounts.size());
    for (auto& [pk, account] : unfolded.accounts) {
      if (const auto fresh = unfolded.new_accounts.find(pk); fresh != unfolded.new_accounts.end()) {
        account.key = &fresh->second;
        continue;
      }
      TW_TRY(auto select, db.prepare(fmt::format("SELECT {} FROM accounts a WHERE a.pk = ?", kKey)));
      select.bind(1, pk);
      TW_TRY(const bool row, select.step());
      if (!row)
        return fail(ErrorCode::corrupt,
                    fmt::format("the journal names account number {}, which doesn't exist", pk),
                    "restore the latest backup");
      account.key = &keys_.emplace(pk, key_at(select, 0)).first->second;
    }
    return {};
  }

  std::unordered_map<std::int64_t, AccountKey> keys_;
  std::unordered_map<std::int64_t, NodeKey> new_nodes_;
  std::unordered_map<std::int64_t, std::vector<CursorChange>> steps_;
};

Status read_registry(Database& db, ImageSink& sink) {
  {
    TW_TRY(
        auto tasks,
        db.prepare("SELECT cluster, task_id, group_id, team, kind, started_ms, finished_ms, at_once_ms FROM "
                   "tasks ORDER BY cluster, task_id"));
    while (true) {
      TW_TRY(const bool row, tasks.step());
      if (!row) break;
      TW_TRY_STATUS(
          sink.add(TaskInfo{std::string(tasks.text(0)), std::string(tasks.text(1)),
                            std::string(tasks.text(2)), std::string(tasks.text(3)),
                            std::string(tasks.text(4)), tasks.time(5), tasks.time(6), tasks.time(7)}));
    }
  }
  TW_TRY_STATUS(read_reports(db, sink));
  {
    TW_TRY(auto tokens,
           db.prepare("SELECT id, name, role, team, sha256_hex, created_ms, expires_ms, revoked_ms "
                      "FROM tokens ORDER BY id"));
    while (true) {
      TW_TRY(const bool row, tokens.step());
      if (!row) break;
      TW_TRY_STATUS(sink.add(
          TokenRecord{std::string(tokens.text(0)), std::string(tokens.text(1)), std::string(tokens.text(2)),
                      std::string(tokens.text(3)), std::string(tokens.text(4)),
                      UtcTime{Milliseconds{tokens.integer(5)}}, tokens.time(6), tokens.time(7)}));
    }
  }
  TW_TRY(auto audit, db.prepare("SELECT at_ms, actor, action, subject FROM audit ORDER BY seq"));
  while (true) {
    TW_TRY(const bool row, audit.step());
    if (!row) return each_market_entry(db, sink);
    TW_TRY_STATUS(sink.add(AuditEntry{UtcTime{Milliseconds{audit.integer(0)}}, std::string(audit.text(1)),
                                      std::string(audit.text(2)), std::string(audit.text(3))}));
  }
}

Status read_nodes(Database& db, Journal& journal, ImageSink& sink) {
  std::vector<NodeImage> nodes;
  TW_TRY(auto select, db.prepare("SELECT pk, cluster, node_id, revision, cursor, info FROM nodes"));
  while (true) {
    TW_TRY(const bool row, select.step());
    if (!row) break;
    NodeImage node{{std::string(select.text(1)), std::string(select.text(2))},
                   static_cast<std::uint64_t>(select.integer(3)),
                   std::string(select.blob(4)),
                   nullptr};
    if (const auto info = select.blob(5); !info.empty()) {
      TW_TRY(auto decoded, decode_node_info(node.key, info));
      node.info = std::make_shared<const NodeInfo>(std::move(decoded));
    }
    TW_TRY_STATUS(journal.move_on(select.integer(0), node));
    nodes.push_back(std::move(node));
  }
  TW_TRY(auto fresh, journal.fresh_nodes());
  std::move(fresh.begin(), fresh.end(), std::back_inserter(nodes));
  std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  for (const auto& node : nodes) TW_TRY_STATUS(sink.add(node));
  return {};
}

Status read_accounts(Database& db, Overlay& overlay, ImageSink& sink) {
  auto merge = merge_accounts(overlay, sink);
  TW_TRY(auto select,
         db.prepare(fmt::format("SELECT {0}, {1}, a.first_sample_ms, a.last_sample_ms FROM accounts a "
                                "ORDER BY {0}",
                                kKey, measures_of('a'))));
  while (true) {
    TW_TRY(const bool row, select.step());
    if (!row) return merge.end();
    constexpr int kTimes = kKeyColumns + kMeasureColumns;
    TW_TRY_STATUS(merge.take(
        {key_at(select, 0), measures_at(select, kKeyColumns), select.time(kTimes), select.time(kTimes + 1)}));
  }
}

Status read_adjustments(Database& db, const Overlay& overlay, const ImageParts& parts, ImageSink& sink) {
  TW_TRY(auto select, db.prepare(fmt::format(
                          "SELECT {0}, {1}, d.hour, d.booked_ms, d.reason FROM energy_adjustments d JOIN "
                          "accounts a ON a.pk = d.account WHERE d.hour >= :from AND d.hour < :to AND {2} "
                          "ORDER BY d.hour, {0}, d.seq",
                          kKey, measures_of('d'), where(parts.filter))));
  bind(select, parts);
  while (true) {
    TW_TRY(const bool row, select.step());
    if (!row) break;
    auto key = key_at(select, 0);
    if (!matches(parts.filter, key)) continue;
    constexpr int kHour = kKeyColumns + kMeasureColumns;
    TW_TRY_STATUS(sink.add(Adjustment{std::move(key), UtcHour{std::chrono::hours{select.integer(kHour)}},
                                      measures_at(select, kKeyColumns), select.time(kHour + 1),
                                      std::string(select.text(kHour + 2))}));
  }
  for (const auto& late : overlay.late) TW_TRY_STATUS(sink.add(late));
  return {};
}

Status read_hourly(Database& db, Overlay& overlay, const ImageParts& parts, ImageSink& sink) {
  auto merge = merge_hourly(overlay, parts.by_hour, sink);
  auto sql = fmt::format(
      "SELECT {}, {}, h.hour FROM accounts a JOIN energy_hourly h ON h.account = a.pk WHERE "
      "h.hour >= :from AND h.hour < :to AND {}",
      kKey, measures_of('h'), where(parts.filter));
  if (parts.after)
    sql += fmt::format(" AND ({}, h.hour) > (:acluster, :ascope, :aid, :apart, :adomain, :ahour)", kKey);
  sql +=
      parts.by_hour ? fmt::format(" ORDER BY h.hour, {}", kKey) : fmt::format(" ORDER BY {}, h.hour", kKey);
  TW_TRY(auto select, db.prepare(sql));
  bind(select, parts);
  if (parts.after) {
    const auto& [key, hour] = *parts.after;
    select.bind(select.parameter(":acluster"), std::string_view(key.cluster));
    select.bind(select.parameter(":ascope"), static_cast<std::int64_t>(key.scope));
    select.bind(select.parameter(":aid"), std::string_view(key.id));
    select.bind(select.parameter(":apart"), std::string_view(key.part));
    select.bind(select.parameter(":adomain"), std::string_view(key.domain));
    select.bind(select.parameter(":ahour"), static_cast<std::int64_t>(hour.time_since_epoch().count()));
  }
  while (true) {
    TW_TRY(const bool row, select.step());
    if (!row) return merge.end();
    auto key = key_at(select, 0);
    if (!matches(parts.filter, key)) continue;
    TW_TRY_STATUS(merge.take({std::move(key),
                              UtcHour{std::chrono::hours{select.integer(kKeyColumns + kMeasureColumns)}},
                              measures_at(select, kKeyColumns)}));
  }
}

Status read_teams(Database& db, const Unfolded& unfolded, UtcHour frozen, const ImageParts& parts,
                  ImageSink& sink) {
  TeamSums sums;
  TW_TRY_STATUS(add_task_moves(db, parts, sums));
  const auto team = [&db](const std::string& cluster, const std::string& task) {
    return team_of(db, cluster, task);
  };
  TW_TRY_STATUS(add_unfolded(sums, unfolded, frozen, parts, team));
  TeamMerge merge(sums, sink);
  const auto take = [&merge](TeamKey&& key, TeamSum&& sum) { return merge.take(key, sum); };
  TW_TRY_STATUS(each_team_row(db, parts, take));
  return merge.end();
}

class FileImage final : public ImageSource {
 public:
  explicit FileImage(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] bool keeps_team_hours() const override { return true; }
  Status read_image(const ImageParts& parts, ImageSink& sink) override {
    TW_TRY(auto db, Database::open(path_, Database::Access::read));
    return store::read_image(db, parts, sink);
  }

 private:
  std::string path_;
};

}  // namespace

Status read_image(Database& db, const ImageParts& parts, ImageSink& sink) {
  TW_TRY(const auto snapshot, Transaction::begin(db, Transaction::Kind::read));
  TW_TRY(const auto frozen, frozen_until(db));
  Journal journal;
  TW_TRY_STATUS(journal.read(db));
  auto overlay = overlay_of(journal.unfolded, frozen, parts);
  if (parts.registry) TW_TRY_STATUS(read_registry(db, sink));
  if (parts.nodes) TW_TRY_STATUS(read_nodes(db, journal, sink));
  if (parts.seals) {
    TW_TRY(const auto seals, read_seals(db));
    for (const auto& seal : seals) TW_TRY_STATUS(sink.add(seal));
  }
  if (parts.accounts) TW_TRY_STATUS(read_accounts(db, overlay, sink));
  if (parts.adjustments) TW_TRY_STATUS(read_adjustments(db, overlay, parts, sink));
  if (parts.hourly) TW_TRY_STATUS(read_hourly(db, overlay, parts, sink));
  if (parts.team_hours) TW_TRY_STATUS(read_teams(db, journal.unfolded, frozen, parts, sink));
  return {};
}

Result<std::unique_ptr<ImageSource>> open_sqlite_image(const std::string& path) {
  TW_TRY(auto db, Database::open(path, Database::Access::read));
  if (auto status = check_version(db); !status) return tl::unexpected(status.error().with_context(path));
  const auto real = real_path(path);
  // While a server writes it the log changes under a look at it, and the server looked.
  if (!FileLock::is_taken(real + ".lock"))
    if (const auto wal = read_wal(real + "-wal"); wal && wal->damaged())
      log::warning(
          "the write-ahead log is damaged: what is read lacks what was acknowledged behind the damage",
          {{"file", real + "-wal"}, {"lost_commits", std::to_string(wal->lost_commits)}});
  return std::make_unique<FileImage>(path);
}

}  // namespace tidewatt::store
