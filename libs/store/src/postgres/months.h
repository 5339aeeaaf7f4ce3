// Closed months in the tables.
#pragma once

#include <vector>

#include "connection.h"
#include "tidewatt/base/result.h"
#include "tidewatt/ledger/seal.h"

namespace tidewatt::store::pg {

/// Hours before are sealed; kNothingFrozen = none. Of the transaction's snapshot.
Result<UtcHour> frozen_until(Connection& db);
Result<std::vector<ledger::Seal>> read_seals(Connection& db);
/// Folds what the journal holds, then freezes the month, in one transaction under the folds' lock: rows are
/// either in the month's hours before, or become adjustments after. Nothing changes where it is frozen
/// already.
Status close_month(Connection& db, ledger::Month month, UtcTime at);
/// false = it has a hash, or there is no such seal.
Result<bool> finish_seal(Connection& db, const ledger::Seal& seal);

}  // namespace tidewatt::store::pg
