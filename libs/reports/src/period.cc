#include "tidewatt/reports/period.h"

#include "tidewatt/units/text.h"

namespace tidewatt::reports {
namespace {

constexpr std::size_t kYearDigits = 4;
constexpr int kMonthsPerYear = 12;
constexpr int kMonthsPerQuarter = 3;

}  // namespace

Window Period::window() const { return {first.begin(), ledger::Month{first.n + months}.begin()}; }

std::optional<Period> parse_period(std::string_view text) {
  if (const auto month = ledger::parse_month(text)) return Period{std::string{text}, *month, 1};
  if (text.size() < kYearDigits) return std::nullopt;
  const auto january = ledger::parse_month(std::string{text.substr(0, kYearDigits)} + "-01");
  if (!january) return std::nullopt;
  const auto rest = text.substr(kYearDigits);
  if (rest.empty()) return Period{std::string{text}, *january, kMonthsPerYear};
  if (rest.size() != 3 || !rest.starts_with("-Q") || rest[2] < '1' || rest[2] > '4') return std::nullopt;
  return Period{std::string{text}, {january->n + (rest[2] - '1') * kMonthsPerQuarter}, kMonthsPerQuarter};
}

}  // namespace tidewatt::reports
