// The carbon market's journal in a store.
#pragma once

#include <memory>

#include "tidewatt/ledger/store.h"
#include "tidewatt/market/market.h"

namespace tidewatt::store {

/// @param store  outlives it
std::unique_ptr<market::Journal> market_journal(ledger::Store& store);

}  // namespace tidewatt::store
