#include "semantics.h"

#include <fmt/format.h>

namespace tidewatt::store {

Error row_too_wide(const ledger::AccountKey& key, UtcHour hour) {
  return Error{ErrorCode::corrupt,
               fmt::format("{} {}/{} {}: hour {} holds more than 2,562 MWh", ledger::to_string(key.scope),
                           key.cluster, key.id, key.domain, format_rfc3339_short(start_of(hour))),
               "sums are still exact; look for a device that reports impossible power"};
}

}  // namespace tidewatt::store
