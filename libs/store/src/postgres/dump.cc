#include "dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "../journal/overlay.h"
#include "../node_info_codec.h"
#include "filter.h"
#include "image.h"
#include "market.h"
#include "months.h"
#include "reports.h"
#include "schema.h"
#include "team_hours.h"
#include "tidewatt/ledger/store.h"
#include "tidewatt/store/postgres.h"

namespace tidewatt::store::pg {
namespace {

using namespace ledger;

constexpr Milliseconds kDumpPatience{600'000};
constexpr auto kDumpKey = "k.cluster, k.scope, k.id, k.part, k.domain";
constexpr int kDumpKeyColumns = 5;
constexpr int kDumpMeasures = 11;

AccountKey dumped_key(const Rows& rows, int row) {
  return {std::string(rows.text(row, 0)), static_cast<Scope>(rows.integer(row, 1)),
          std::string(rows.text(row, 2)), std::string(rows.text(row, 3)), std::string(rows.text(row, 4))};
}

WideMeasures dumped_measures(const Rows& rows, int row) {
  WideMeasures m;
  int column = kDumpKeyColumns;
  for (auto* energy : {&m.energy, &m.counter, &m.shared, &m.unattributed, &m.simulated, &m.spread})
    *energy = rows.wide(row, column++);
  for (auto* duration : {&m.covered, &m.gap, &m.partial, &m.shared_time})
    *duration = Milliseconds{rows.integer(row, column++)};
  m.samples = rows.integer(row, column);
  return m;
}

std::string dumped_measures_of(char table) {
  return fmt::format(
      "{0}.energy_uj, {0}.counter_uj, {0}.shared_uj, {0}.unattributed_uj, {0}.simulated_uj, {0}.spread_uj, "
      "{0}.covered_ms, {0}.gap_ms, {0}.partial_ms, {0}.shared_ms, {0}.samples",
      table);
}

using TakeRow = std::function<Status(const Rows&, int)>;

/// Through a cursor, so that memory holds a portion at a time.
/// @param name  one for each shape of rows
Status for_each_row(Connection& db, const std::string& name, const std::string& sql, const Params& params,
                    int portion, const TakeRow& take) {
  TW_TRY([[maybe_unused]] const auto declared,
         db.query(fmt::format("DECLARE {} NO SCROLL CURSOR FOR {}", name, sql), params));
  while (true) {
    TW_TRY(const auto rows, db.query(fmt::format("FETCH {} FROM {}", portion, name)));
    for (int i = 0; i < rows.size(); ++i) TW_TRY_STATUS(take(rows, i));
    if (rows.size() < portion) break;
  }
  return db.exec("CLOSE " + name);
}
constexpr int kRowsAPortion = 2'000;
constexpr int kJournalRowsAPortion = 16;

/// The journal of the snapshot.
struct DumpJournal {
  Unfolded unfolded;
  std::map<std::int64_t, std::vector<CursorStep>> steps;
  std::map<std::int64_t, AccountKey> keys;

  Status read(Connection& db) {
    TW_TRY_STATUS(for_each_row(db, "dump_journal", "SELECT seq, nodes, bytes FROM journal ORDER BY seq", {},
                               kJournalRowsAPortion, [this](const Rows& rows, int i) {
                                 const bool partial = !rows.null(i, 1);
                                 const auto applied =
                                     partial ? rows.integers(i, 1) : std::vector<std::int64_t>{};
                                 return add_row(rows.text(i, 2), partial ? &applied : nullptr, unfolded,
                                                [this](std::int64_t node, CursorStep&& step) {
                                                  auto& all = steps[node];
                                                  if (!step.is_patch) all.clear();
                                                  all.push_back(std::move(step));
                                                });
                               }));
    return name_accounts(db);
  }

  Status name_accounts(Connection& db) {
    Array numbers(Array::Of::integers);
    for (const auto& [pk, account] : unfolded.accounts) numbers.add(pk);
    if (numbers.size() == 0) return {};
    Params params;
    params.add(std::move(numbers));
    TW_TRY(
        const auto rows,
        db.query(fmt::format("SELECT {}, k.pk FROM account_keys k WHERE k.pk = ANY($1::bigint[])", kDumpKey),
                 params));
    for (int i = 0; i < rows.size(); ++i) keys[rows.integer(i, kDumpKeyColumns)] = dumped_key(rows, i);
    for (auto& [pk, account] : unfolded.accounts) {
      const auto known = keys.find(pk);
      if (known == keys.end())
        return fail(ErrorCode::corrupt,
                    fmt::format("the journal names account number {}, which doesn't exist", pk),
                    "restore the latest backup");
      account.key = &known->second;
    }
    return {};
  }
};

Status dump_registry(Connection& db, ImageSink& sink) {
  TW_TRY_STATUS(for_each_row(
      db, "dump_tasks",
      "SELECT cluster, task_id, group_id, team, kind, started_ms, finished_ms, at_once_ms FROM "
      "tasks ORDER BY cluster, task_id",
      {}, kRowsAPortion, [&sink](const Rows& r, int i) {
        return sink.add(TaskInfo{std::string(r.text(i, 0)), std::string(r.text(i, 1)),
                                 std::string(r.text(i, 2)), std::string(r.text(i, 3)),
                                 std::string(r.text(i, 4)), r.time(i, 5), r.time(i, 6), r.time(i, 7)});
      }));
  TW_TRY_STATUS(for_each_row(db, "dump_epochs", kAllEpochs, {}, kRowsAPortion,
                             [&sink](const Rows& r, int i) { return sink.add(epoch_at(r, i)); }));
  TW_TRY_STATUS(for_each_row(db, "dump_token_hours", kAllTokenHours, {}, kRowsAPortion,
                             [&sink](const Rows& r, int i) { return sink.add(token_hour_at(r, i)); }));
  TW_TRY_STATUS(for_each_row(db, "dump_token_counters", kAllTokenCounters, {}, kRowsAPortion,
                             [&sink](const Rows& r, int i) { return sink.add(token_counter_at(r, i)); }));
  TW_TRY_STATUS(for_each_row(
      db, "dump_tokens",
      "SELECT id, name, role, team, sha256_hex, created_ms, expires_ms, revoked_ms FROM tokens ORDER BY id",
      {}, kRowsAPortion, [&sink](const Rows& r, int i) {
        return sink.add(TokenRecord{std::string(r.text(i, 0)), std::string(r.text(i, 1)),
                                    std::string(r.text(i, 2)), std::string(r.text(i, 3)),
                                    std::string(r.text(i, 4)), UtcTime{Milliseconds{r.integer(i, 5)}},
                                    r.time(i, 6), r.time(i, 7)});
      }));
  TW_TRY_STATUS(for_each_row(db, "dump_audit", "SELECT at_ms, actor, action, subject FROM audit ORDER BY seq",
                             {}, kRowsAPortion, [&sink](const Rows& r, int i) {
                               return sink.add(AuditEntry{
                                   UtcTime{Milliseconds{r.integer(i, 0)}}, std::string(r.text(i, 1)),
                                   std::string(r.text(i, 2)), std::string(r.text(i, 3))});
                             }));
  return for_each_row(db, "dump_market", kAllMarket, {}, kRowsAPortion,
                      [&sink](const Rows& r, int i) { return sink.add(market_at(r, i)); });
}

Status dump_nodes(Connection& db, const DumpJournal& journal, ImageSink& sink) {
  return for_each_row(
      db, "dump_nodes",
      "SELECT n.pk, n.cluster, n.node_id, h.revision, c.revision, c.bytes, i.first_seen_ms, i.info FROM "
      "nodes n "
      "LEFT JOIN heads h ON h.node = n.pk LEFT JOIN cursors c ON c.node = n.pk LEFT JOIN node_infos i ON "
      "i.node = "
      "n.pk WHERE h.node IS NOT NULL OR i.node IS NOT NULL ORDER BY n.cluster, n.node_id",
      {}, kRowsAPortion, [&](const Rows& rows, int i) -> Status {
        NodeImage node{{std::string(rows.text(i, 1)), std::string(rows.text(i, 2))},
                       static_cast<std::uint64_t>(rows.integer(i, 4)),
                       std::string(rows.text(i, 5)),
                       nullptr};
        if (const auto steps = journal.steps.find(rows.integer(i, 0)); steps != journal.steps.end())
          TW_TRY_STATUS(walk(node.revision, node.cursor, steps->second));
        if (node.revision != static_cast<std::uint64_t>(rows.integer(i, 3)))
          return fail(ErrorCode::corrupt,
                      fmt::format("node {}/{} stands at revision {}, its cursor at {}", node.key.cluster,
                                  node.key.node_id, rows.integer(i, 3), node.revision),
                      "restore the latest backup");
        if (!rows.null(i, 7)) {
          TW_TRY(auto info, decode_node_info(node.key, rows.text(i, 7)));
          if (const auto first = rows.time(i, 6)) info.first_seen_at = first;
          node.info = std::make_shared<const NodeInfo>(std::move(info));
        }
        return sink.add(node);
      });
}

Status dump_accounts(Connection& db, Overlay& overlay, ImageSink& sink) {
  auto merge = merge_accounts(overlay, sink);
  TW_TRY_STATUS(for_each_row(
      db, "dump_accounts",
      fmt::format(
          "SELECT {0}, {1}, t.first_sample_ms, t.last_sample_ms FROM account_keys k JOIN account_totals t ON "
          "t.account = k.pk ORDER BY {0}",
          kDumpKey, dumped_measures_of('t')),
      {}, kRowsAPortion, [&merge](const Rows& rows, int i) {
        constexpr int kTimes = kDumpKeyColumns + kDumpMeasures;
        return merge.take(
            {dumped_key(rows, i), dumped_measures(rows, i), rows.time(i, kTimes), rows.time(i, kTimes + 1)});
      }));
  return merge.end();
}

Status dump_adjustments(Connection& db, const Overlay& overlay, const ImageParts& parts, ImageSink& sink) {
  const Matcher matcher(parts.filter);
  Params params;
  int last = 0;
  const auto where = matcher.where(params, last);
  params.add(static_cast<std::int64_t>(parts.from.time_since_epoch().count()));
  params.add(static_cast<std::int64_t>(parts.to.time_since_epoch().count()));
  TW_TRY_STATUS(for_each_row(
      db, "dump_adjustments",
      fmt::format(
          "SELECT {0}, {1}, d.hour, d.booked_ms, d.reason FROM energy_adjustments d JOIN account_keys k ON "
          "k.pk = d.account WHERE d.hour >= ${2} AND d.hour < ${3} AND {4} ORDER BY d.hour, {0}, d.seq",
          kDumpKey, dumped_measures_of('d'), last + 1, last + 2, where),
      params, kRowsAPortion, [&sink](const Rows& rows, int i) {
        constexpr int kHour = kDumpKeyColumns + kDumpMeasures;
        return sink.add(Adjustment{dumped_key(rows, i), UtcHour{std::chrono::hours{rows.integer(i, kHour)}},
                                   dumped_measures(rows, i), rows.time(i, kHour + 1),
                                   std::string(rows.text(i, kHour + 2))});
      }));
  for (const auto& late : overlay.late) TW_TRY_STATUS(sink.add(late));
  return {};
}

Status dump_hourly(Connection& db, Overlay& overlay, const ImageParts& parts, ImageSink& sink) {
  auto merge = merge_hourly(overlay, parts.by_hour, sink);
  const Matcher matcher(parts.filter);
  Params params;
  int last = 0;
  const auto where = matcher.where(params, last);
  params.add(static_cast<std::int64_t>(parts.from.time_since_epoch().count()));
  params.add(static_cast<std::int64_t>(parts.to.time_since_epoch().count()));
  auto sql = fmt::format(
      "SELECT {}, {}, h.hour FROM account_keys k JOIN energy_hourly h ON h.account = k.pk WHERE "
      "h.hour >= ${} AND h.hour < ${} AND {}",
      kDumpKey, dumped_measures_of('h'), last + 1, last + 2, where);
  if (parts.after) {
    const auto& [key, hour] = *parts.after;
    sql += fmt::format(" AND ({}, h.hour) > (${}, ${}, ${}, ${}, ${}, ${})", kDumpKey, last + 3, last + 4,
                       last + 5, last + 6, last + 7, last + 8);
    params.text(key.cluster)
        .add(static_cast<std::int64_t>(key.scope))
        .text(key.id)
        .text(key.part)
        .text(key.domain);
    params.add(static_cast<std::int64_t>(hour.time_since_epoch().count()));
  }
  sql += parts.by_hour ? fmt::format(" ORDER BY h.hour, {}", kDumpKey)
                       : fmt::format(" ORDER BY {}, h.hour", kDumpKey);
  TW_TRY_STATUS(
      for_each_row(db, "dump_hourly", sql, params, kRowsAPortion, [&merge](const Rows& rows, int i) {
        return merge.take({dumped_key(rows, i),
                           UtcHour{std::chrono::hours{rows.integer(i, kDumpKeyColumns + kDumpMeasures)}},
                           dumped_measures(rows, i)});
      }));
  return merge.end();
}

class DatabaseImage final : public ImageSource {
 public:
  explicit DatabaseImage(const Target& target) : target_(patient_target(target, stop_)) {}
  Status check() {
    TW_TRY(auto db, Connection::open(target_));
    return check_same_version(db);
  }
  [[nodiscard]] bool keeps_team_hours() const override { return true; }
  Status read_image(const ImageParts& parts, ImageSink& sink) override {
    TW_TRY(auto db, Connection::open(target_));
    return pg::read_image(db, parts, sink);
  }

 private:
  std::atomic<bool> stop_{false};
  Target target_;
};

}  // namespace

Status read_image(Connection& db, const ImageParts& parts, ImageSink& sink) {
  TW_TRY(auto snapshot, Transaction::begin(db, Transaction::Kind::snapshot));
  TW_TRY(const auto frozen, frozen_until(db));
  DumpJournal journal;
  TW_TRY_STATUS(journal.read(db));
  auto overlay = overlay_of(journal.unfolded, frozen, parts);
  if (parts.registry) TW_TRY_STATUS(dump_registry(db, sink));
  if (parts.nodes) TW_TRY_STATUS(dump_nodes(db, journal, sink));
  if (parts.seals) {
    TW_TRY(const auto seals, read_seals(db));
    for (const auto& seal : seals) TW_TRY_STATUS(sink.add(seal));
  }
  if (parts.accounts) TW_TRY_STATUS(dump_accounts(db, overlay, sink));
  if (parts.adjustments) TW_TRY_STATUS(dump_adjustments(db, overlay, parts, sink));
  if (parts.hourly) TW_TRY_STATUS(dump_hourly(db, overlay, parts, sink));
  if (parts.team_hours) {
    TeamSums sums;
    TW_TRY_STATUS(add_task_moves(db, parts, sums));
    TW_TRY_STATUS(add_journal(db, journal.unfolded, frozen, parts, sums));
    TW_TRY_STATUS(read_team_hours(db, parts, sums, sink));
  }
  return snapshot.commit();
}

Target patient_target(const Target& target, const std::atomic<bool>& give_up) {
  return target.patient(std::max(kDumpPatience, target.options().timeout), give_up);
}

}  // namespace tidewatt::store::pg

namespace tidewatt::store {

Result<std::unique_ptr<ledger::ImageSource>> open_postgres_image(const PostgresOptions& options) {
  TW_TRY(const auto target, pg::Target::parse(options));
  auto image = std::make_unique<pg::DatabaseImage>(target);
  TW_TRY_STATUS(image->check());
  return std::unique_ptr<ledger::ImageSource>(std::move(image));
}

}  // namespace tidewatt::store
