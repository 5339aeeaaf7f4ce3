#pragma once

#include <optional>
#include <string>

#include "core.h"

namespace tidewatt::api {

/// What a power emits now by its zone's hourly signal: a second method beside the annual factor, never added
/// to it. Only an average series makes grams; a marginal one is shown and serves decisions.
/// @param power  nullopt = not known, or not the caller's to see
/// @return null where the zone has no chain
Json hourly_signal_now(const Core& core, const std::string& zone, std::optional<Watts> power);

}  // namespace tidewatt::api
