// Sums as people read them: what the ledger booked, and the gap of the present beside it. Of whom a sample is
// still expected is decided here; for how long, by tidewatt/ledger/open_gap.h.
#pragma once

#include <vector>

#include "core.h"
#include "tidewatt/ledger/open_gap.h"

namespace tidewatt::api {

struct Reading {
  std::vector<ledger::Account> accounts;  ///< Store::sums, open gaps added
  std::vector<ledger::OpenGap> open;      ///< what was added
};

/// @param filter  with a scope; no ids = all
Result<Reading> read_sums(Core& core, const ledger::AccountFilter& filter, const TimeRange& range);

}  // namespace tidewatt::api
