#include "image.h"

#include <algorithm>
#include <string>

#include "../journal/cursor_patch.h"
#include "piece.h"

namespace tidewatt::store::pg {
namespace {

/// Of one statement: what is new may be long, each statement's time isn't.
constexpr std::int64_t kBytesAPortion = std::int64_t{8} << 20U;

// Rows commit out of the order of their numbers: what is new is told by their transactions, not by a highest
// number.
constexpr auto kNewRows =
    "SELECT l.generation, pg_snapshot_xmin(pg_current_snapshot())::text::bigint, j.seq, j.xid::text::bigint, "
    "j.nodes, j.bytes FROM tidewatt_ledger l LEFT JOIN (SELECT seq, xid, nodes, bytes, "
    "sum(octet_length(bytes)) OVER (ORDER BY seq) - octet_length(bytes) AS before FROM journal "
    "WHERE xid >= $1::text::xid8 AND seq <> ALL($2::bigint[])) j ON j.before < $3 AND l.generation = $4 "
    "ORDER BY j.seq";

}  // namespace

Status walk(std::uint64_t& revision, std::string& encoded, const std::vector<CursorStep>& steps) {
  for (const auto& step : steps) {
    if (step.to <= revision) continue;
    if (step.is_patch) {
      if (step.from != revision)
        return fail(ErrorCode::corrupt, "the journal lacks a node's revision " + std::to_string(revision + 1),
                    "restore the latest backup");
      TW_TRY(encoded, patched(encoded, step.bytes));
    } else {
      encoded = step.bytes;
    }
    revision = step.to;
  }
  return {};
}

Status add_row(std::string_view bytes, const std::vector<std::int64_t>* applied, Unfolded& unfolded,
               const std::function<void(std::int64_t, CursorStep&&)>& step) {
  unfolded.journal_bytes += bytes.size();
  return read_row(bytes, [&](std::uint64_t from, Changes&& changes) -> Status {
    auto& cursor = changes.cursors.front();
    if (applied != nullptr && !std::binary_search(applied->begin(), applied->end(), cursor.node)) return {};
    step(cursor.node, {from, cursor.revision, cursor.is_patch, std::move(cursor.bytes)});
    unfolded.add(std::move(changes), 0);
    return {};
  });
}

Turn::Hold::Hold(Turn& turn, Milliseconds limit) : turn_(turn) {
  std::unique_lock lock(turn.mutex_);
  held_ = turn.free_.wait_for(lock, limit, [&turn] { return !turn.taken_; });
  if (held_) turn.taken_ = true;
}

void Turn::Hold::unlock() {
  if (!std::exchange(held_, false)) return;
  {
    const std::lock_guard lock(turn_.mutex_);
    turn_.taken_ = false;
  }
  turn_.free_.notify_one();
}

void Image::clear() {
  unfolded_ = {};
  steps_.clear();
  keys_.clear();
  recent_.clear();
  generation_ = -1;
  low_ = 0;
}

const std::vector<CursorStep>* Image::steps(std::int64_t node) const {
  const auto found = steps_.find(node);
  return found == steps_.end() ? nullptr : &found->second;
}

Status Image::sync(Connection& db) {
  while (true) {
    Array known(Array::Of::integers);
    for (const auto& [xid, seq] : recent_) known.add(seq);
    Params params;
    params.text(std::to_string(low_)).add(std::move(known)).add(kBytesAPortion).add(generation_);
    TW_TRY(const auto rows, db.query(kNewRows, params));
    if (rows.size() == 0)
      return fail(ErrorCode::corrupt, "the ledger's own row is gone", "restore the latest backup");
    if (rows.integer(0, 0) != generation_) {
      clear();
      generation_ = rows.integer(0, 0);
      continue;
    }
    if (rows.null(0, 2)) {  // there is none that is new
      low_ = rows.integer(0, 1);
      std::erase_if(recent_, [this](const auto& row) { return row.first < low_; });
      break;
    }
    for (int i = 0; i < rows.size(); ++i) {
      if (auto taken = take(rows, i); !taken) {
        clear();
        return taken;
      }
    }
  }
  return name_accounts(db);
}

Status Image::take(const Rows& rows, int row) {
  recent_.emplace_back(rows.integer(row, 3), rows.integer(row, 2));
  const bool partial = !rows.null(row, 4);
  const auto applied = partial ? rows.integers(row, 4) : std::vector<std::int64_t>{};
  const std::lock_guard lock(nodes_.mutex);
  return add_row(rows.text(row, 5), partial ? &applied : nullptr, unfolded_,
                 [this](std::int64_t node, CursorStep&& step) {
                   nodes_.step(node, step);
                   auto& steps = steps_[node];
                   if (!step.is_patch) steps.clear();
                   steps.push_back(std::move(step));
                 });
}

Status Image::name_accounts(Connection& db) {
  for (int round = 0; round < 3; ++round) {
    if (keys_.size() == unfolded_.accounts.size()) return {};
    std::vector<std::int64_t> missing;
    for (auto& [pk, account] : unfolded_.accounts) {
      if (account.key != nullptr) continue;
      auto known = accounts_.find(pk);
      if (!known) {
        missing.push_back(pk);
        continue;
      }
      account.key = &known->key;
      keys_[pk] = std::move(known);
    }
    if (missing.empty()) return {};
    TW_TRY_STATUS(accounts_.load(db, missing));
  }
  return fail(ErrorCode::unavailable, "account names are forgotten as fast as they are read", "try again");
}

}  // namespace tidewatt::store::pg
