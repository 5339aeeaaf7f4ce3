#include "commit_line.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "retry.h"
#include "schema.h"

namespace tidewatt::store::pg {
namespace {

constexpr int kTries = 5;
/// A restarting PostgreSQL is back within seconds: worth waiting for, to be able to say what happened.
constexpr int kAsking = 100;

// All of a commit is one statement, so one round trip: the line's own number is the gate (a commit that was
// given up can't come late), the heads are compared and moved in ascending order, and the journal's row says
// for which nodes it holds.
constexpr auto kCommit = R"sql(
WITH mine AS (
  UPDATE writers SET commits = $2, at = now() WHERE id = $1 AND commits = $2 - 1 RETURNING id),
moved AS (
  UPDATE heads h SET revision = e.next FROM unnest($3::bigint[], $4::bigint[], $5::bigint[]) e(node, expected, next)
  WHERE h.node = e.node AND h.revision = e.expected AND EXISTS (SELECT FROM mine) RETURNING h.node),
won AS (
  SELECT count(*) AS n, CASE WHEN count(*) < cardinality($3) THEN coalesce(array_agg(node), '{}') END AS nodes FROM moved),
noted AS (
  INSERT INTO partial_commits(writer, number, nodes) SELECT $1, $2, nodes FROM won WHERE nodes IS NOT NULL AND EXISTS (SELECT FROM mine)),
stored AS (
  INSERT INTO journal(nodes, bytes) SELECT nodes, $6 FROM won WHERE n > 0)
SELECT (SELECT count(*) FROM mine), nodes FROM won)sql";

Array integers(const std::vector<std::uint64_t>& values) {
  Array array(Array::Of::integers);
  for (const auto value : values) array.add(static_cast<std::int64_t>(value));
  return array;
}

}  // namespace

CommitLine::~CommitLine() {
  if (!db_ || db_->lost() || id_ == 0 || unsettled_) return;
  (void)db_->query("DELETE FROM partial_commits WHERE writer = $1", Params().add(id_));
  (void)db_->query("DELETE FROM writers WHERE id = $1", Params().add(id_));
}

Result<Connection*> CommitLine::connection() {
  if (db_ && !db_->lost()) return &*db_;
  db_.reset();
  TW_TRY(auto opened, Connection::open(target_));
  TW_TRY_STATUS(check_version(opened));
  // Rows are locked in ascending order of nodes only if they are found through the index, one by one.
  TW_TRY_STATUS(
      opened.exec("SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off; "
                  "SET enable_bitmapscan = off; SET plan_cache_mode = force_generic_plan"));
  db_.emplace(std::move(opened));
  return &*db_;
}

Status CommitLine::enlist() {
  TW_TRY(auto* db, connection());
  if (unsettled_) {
    TW_TRY([[maybe_unused]] const auto settled, settle());
  }
  if (id_ != 0) return {};
  TW_TRY(id_, db->integer("INSERT INTO writers DEFAULT VALUES RETURNING id"));
  commits_ = 0;
  return {};
}

Result<CommitLine::Settled> CommitLine::settle() {
  TW_TRY(auto* db, connection());
  const auto number = commits_ + 1;
  // Waits for the lost one if it still runs. Taking its number closes the gate; if it is taken, it happened.
  TW_TRY(const auto closed,
         db->query("UPDATE writers SET commits = $2, at = now() WHERE id = $1 AND commits = $2 - 1",
                   Params().add(id_).add(number)));
  Settled settled;
  if (closed.touched() == 0) {
    TW_TRY(const auto happened, db->integer("SELECT commits FROM writers WHERE id = $1", Params().add(id_)));
    settled.applied = happened == number;
    TW_TRY(const auto nodes, db->query("SELECT nodes FROM partial_commits WHERE writer = $1 AND number = $2",
                                       Params().add(id_).add(number)));
    if (nodes.size() > 0) settled.nodes = nodes.integers(0, 0);
    if (happened == 0) id_ = 0;  // the row is gone, and with it the gate
  }
  commits_ = number;
  unsettled_ = false;
  return settled;
}

Result<std::optional<std::vector<std::int64_t>>> CommitLine::commit(const CommitBatch& batch) {
  Retry retry(target_.options().timeout, kTries);
  while (true) {
    if (auto ready = enlist(); !ready) {
      if (db_ && !db_->lost() && db_->failure() == Failure::rolled_back && !unsettled_)
        return tl::unexpected(std::move(ready).error());
      if (retry.again()) continue;
      return tl::unexpected(std::move(ready).error());
    }
    Array nodes(Array::Of::integers);
    for (const auto node : batch.nodes) nodes.add(node);
    Params params;
    params.add(id_).add(commits_ + 1).add(std::move(nodes)).add(integers(batch.from)).add(integers(batch.to));
    params.blob(batch.row);
    auto rows = db_->query(kCommit, params);
    if (rows) {
      if (rows->integer(0, 0) == 0) {  // our row was cleared away, so nothing moved: begin a new line
        id_ = 0;
        if (retry.again()) continue;
        return fail(ErrorCode::internal,
                    fmt::format("{}: a writer's row vanishes again and again", target_.name()));
      }
      ++commits_;
      if (rows->null(0, 1)) return std::nullopt;
      return rows->integers(0, 1);
    }
    if (db_->failure() == Failure::collision && retry.again()) continue;
    if (db_->failure() != Failure::lost) return tl::unexpected(std::move(rows).error());
    unsettled_ = true;
    Retry asking(target_.options().timeout * 2, kAsking);
    while (true) {
      auto settled = settle();
      if (settled && settled->applied) return settled->nodes;
      if (settled) break;
      if (!asking.again())
        return fail(ErrorCode::unavailable,
                    fmt::format("{} (whether this was booked isn't known yet)", rows.error().message),
                    "send again: what was booked is then told from what wasn't");
    }
    if (!retry.again()) return tl::unexpected(std::move(rows).error());
  }
}

}  // namespace tidewatt::store::pg
