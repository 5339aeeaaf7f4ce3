#include "reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "months.h"
#include "team_hours.h"

namespace tidewatt::store::pg {
namespace {

using ledger::VersionedCursor;

/// Nodes whose cursors are read along with one that is asked for: they come in batches.
constexpr std::size_t kReadAlong = 255;

/// The cursor of a node whose Node nobody changes meanwhile. Needs the lock.
Result<VersionedCursor> cursor_of(Node& node) {
  if (!node.cursor && node.encoded.empty()) return VersionedCursor{.revision = node.revision};
  if (!node.cursor) {
    TW_TRY(auto decoded, ledger::decode_cursor(node.encoded));
    node.cursor = std::make_shared<const ledger::NodeCursor>(std::move(decoded));
  }
  return VersionedCursor{node.revision, node.cursor};
}

struct StoredCursor {
  std::int64_t pk = 0;
  std::int64_t head = 0;
  std::uint64_t revision = 0;
  std::string encoded;
};

}  // namespace

Status Reader::in_snapshot(Connection& db, const std::function<Status(const Unfolded&)>& from_journal,
                           const std::function<Status(Connection&)>& from_tables) {
  Turn::Hold turn(image_.turn, db.target().options().timeout);
  if (!turn)
    return fail(ErrorCode::unavailable, "store: other reads wait for PostgreSQL already",
                "try again in a moment");
  TW_TRY(auto snapshot, Transaction::begin(db, Transaction::Kind::snapshot));
  TW_TRY_STATUS(image_.sync(db));
  TW_TRY_STATUS(from_journal(image_.unfolded()));
  turn.unlock();
  TW_TRY_STATUS(from_tables(db));
  return snapshot.commit();
}

Status Reader::consistently(const std::function<Status(const Unfolded&)>& from_journal,
                            const std::function<Status(Connection&)>& from_tables) {
  return pool_.run([&](Connection& db) { return in_snapshot(db, from_journal, from_tables); });
}

Status Reader::team_hours(const ledger::ImageParts& parts, ledger::ImageSink& sink) {
  Unfolded recent;
  std::map<std::int64_t, ledger::AccountKey> keys;
  TeamSums sums;
  std::vector<std::pair<TeamKey, TeamSum>> rows;
  const auto from_journal = [&](const Unfolded& journal) -> Status {
    recent = {};
    keys.clear();
    for (const auto& [pk, account] : journal.accounts) {
      if (!wants_team_hours_of(parts, *account.key)) continue;
      auto& own = recent.accounts.emplace(pk, account).first->second;
      own.key = &keys.emplace(pk, *account.key).first->second;  // the image's may be forgotten meanwhile
    }
    return {};
  };
  const auto from_tables = [&](Connection& db) -> Status {
    sums.clear();
    rows.clear();
    TW_TRY(const auto frozen, frozen_until(db));
    TW_TRY_STATUS(add_task_moves(db, parts, sums));
    TW_TRY_STATUS(add_journal(db, recent, frozen, parts, sums));
    return each_team_row(db, parts, [&rows](TeamKey&& key, TeamSum&& sum) -> Status {
      rows.emplace_back(std::move(key), std::move(sum));
      return {};
    });
  };
  TW_TRY_STATUS(consistently(from_journal, from_tables));
  TeamMerge merge(sums, sink);
  for (const auto& [key, sum] : rows) TW_TRY_STATUS(merge.take(key, sum));
  return merge.end();
}

Result<VersionedCursor> Reader::cursor(const ledger::NodeKey& key) {
  {
    const std::lock_guard lock(nodes_.mutex);
    auto* node = nodes_.find(key);
    if (node != nullptr && node->known) return cursor_of(*node);
  }
  return refresh(key);
}

Result<VersionedCursor> Reader::refresh(const ledger::NodeKey& key) {
  std::vector<ledger::NodeKey> wanted{key};
  {
    const std::lock_guard lock(nodes_.mutex);
    for (const auto* node : nodes_.take_unknown(kReadAlong))
      if (node->key != key) wanted.push_back(node->key);
  }
  std::map<ledger::NodeKey, StoredCursor> found;
  std::map<std::int64_t, std::vector<CursorStep>> steps;
  const auto read = [&](Connection& db) -> Status {
    found.clear();
    steps.clear();
    Turn::Hold turn(image_.turn, db.target().options().timeout);
    if (!turn)
      return fail(ErrorCode::unavailable, "store: other reads wait for PostgreSQL already",
                  "try again in a moment");
    TW_TRY(auto snapshot, Transaction::begin(db, Transaction::Kind::snapshot));
    TW_TRY_STATUS(image_.sync(db));
    Array clusters(Array::Of::texts), ids(Array::Of::texts);
    for (const auto& node : wanted) {
      clusters.add(std::string_view(node.cluster));
      ids.add(std::string_view(node.node_id));
    }
    Params params;
    params.add(std::move(clusters)).add(std::move(ids));
    TW_TRY(const auto rows, db.query("SELECT n.pk, n.cluster, n.node_id, h.revision, c.revision, c.bytes "
                                     "FROM unnest($1::text[], $2::text[]) w(cluster, node_id) "
                                     "JOIN nodes n ON n.cluster = w.cluster AND n.node_id = w.node_id "
                                     "JOIN heads h ON h.node = n.pk LEFT JOIN cursors c ON c.node = n.pk",
                                     params));
    for (int i = 0; i < rows.size(); ++i) {
      const auto pk = rows.integer(i, 0);
      found[{std::string(rows.text(i, 1)), std::string(rows.text(i, 2))}] = {
          pk, rows.integer(i, 3), static_cast<std::uint64_t>(rows.integer(i, 4)),
          std::string(rows.text(i, 5))};
      if (const auto* journal = image_.steps(pk)) steps[pk] = *journal;
    }
    return snapshot.commit();
  };
  TW_TRY_STATUS(pool_.run(read));

  VersionedCursor result;
  for (const auto& node_key : wanted) {
    auto stored = found[node_key];
    if (const auto journal = steps.find(stored.pk); journal != steps.end())
      TW_TRY_STATUS(walk(stored.revision, stored.encoded, journal->second));
    if (stored.revision != static_cast<std::uint64_t>(stored.head))
      return fail(ErrorCode::corrupt,
                  fmt::format("node {}/{} stands at revision {}, its cursor at {}", node_key.cluster,
                              node_key.node_id, stored.head, stored.revision),
                  "restore the latest backup");
    Node fresh;
    fresh.revision = stored.revision;
    fresh.encoded = std::move(stored.encoded);
    const std::lock_guard lock(nodes_.mutex);
    auto* node = stored.pk != 0 ? &nodes_.get(node_key) : nodes_.find(node_key);
    // A writer that holds it knows better or will ask again.
    if (node != nullptr && !node->busy && (!node->known || node->revision < fresh.revision)) {
      if (stored.pk != 0) nodes_.set_pk(*node, stored.pk);
      node->known = true;
      node->revision = fresh.revision;
      node->encoded = fresh.encoded;
      node->cursor.reset();
    }
    if (node_key != key) continue;
    TW_TRY(result, cursor_of(node != nullptr && !node->busy && node->known ? *node : fresh));
  }
  return result;
}

}  // namespace tidewatt::store::pg
