// The integers that budgets and prices are kept in, and the months they belong to.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tidewatt/units/time.h"

namespace tidewatt::market {

__extension__ using Wide = __int128;

/// Carbon in micrograms of CO2e; an int64 holds 9.2 million tonnes.
struct Micrograms {
  std::int64_t n = 0;
  friend constexpr auto operator<=>(Micrograms, Micrograms) = default;
  friend constexpr Micrograms operator+(Micrograms a, Micrograms b) { return {a.n + b.n}; }
  friend constexpr Micrograms operator-(Micrograms a, Micrograms b) { return {a.n - b.n}; }
};

/// Millionths of the operator's currency.
struct MicroMoney {
  std::int64_t n = 0;
  friend constexpr auto operator<=>(MicroMoney, MicroMoney) = default;
  friend constexpr MicroMoney operator+(MicroMoney a, MicroMoney b) { return {a.n + b.n}; }
  friend constexpr MicroMoney operator-(MicroMoney a, MicroMoney b) { return {a.n - b.n}; }
};

inline constexpr std::int64_t kMicrogramsAKg = 1'000'000'000;
inline constexpr std::int64_t kMicroAUnit = 1'000'000;
/// Any one amount: 100,000 t; 100 thousand million of money; a million a kg.
inline constexpr Micrograms kMostCarbon{100'000'000'000'000'000};
inline constexpr MicroMoney kMostMoney{100'000'000'000'000'000};
inline constexpr MicroMoney kHighestPrice{1'000'000'000'000};
/// Any one balance, either way.
inline constexpr std::int64_t kFullest = 4'000'000'000'000'000'000;

/// What an amount costs at a price a kg, rounded down (what is paid) or up (what is locked, so that it always
/// suffices). nullopt = more than kMostMoney.
std::optional<MicroMoney> cost_down(Micrograms amount, MicroMoney price_per_kg);
std::optional<MicroMoney> cost_up(Micrograms amount, MicroMoney price_per_kg);

/// Rounded half to even. nullopt when not finite or beyond kMostCarbon either way.
std::optional<Micrograms> micrograms_of_kg(double kg);
double kg_of(Micrograms amount);

/// A calendar month in UTC.
struct Period {
  std::int64_t n = 0;  ///< months since January 1970
  [[nodiscard]] UtcTime begin() const;
  [[nodiscard]] UtcTime end() const { return Period{n + 1}.begin(); }
  [[nodiscard]] Period next() const { return {n + 1}; }
  friend constexpr auto operator<=>(Period, Period) = default;
};
Period period_of(UtcTime at);
/// "2026-11"
std::string to_string(Period period);
std::optional<Period> parse_period(std::string_view text);

}  // namespace tidewatt::market
