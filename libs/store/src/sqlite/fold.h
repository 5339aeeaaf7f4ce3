// Accruals of one commit, compared with the cursors and folded into one set of changes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../journal/changes.h"
#include "db.h"
#include "indexes.h"
#include "state.h"
#include "tidewatt/ledger/store.h"

namespace tidewatt::store {

/// The writer thread's. begin(), decide() and add() for each call's accruals, finish(); then State::apply()
/// or abandon().
class Fold {
 public:
  Fold(State& state, AccountIndex& accounts, NameIndex& names, Database& db)
      : state_(state), accounts_(accounts), names_(names), db_(db) {}

  void begin();
  /// Compares and marks; takes the state's lock.
  std::vector<ledger::AccrueOutcome> decide(std::span<const ledger::Accrual> accruals);
  /// Folds those that decide() let through. The accruals must live until apply() or abandon().
  Status finish();
  [[nodiscard]] const Changes& changes() const { return changes_; }
  /// Committed: what State::apply() shall have; its buffers stay here for the next commit.
  Changes&& take_changes() { return std::move(changes_); }
  /// The commit failed: nothing of it ever was. Takes the state's lock.
  void abandon();

 private:
  struct Chosen {
    NodeState* node;
    const ledger::Accrual* accrual;
  };
  void add(const ledger::AccountDelta& delta, AccountIndex::Entry& entry);
  Status add(const Chosen& chosen);
  void add_cursor(NodeState& node);

  State& state_;
  AccountIndex& accounts_;
  NameIndex& names_;
  Database& db_;
  std::uint64_t commit_ = 0;
  std::vector<Chosen> chosen_;
  std::vector<NodeState*> moved_;
  Changes changes_;
};

}  // namespace tidewatt::store
