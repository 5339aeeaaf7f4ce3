// A ledger store in memory: for tests and offline replay. Nothing outlives it.
#pragma once

#include <memory>

#include "tidewatt/ledger/store.h"

namespace tidewatt::store {

/// Empty, thread-safe; its calls never fail.
std::unique_ptr<ledger::Store> make_memory_store();

}  // namespace tidewatt::store
