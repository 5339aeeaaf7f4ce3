// The journal folded into the tables, in one transaction that also empties it.
#pragma once

#include <cstdint>

#include "db.h"
#include "state.h"
#include "tidewatt/base/result.h"

namespace tidewatt::store {

/// For the writer thread only. On failure nothing has changed, and the journal still holds everything.
/// @param now  dates adjustments
Status checkpoint(Database& db, State& state, UtcTime now);

/// At start: until when months are sealed.
Status load_frozen(Database& db, State& state);

/// At start: nodes from the tables. Accounts and curves stay on disk.
Status load_nodes(Database& db, State& state);

}  // namespace tidewatt::store
