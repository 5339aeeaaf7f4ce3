#include "state.h"

#include <algorithm>

#include "../journal/cursor_patch.h"

namespace tidewatt::store {

NodeState* State::find(const ledger::NodeKey& key) {
  const auto found = nodes_.find(key);
  return found == nodes_.end() ? nullptr : found->second.get();
}

NodeState& State::node(const ledger::NodeKey& key) {
  if (auto* found = find(key)) return *found;
  return add(last_pk_ + 1, key);
}

NodeState& State::add(std::int64_t pk, const ledger::NodeKey& key) {
  const auto [found, is_new] = nodes_.try_emplace(key);
  auto& place = found->second;
  if (is_new) place = std::make_unique<NodeState>();
  place->key = &found->first;
  place->pk = pk;
  by_pk_[pk] = place.get();
  last_pk_ = std::max(last_pk_, pk);
  return *place;
}

Result<ledger::VersionedCursor> State::cursor_of(NodeState& node) {
  if (!node.cursor && node.encoded.empty()) return ledger::VersionedCursor{.revision = node.revision};
  if (!node.cursor) {
    TW_TRY(auto decoded, ledger::decode_cursor(node.encoded));
    node.cursor = std::make_shared<const ledger::NodeCursor>(std::move(decoded));
  }
  return ledger::VersionedCursor{node.revision, node.cursor};
}

Status State::apply(Changes&& changes, std::size_t journal_bytes) {
  for (const auto& fresh : changes.nodes) {
    auto& state = add(fresh.pk, fresh.key);
    state.recorded = true;
  }
  for (const auto& change : changes.cursors) {
    const auto found = by_pk_.find(change.node);
    if (found == by_pk_.end())
      return fail(ErrorCode::corrupt,
                  "the journal names node number " + std::to_string(change.node) + ", which doesn't exist",
                  "restore the latest backup");
    auto& state = *found->second;
    state.revision = change.revision;
    state.cursor_unfolded = true;
    if (state.next != nullptr) {
      state.encoded.swap(state.next_encoded);
      state.cursor = std::move(state.next);
    } else {
      if (change.is_patch) {
        TW_TRY(state.encoded, patched(state.encoded, change.bytes));
      } else {
        state.encoded = change.bytes;
      }
      state.cursor.reset();
    }
    state.next = nullptr;
  }
  unfolded.add(std::move(changes), journal_bytes);
  return {};
}

}  // namespace tidewatt::store
