#include "tidewatt/units/exact.h"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <numeric>

namespace tidewatt {
namespace {

using Int128 = WideMicrojoules::Int;
__extension__ using UInt128 = unsigned __int128;

constexpr double kMicroPerUnit = 1e6;
constexpr double kMostWatts = 1e9;
constexpr double kInt64Limit = 9.2e18;

/// std::nearbyint obeys the rounding mode, whose default is half to even; nobody here changes it.
std::int64_t round_half_even(double value) { return static_cast<std::int64_t>(std::nearbyint(value)); }

}  // namespace

std::optional<WideMicrojoules> WideMicrojoules::parse(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  const UInt128 limit = (UInt128{1} << 127) - 1;
  UInt128 n = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<unsigned>(c - '0');
    if (n > (limit - digit) / 10) return std::nullopt;
    n = n * 10 + digit;
  }
  const auto value = static_cast<Int>(n);
  return from_raw(negative ? -value : value);
}

std::string WideMicrojoules::to_string() const {
  if (n_ == 0) return "0";
  std::string out;
  UInt128 n = n_ < 0 ? ~static_cast<UInt128>(n_) + 1 : static_cast<UInt128>(n_);
  for (; n > 0; n /= 10) out.push_back(static_cast<char>('0' + static_cast<int>(n % 10)));
  if (n_ < 0) out.push_back('-');
  std::reverse(out.begin(), out.end());
  return out;
}

Joules WideMicrojoules::to_joules() const { return Joules{static_cast<double>(n_) / kMicroPerUnit}; }
WattHours WideMicrojoules::to_watt_hours() const { return tidewatt::to_watt_hours(to_joules()); }

std::optional<Milliwatts> quantise(Watts power) {
  if (!std::isfinite(power.value()) || power.value() < 0 || power.value() > kMostWatts) return std::nullopt;
  return Milliwatts{round_half_even(power.value() * kPerKilo)};
}

std::optional<Microjoules> quantise(Joules counter) {
  const double micro = counter.value() * kMicroPerUnit;
  if (!std::isfinite(micro) || micro < 0 || micro > kInt64Limit) return std::nullopt;
  return Microjoules{round_half_even(micro)};
}

std::optional<Microjoules> energy_of(Milliwatts power, std::chrono::milliseconds duration) {
  const Int128 product = Int128{power.n} * Int128{duration.count()};
  if (product > std::numeric_limits<std::int64_t>::max() || product < 0) return std::nullopt;
  return Microjoules{static_cast<std::int64_t>(product)};
}

Watts to_watts(Milliwatts power) { return Watts{static_cast<double>(power.n) / kPerKilo}; }
Joules to_joules(Microjoules energy) { return Joules{static_cast<double>(energy.n) / kMicroPerUnit}; }
WattHours to_watt_hours(Microjoules energy) { return to_watt_hours(to_joules(energy)); }

std::vector<std::int64_t> split_exactly(std::int64_t amount, std::span<const std::int64_t> weights) {
  const std::size_t count = weights.size();
  std::vector<std::int64_t> parts(count, 0);
  if (count == 0) return parts;
  if (count == 1) {
    parts[0] = amount;
    return parts;
  }
  Int128 total = 0;
  for (const auto w : weights) total += w;
  const bool equal = total == 0;
  if (equal) total = static_cast<Int128>(count);

  std::vector<Int128> remainders(count);
  std::int64_t given = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Int128 product = Int128{amount} * (equal ? 1 : weights[i]);
    parts[i] = static_cast<std::int64_t>(product / total);
    remainders[i] = product % total;
    given += parts[i];
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (std::size_t i = 0; given < amount; ++i, ++given) ++parts[order[i]];
  return parts;
}

}  // namespace tidewatt
