#include "image.h"

#include <algorithm>
#include <string>

#include "../journal/cursor_patch.h"
#include "piece.h"

namespace tidewatt::store::pg {
namespace {

// One statement, so that it is one snapshot also outside a transaction. Rows commit out of the order of their
// numbers: what is new is told by their transactions, not by a highest number.
constexpr auto kNewRows =
    "SELECT l.generation, pg_snapshot_xmin(pg_current_snapshot())::text::bigint, j.seq, j.xid::text::bigint, "
    "j.nodes, j.bytes FROM tidewatt_ledger l LEFT JOIN journal j ON l.generation <> $1 OR "
    "(j.xid >= $2::text::xid8 AND j.seq <> ALL($3::bigint[])) ORDER BY j.seq";

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
  Array known(Array::Of::integers);
  for (const auto& [xid, seq] : recent_) known.add(seq);
  Params params;
  params.add(generation_).text(std::to_string(low_)).add(std::move(known));
  TW_TRY(const auto rows, db.query(kNewRows, params));
  if (rows.size() == 0)
    return fail(ErrorCode::corrupt, "the ledger's own row is gone", "restore the latest backup");
  if (rows.integer(0, 0) != generation_) clear();
  generation_ = rows.integer(0, 0);
  low_ = rows.integer(0, 1);
  std::erase_if(recent_, [this](const auto& row) { return row.first < low_; });
  for (int i = 0; i < rows.size(); ++i) {
    if (rows.null(i, 2)) continue;  // there is none that is new
    if (auto taken = take(rows, i); !taken) {
      clear();
      return taken;
    }
  }
  if (auto named = name_accounts(db); !named) {
    clear();
    return named;
  }
  return {};
}

Status Image::take(const Rows& rows, int row) {
  const auto xid = rows.integer(row, 3);
  if (xid >= low_) recent_.emplace_back(xid, rows.integer(row, 2));
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
