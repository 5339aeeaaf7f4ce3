// Closed months in the tables.
#pragma once

#include <vector>

#include "db.h"
#include "tidewatt/base/result.h"
#include "tidewatt/ledger/seal.h"

namespace tidewatt::store {

/// Hours before are sealed; kNothingFrozen = none.
Result<UtcHour> frozen_until(Database& db);
Result<std::vector<ledger::Seal>> read_seals(Database& db);
/// A seal without a hash; in a transaction, with an empty journal.
/// @return false = it was there already. @error conflict  not the month after the last one
Result<bool> insert_seal(Database& db, ledger::Month month, UtcTime at);
/// false = it has a hash, or there is no such seal; in a transaction.
Result<bool> finish_seal(Database& db, const ledger::Seal& seal);

}  // namespace tidewatt::store
