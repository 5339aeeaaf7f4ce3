// The integers that are booked: milliwatts, microjoules, and 128-bit sums of microjoules.
// 1 mW x 1 ms = 1 uJ exactly, so splitting an interval never changes a total (docs/adr/0001).
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/units/quantity.h"

namespace tidewatt {

/// Power, quantised once at ingest.
struct Milliwatts {
  std::int64_t n = 0;
  friend constexpr auto operator<=>(Milliwatts, Milliwatts) = default;
};

/// Energy of one row or one interval, in microjoules; an int64 holds 2,562 MWh.
struct Microjoules {
  std::int64_t n = 0;
  friend constexpr auto operator<=>(Microjoules, Microjoules) = default;
  friend constexpr Microjoules operator+(Microjoules a, Microjoules b) { return {a.n + b.n}; }
  friend constexpr Microjoules operator-(Microjoules a, Microjoules b) { return {a.n - b.n}; }
  constexpr Microjoules& operator+=(Microjoules b) {
    n += b.n;
    return *this;
  }
};

/// A sum over rows, in microjoules, 128 bits wide: no sum of int64 rows can overflow it in practice.
class WideMicrojoules {
 public:
  __extension__ using Int = __int128;
  constexpr WideMicrojoules() = default;
  constexpr explicit WideMicrojoules(Microjoules e) : n_(e.n) {}
  static constexpr WideMicrojoules from_raw(Int n) {
    WideMicrojoules w;
    w.n_ = n;
    return w;
  }
  /// Parses an optional '-' and decimal digits only; nullopt for anything else or beyond 128 bits.
  static std::optional<WideMicrojoules> parse(std::string_view text);

  [[nodiscard]] constexpr Int raw() const { return n_; }
  [[nodiscard]] std::string to_string() const;
  /// For display and carbon only; exactness ends here.
  [[nodiscard]] Joules to_joules() const;
  [[nodiscard]] WattHours to_watt_hours() const;

  friend constexpr WideMicrojoules operator+(WideMicrojoules a, WideMicrojoules b) {
    return from_raw(a.n_ + b.n_);
  }
  friend constexpr WideMicrojoules operator-(WideMicrojoules a, WideMicrojoules b) {
    return from_raw(a.n_ - b.n_);
  }
  constexpr WideMicrojoules& operator+=(WideMicrojoules b) {
    n_ += b.n_;
    return *this;
  }
  constexpr WideMicrojoules& operator+=(Microjoules b) {
    n_ += b.n;
    return *this;
  }
  friend constexpr bool operator==(WideMicrojoules a, WideMicrojoules b) { return a.n_ == b.n_; }
  friend constexpr std::strong_ordering operator<=>(WideMicrojoules a, WideMicrojoules b) {
    return a.n_ < b.n_   ? std::strong_ordering::less
           : a.n_ > b.n_ ? std::strong_ordering::greater
                         : std::strong_ordering::equal;
  }

 private:
  Int n_ = 0;
};

/// Rounds to 1 mW, half to even. nullopt when not finite, negative or beyond 1 GW (no device draws that).
std::optional<Milliwatts> quantise(Watts power);
/// Rounds a cumulative counter to 1 uJ, half to even. nullopt when not finite, negative or beyond int64.
std::optional<Microjoules> quantise(Joules counter);

/// Exact energy of a constant power over a duration. nullopt when it doesn't fit (power x time > 2,562 MWh).
std::optional<Microjoules> energy_of(Milliwatts power, std::chrono::milliseconds duration);

Watts to_watts(Milliwatts power);
Joules to_joules(Microjoules energy);
WattHours to_watt_hours(Microjoules energy);

/// Splits a non-negative amount by integer weights so that the parts add up to it exactly (largest remainder;
/// ties go to the earlier part). A weight sum of 0 splits equally. Empty weights give an empty result.
/// @param weights non-negative, their sum below 2^63
std::vector<std::int64_t> split_exactly(std::int64_t amount, std::span<const std::int64_t> weights);

}  // namespace tidewatt
