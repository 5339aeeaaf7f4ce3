// UTC instants and ranges in milliseconds. Local time exists only for display and tariffs, elsewhere.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace tidewatt {

using Milliseconds = std::chrono::milliseconds;
using UtcTime = std::chrono::sys_time<std::chrono::milliseconds>;
using UtcHour = std::chrono::sys_time<std::chrono::hours>;
/// A monotonic clock's reading; its zero means nothing.
using SteadyTime = std::chrono::time_point<std::chrono::steady_clock, std::chrono::milliseconds>;

/// Half-open [begin, end).
struct UtcRange {
  UtcTime begin;
  UtcTime end;
  [[nodiscard]] constexpr Milliseconds length() const { return end - begin; }
  friend constexpr bool operator==(UtcRange, UtcRange) = default;
};

/// RFC 3339 with 'Z' or a numeric offset, fraction of any length (cut to ms). nullopt for anything else,
/// for years outside 1970-9999 and for dates that don't exist.
std::optional<UtcTime> parse_rfc3339(std::string_view text);
/// "2026-11-29T08:00:20.000Z": always UTC, always milliseconds.
std::string format_rfc3339(UtcTime at);
/// Like format_rfc3339, without a fraction when it is zero: "2026-11-29T08:00:00Z".
std::string format_rfc3339_short(UtcTime at);

constexpr UtcHour hour_of(UtcTime at) { return std::chrono::floor<std::chrono::hours>(at); }
constexpr UtcTime start_of(UtcHour hour) { return UtcTime{hour}; }

/// "24h", "7d", "90s", "5m", "250ms", "2w": a positive whole number and a unit. nullopt for anything else or
/// beyond 100 years.
std::optional<Milliseconds> parse_duration(std::string_view text);

}  // namespace tidewatt
