// Which value decisions use now, when providers fail one after the other. Rules in words:
// docs/method/signals.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tidewatt/carbon/forecast.h"
#include "tidewatt/carbon/signal_book.h"

namespace tidewatt::carbon {

/// From best to worst; each later step is used only where the ones before give nothing.
enum class ChainStep {
  latest,           ///< the value of the slot that holds now
  cached_forecast,  ///< the last forecast of a provider that covers now
  own_forecast,     ///< our forecast from the zone's own history
  profile,          ///< the mean of this hour of day over the last 7 known days
  off,              ///< nothing: carbon awareness is off for this zone
};
std::string_view to_string(ChainStep step);

struct ChainDecision {
  ChainStep step = ChainStep::off;
  std::optional<StoredPoint> value;  ///< nullopt with `off`
  std::optional<Milliseconds> age;   ///< since what it rests on was fetched, or was last known
  std::string degraded_reason;       ///< empty = all is well
  std::optional<StoredPoint> stale;  ///< for display only: the last value, its slot over, up to the TTL
};

/// @param own      may be null; its points that hold `now` are used
/// @param failure  what keeps the providers from answering, for the reason; empty = nothing does
/// @param ttl      how long a value may be shown as stale, and a forecast counts as fresh
ChainDecision decide(const SignalBook& book, const Forecast* own, UtcTime now, Milliseconds ttl,
                     std::string_view failure);

/// When a zone wants to be fetched again: at the end of the slot that holds now, at most a TTL away; after a
/// minute when no slot holds now.
UtcTime next_fetch(const SignalBook& book, UtcTime now, Milliseconds ttl);

}  // namespace tidewatt::carbon
