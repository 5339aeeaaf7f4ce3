// Where sentinels and impossible values become unknown, with a reason that keeps the raw value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tidewatt/units/quantity.h"

namespace tidewatt::metering {

/// A power, or why there is none.
struct Judged {
  std::optional<Watts> power;
  std::string reason;  ///< empty when power is known
};

/// A card may draw more than its limit for a while; three times the limit it never does.
inline constexpr double kLimitFactor = 3;
/// Without a limit: nothing that is measured here draws a gigawatt.
inline constexpr double kMaxWatts = 1e9;
/// One device, rail or node draws less than a megawatt: "4.29 MW" is 2^32 mW.
inline constexpr double kMaxDeviceWatts = 1e6;

/// Judges a whole device's power. Unknown: not finite, negative, exactly 0 ("printed_zero_implausible"),
/// all-ones patterns of 16, 31, 32, 63 and 64 bits as W, tenths or thousandths of it, above kLimitFactor x
/// limit ("implausible: ..."). Draw above the limit by less is normal and kept.
Judged judge_power(Watts power, std::optional<Watts> limit);

/// Why no device draws this: a sentinel, or more than kLimitFactor x limit. Empty: it may be. What an agent
/// of another make lets through is judged by this once more before it is booked; its 0 W is taken at its
/// word.
std::string why_implausible(Watts power, std::optional<Watts> limit);

/// Judges a raw counter-like value of a driver interface in its own unit.
/// @param watts_per_unit  0.001 for milliwatts, 1e-6 for microwatts
Judged judge_raw_power(std::uint64_t raw, double watts_per_unit, std::optional<Watts> limit);

/// True for the patterns that drivers use for "no value": 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF, 2^63-1,
/// 2^63, 2^64-1.
bool is_blank(std::uint64_t raw);

/// A limit worth keeping: finite, above 0, below kMaxWatts and no sentinel.
std::optional<Watts> judge_limit(Watts limit);

}  // namespace tidewatt::metering
