#include "tidewatt/market/amounts.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "tidewatt/units/text.h"

namespace tidewatt::market {
namespace {

constexpr std::int64_t kMonthsAYear = 12;
constexpr std::int64_t kFirstYear = 1970;
constexpr std::int64_t kLastYear = 9999;

std::chrono::sys_days first_day(Period period) {
  const auto year = kFirstYear + period.n / kMonthsAYear;
  return std::chrono::year{static_cast<int>(year)} /
         std::chrono::month{static_cast<unsigned>(period.n % kMonthsAYear) + 1} / std::chrono::day{1};
}

std::optional<MicroMoney> cost_of(Micrograms amount, MicroMoney price, std::int64_t round) {
  const auto cost = (Wide{amount.n} * price.n + round) / kMicrogramsAKg;
  if (cost > kMostMoney.n) return std::nullopt;
  return MicroMoney{static_cast<std::int64_t>(cost)};
}

}  // namespace

std::optional<MicroMoney> cost_down(Micrograms amount, MicroMoney price_per_kg) {
  return cost_of(amount, price_per_kg, 0);
}
std::optional<MicroMoney> cost_up(Micrograms amount, MicroMoney price_per_kg) {
  return cost_of(amount, price_per_kg, kMicrogramsAKg - 1);
}

std::optional<Micrograms> micrograms_of_kg(double kg) {
  const auto scaled = std::nearbyint(kg * static_cast<double>(kMicrogramsAKg));
  if (!std::isfinite(scaled) || std::abs(scaled) > static_cast<double>(kMostCarbon.n)) return std::nullopt;
  return Micrograms{static_cast<std::int64_t>(scaled)};
}

double kg_of(Micrograms amount) {
  return static_cast<double>(amount.n) / static_cast<double>(kMicrogramsAKg);
}

UtcTime Period::begin() const { return first_day(*this); }

Period period_of(UtcTime at) {
  const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(at)};
  return {(static_cast<int>(day.year()) - kFirstYear) * kMonthsAYear + static_cast<unsigned>(day.month()) -
          1};
}

std::string to_string(Period period) {
  return fmt::format("{:04}-{:02}", kFirstYear + period.n / kMonthsAYear, period.n % kMonthsAYear + 1);
}

std::optional<Period> parse_period(std::string_view text) {
  if (text.size() != 7 || text[4] != '-') return std::nullopt;
  const auto year = parse_uint64(text.substr(0, 4));
  const auto month = parse_uint64(text.substr(5));
  if (!year || !month || *year < kFirstYear || *year > kLastYear || *month < 1 || *month > kMonthsAYear)
    return std::nullopt;
  return Period{(static_cast<std::int64_t>(*year) - kFirstYear) * kMonthsAYear +
                static_cast<std::int64_t>(*month) - 1};
}

}  // namespace tidewatt::market
