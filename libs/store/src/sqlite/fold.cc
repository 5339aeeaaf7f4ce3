#include "fold.h"

#include <optional>
#include <utility>

#include "../curve_codec.h"
#include "../journal/cursor_patch.h"
#include "../semantics.h"

namespace tidewatt::store {

using ledger::AccrueOutcome;

namespace {

/// Of one node: a beat of eight devices and as many tasks names 25 accounts.
constexpr std::size_t kMostHints = 256;

}  // namespace

void Fold::begin() {
  ++commit_;
  chosen_.clear();
  moved_.clear();
  changes_.clear();
}

std::vector<AccrueOutcome> Fold::decide(std::span<const ledger::Accrual> accruals) {
  std::vector<AccrueOutcome> outcomes;
  outcomes.reserve(accruals.size());
  const std::lock_guard lock(state_.mutex);
  for (const auto& accrual : accruals) {
    auto* node = state_.find(accrual.node);
    const bool moved_already = node != nullptr && node->commit == commit_;
    const auto revision = node == nullptr ? 0 : moved_already ? node->next_revision : node->revision;
    if (revision != accrual.expected_revision) {
      outcomes.push_back(AccrueOutcome::conflict);
      continue;
    }
    if (node == nullptr) node = &state_.node(accrual.node);
    if (!moved_already) {
      node->commit = commit_;
      moved_.push_back(node);
    }
    node->next_revision = revision + 1;
    node->next = accrual.next;
    chosen_.push_back({node, &accrual});
    outcomes.push_back(AccrueOutcome::applied);
  }
  return outcomes;
}

Status Fold::finish() {
  for (const auto& chosen : chosen_) TW_TRY_STATUS(add(chosen));
  for (auto* node : moved_) add_cursor(*node);
  return {};
}

Status Fold::add(const Chosen& chosen) {
  // Beat after beat names the same accounts in the same order.
  auto& hints = chosen.node->hints;
  if (chosen.node->hints_generation != accounts_.generation()) hints.clear();
  const auto& deltas = chosen.accrual->deltas;
  for (std::size_t i = 0; i < deltas.size(); ++i) {
    if (i >= kMostHints) {  // many beats at once after an outage
      TW_TRY(auto* const entry, accounts_.find_or_add(db_, deltas[i].key, changes_.accounts));
      add(deltas[i], *entry);
      continue;
    }
    if (i >= hints.size()) hints.push_back(nullptr);
    if (hints[i] == nullptr || *hints[i]->key != deltas[i].key) {
      TW_TRY(hints[i], accounts_.find_or_add(db_, deltas[i].key, changes_.accounts));
    }
    add(deltas[i], *hints[i]);
  }
  chosen.node->hints_generation = accounts_.generation();
  std::optional<Error> failed;
  const NameToId id_of = [&](std::string_view name) -> std::int64_t {
    const auto id = names_.find_or_add(db_, name, changes_.names);
    if (!id) failed = id.error();
    return id.value_or(0);
  };
  for (const auto& point : chosen.accrual->curve) {
    auto& change = changes_.points.emplace_back(PointChange{chosen.node->pk, point.at, {}});
    encode_point(point, id_of, change.bytes);
  }
  if (failed) return tl::unexpected(std::move(*failed));
  return {};
}

void Fold::add(const ledger::AccountDelta& delta, AccountIndex::Entry& entry) {
  if (entry.commit != commit_) {
    entry.commit = commit_;
    entry.touched = changes_.touched.size();
    entry.row_hour = UtcHour::max();
    changes_.touched.push_back({entry.pk, entry.key, {}, {}});
  }
  auto& touched = changes_.touched[entry.touched];
  widen(touched.first_sample_at, touched.last_sample_at, delta.first_sample_at, delta.last_sample_at);
  for (const auto& row : delta.hours) {
    // Beats of one commit nearly always share the hour; where they don't, one row more does no harm.
    if (entry.row_hour == row.hour && add_unless_overflow(changes_.rows[entry.row].measures, row.measures))
      continue;
    entry.row_hour = row.hour;
    entry.row = changes_.rows.size();
    changes_.rows.push_back({entry.touched, row.hour, row.measures});
  }
}

void Fold::add_cursor(NodeState& node) {
  if (!node.recorded) changes_.nodes.push_back({node.pk, *node.key});
  node.next_encoded = ledger::encode(*node.next);
  CursorChange change{node.pk, node.next_revision, {}, false};
  change.is_patch = make_patch(node.encoded, node.next_encoded, change.bytes);
  if (!change.is_patch) change.bytes = node.next_encoded;
  changes_.cursors.push_back(std::move(change));
}

void Fold::abandon() {
  accounts_.forget(changes_.accounts);
  names_.forget(changes_.names);
  const std::lock_guard lock(state_.mutex);
  for (auto* node : moved_) node->next = nullptr;
}

}  // namespace tidewatt::store
