#include "infos.h"

#include <algorithm>
#include <utility>

#include "../node_info_codec.h"
#include "../semantics.h"

namespace tidewatt::store::pg {
namespace {

constexpr std::chrono::milliseconds kPullAfter{1'000};
constexpr std::size_t kInfosAStatement = 1'000;

std::int64_t stamp(UtcTime at) { return at.time_since_epoch().count(); }

}  // namespace

void Infos::note_seen(std::span<const ledger::SharedNode> infos) {
  const std::lock_guard lock(mutex_);
  for (const auto& info : infos) {
    auto& entry = entries_[info->key];
    entry.info = noted(entry.info, info);
    ++entry.noted;
  }
}

Result<std::vector<ledger::SharedNode>> Infos::all() {
  TW_TRY_STATUS(pull());
  std::vector<ledger::SharedNode> infos;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, entry] : entries_)
    if (entry.info) infos.push_back(entry.info);
  std::sort(infos.begin(), infos.end(), [](const auto& a, const auto& b) { return a->key < b->key; });
  return infos;
}

Result<ledger::SharedNode> Infos::one(const ledger::NodeKey& key) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = entries_.find(key); found != entries_.end()) return found->second.info;
  }
  TW_TRY_STATUS(pull());
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : found->second.info;
}

/// The later word wins; the first time seen is the earlier.
void Infos::merge(ledger::SharedNode other) {
  auto& entry = entries_[other->key];
  if (!entry.info) {
    entry.info = std::move(other);
    return;
  }
  auto first = entry.info->first_seen_at;
  if (other->first_seen_at && (!first || *other->first_seen_at < *first)) first = other->first_seen_at;
  if (other->last_seen_at > entry.info->last_seen_at) entry.info = noted(entry.info, other);
  if (entry.info->first_seen_at == first) return;
  auto earlier = std::make_shared<ledger::NodeInfo>(*entry.info);
  earlier->first_seen_at = first;
  entry.info = std::move(earlier);
}

Status Infos::flush() {
  struct Row {
    Node* node;
    ledger::SharedNode info;
    std::uint64_t noted;
  };
  std::vector<Row> rows;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, entry] : entries_)
      if (entry.info && entry.noted != entry.flushed) rows.push_back({nullptr, entry.info, entry.noted});
  }
  if (rows.empty()) return {};
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.info->key < b.info->key; });
  std::vector<Node*> missing;
  {
    const std::lock_guard lock(nodes_.mutex);
    for (auto& row : rows) {
      row.node = &nodes_.get(row.info->key);
      if (row.node->pk == 0) missing.push_back(row.node);
    }
  }
  const auto write = [&](Connection& db) -> Status {
    if (!missing.empty()) TW_TRY_STATUS(number(db, nodes_, missing));
    for (std::size_t begin = 0; begin < rows.size(); begin += kInfosAStatement) {
      Array nodes(Array::Of::integers), first(Array::Of::integers), last(Array::Of::integers),
          infos(Array::Of::blobs);
      const auto end = std::min(begin + kInfosAStatement, rows.size());
      for (auto i = begin; i < end; ++i) {
        const auto& info = *rows[i].info;
        {
          const std::lock_guard lock(nodes_.mutex);
          nodes.add(rows[i].node->pk.load());
        }
        first.add(info.first_seen_at ? std::optional<std::int64_t>(stamp(*info.first_seen_at))
                                     : std::nullopt);
        last.add(stamp(info.last_seen_at));
        infos.add(std::string_view(encode(info)));
      }
      Params params;
      params.add(std::move(nodes)).add(std::move(first)).add(std::move(last)).add(std::move(infos));
      TW_TRY(
          [[maybe_unused]] const auto done,
          db.query(
              "INSERT INTO node_infos AS i (node, first_seen_ms, last_seen_ms, info) SELECT * FROM "
              "unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[]) w ORDER BY 1 "
              "ON CONFLICT (node) DO UPDATE SET "
              "first_seen_ms = least(i.first_seen_ms, excluded.first_seen_ms), "
              "last_seen_ms = greatest(i.last_seen_ms, excluded.last_seen_ms), xid = pg_current_xact_id(), "
              "info = CASE WHEN excluded.last_seen_ms >= i.last_seen_ms THEN excluded.info ELSE i.info END",
              params));
    }
    return {};
  };
  TW_TRY_STATUS(pool_.run(write));
  const std::lock_guard lock(mutex_);
  for (const auto& row : rows) entries_[row.info->key].flushed = row.noted;
  return {};
}

Status Infos::pull() {
  const std::lock_guard one_at_a_time(pulling_);
  if (pulled_at_ && std::chrono::steady_clock::now() - *pulled_at_ < kPullAfter) return {};
  const auto read = [&](Connection& db) -> Status {
    TW_TRY(const auto rows,
           db.query("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint, n.cluster, n.node_id, "
                    "i.first_seen_ms, i.info FROM (SELECT 1) one LEFT JOIN "
                    "(node_infos i JOIN nodes n ON n.pk = i.node) ON i.xid >= $1::text::xid8",
                    Params().text(std::to_string(low_))));
    for (int i = 0; i < rows.size(); ++i) {
      if (rows.null(i, 1)) continue;
      TW_TRY(auto info,
             decode_node_info({std::string(rows.text(i, 1)), std::string(rows.text(i, 2))}, rows.text(i, 4)));
      if (const auto first = rows.time(i, 3)) info.first_seen_at = first;
      const std::lock_guard lock(mutex_);
      merge(std::make_shared<const ledger::NodeInfo>(std::move(info)));
    }
    low_ = rows.integer(0, 0);
    return {};
  };
  auto status = pool_.run(read);
  // Also after a failure: a batch of unknown nodes must not wait for each of them.
  pulled_at_ = std::chrono::steady_clock::now();
  return status;
}

}  // namespace tidewatt::store::pg
