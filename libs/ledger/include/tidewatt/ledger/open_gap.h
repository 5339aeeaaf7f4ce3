// The gap of the present. A gap is booked by the sample that ends it; until that comes, the time since the
// last one is missing all the same, and whoever reads a coverage must be told. A matter of reading: nothing
// of it is stored. In words: docs/method/ledger.md#the-gap-of-the-present.
#pragma once

#include <optional>
#include <vector>

#include "tidewatt/ledger/account.h"
#include "tidewatt/units/time.h"

namespace tidewatt::ledger {

/// A node or device without a sample for so long is taken for gone for good: nothing is expected of it any
/// more, and its time ends with its last sample.
inline constexpr Milliseconds kRetireAfter{std::chrono::hours{7 * 24}};

struct OpenGapRule {
  UtcTime now;
  /// A sample that comes no later than this after the one before may still cover all the time between.
  Milliseconds patience;
};

/// The part of `window` behind the last sample of a holder that is still expected.
/// @param ended_at  when the holder ended (a finished task), nullopt = it goes on
/// @return nullopt while patience isn't over, for what is gone, and where nothing of it lies in the window
std::optional<UtcRange> open_gap(UtcTime last_sample_at, std::optional<UtcTime> ended_at, UtcRange window,
                                 const OpenGapRule& rule);

/// An account's open gap. A task on several silent nodes has one for each: its seconds are node-seconds.
struct OpenGap {
  AccountKey key;
  UtcRange range;
  UtcTime last_sample_at{};  ///< what it is open since; before range.begin where that is the window's
};

/// Adds open gaps to accounts as read; one that has no row in the range is added with its gap alone.
/// @param accounts  sorted by key, as stores give them; stay so
void add_open_gaps(std::vector<Account>& accounts, const std::vector<OpenGap>& gaps);
/// The same for hourly rows; sorted by key, then hour.
void add_open_gaps(std::vector<HourlyRow>& rows, const std::vector<OpenGap>& gaps);

}  // namespace tidewatt::ledger
