// Sealing months that are over, and checking a ledger against its seals and sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/ledger/image.h"
#include "tidewatt/ledger/seal.h"
#include "tidewatt/ledger/store.h"

namespace tidewatt::ledger {

/// A month is sealed this long after its end: agents' spools are empty by then.
inline constexpr Milliseconds kSealAfter{8LL * 24 * 3600 * 1000};

/// The seal that the month's rows give now.
Result<Seal> compute_seal(ImageSource& source, Month month, const std::string& previous);

/// Seals every month that isn't yet, up to `last`. Several servers may do it at the same time: each month
/// gets one seal. A seal whose hash a crash prevented gets it.
/// @return the seals that were made here
/// @error invalid_input  `last` isn't over at `now`, or nothing was ever booked
Result<std::vector<Seal>> seal_through(Store& store, Month last, UtcTime now);
/// The same for all months that ended kSealAfter ago or earlier; nothing to seal is no error.
Result<std::vector<Seal>> seal_due(Store& store, UtcTime now);

/// What verify() looked at and what doesn't add up.
struct Verification {
  static constexpr std::size_t kMostTold = 100;
  std::int64_t seals = 0;
  std::int64_t accounts = 0;
  std::int64_t rows = 0;
  std::int64_t adjustments = 0;
  WideMicrojoules node_energy{};  ///< lifetime, all domains: a checksum, since meters see the same joules
  /// Lifetime, each joule once: of a node with components these alone, else its whole-machine meter.
  WideMicrojoules nodes_used{};
  std::vector<std::string> mismatches;  ///< a sentence each: what, where, by how much; the first kMostTold
  std::size_t mismatch_count = 0;
  [[nodiscard]] bool ok() const { return mismatch_count == 0; }
};

/// Recomputes every seal and its chain; that devices add up to their nodes, and tasks and unattributed to
/// them too, in every hour and over all time; that hours and adjustments add up to the totals; that team
/// hours are the sums of their rows.
/// @error the ledger can't be read; a mismatch is no error
Result<Verification> verify(ImageSource& source);

}  // namespace tidewatt::ledger
