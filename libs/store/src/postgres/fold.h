// The journal folded into the tables, in one transaction that also takes its rows away. One server at a time,
// by an advisory lock that ends with the transaction.
#pragma once

#include <cstddef>
#include <cstdint>

#include "connection.h"

namespace tidewatt::store::pg {

enum class FoldMode {
  try_now,  ///< somebody else folds: leave it to them
  wait,     ///< fold after them
};

/// On failure nothing has changed, and the journal still holds everything.
/// @return false when somebody else folds
Result<bool> fold_journal(Connection& db, FoldMode mode);

/// One fold in the caller's transaction, which holds the folds' lock.
/// @return false when the journal holds more than one fold takes
Result<bool> fold_rows(Connection& db);

struct JournalSize {
  std::size_t rows = 0;
  std::size_t bytes = 0;
  Milliseconds oldest{0};  ///< the oldest row's age
};
Result<JournalSize> journal_size(Connection& db);

}  // namespace tidewatt::store::pg
