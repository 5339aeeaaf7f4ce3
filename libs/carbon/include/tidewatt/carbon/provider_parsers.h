// What carbon-intensity providers answer, as points. Pure: text in, values out.
#pragma once

#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/carbon/signal.h"

namespace tidewatt::carbon {

/// Longer answers are refused.
inline constexpr std::size_t kLargestPayload = std::size_t{16} << 20;

/// The names parse_provider_payload knows, in order.
std::vector<std::string_view> known_providers();

/// The points of one answer. Null is skipped with a reason, never 0; what isn't an intensity (a mix, a level,
/// a percentile, an unknown unit) gives no points.
/// @param endpoint the path as in the provider's URL, such as "v3/carbon-intensity/latest?zone=DE"; words
/// after
///   it in parentheses are ignored
/// @param zone the zone asked for, empty if unknown; an answer for another zone is an error
/// @error invalid_input: unknown provider, not the provider's format, an answer for another zone
/// @error unavailable: the provider's own error, on one line
Result<ParsedSignal> parse_provider_payload(std::string_view provider, std::string_view endpoint,
                                            std::string_view zone, std::string_view text);

/// Whether parse_provider_payload failed because the answer is for another zone than the one asked for.
bool is_wrong_zone(const Error& error);

}  // namespace tidewatt::carbon
