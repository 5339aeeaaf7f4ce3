#include "shown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tidewatt/units/text.h"

namespace tidewatt::reports {
namespace {

constexpr double kPercent = 100;

std::string grouped(std::string digits) {
  const auto end = std::min(digits.find('.'), digits.size());
  const std::size_t begin = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = end; at > begin + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

}  // namespace

std::string shown(double value) {
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size < 1e-6) return value < 0 ? "-<0.000001" : "<0.000001";
  const int digits = std::max(0, 2 - static_cast<int>(std::floor(std::log10(size))));
  return grouped(fmt::format("{:.{}f}", value, std::min(digits, 8)));
}

std::string shown_whole(double value) {
  constexpr double kPlain = 1e15;
  return std::abs(value) < kPlain && value == std::floor(value) ? grouped(fmt::format("{:.0f}", value))
                                                                : format_double(value);
}

std::string shown(const std::optional<double>& value) {
  return value ? shown(*value) : std::string{kUnknown};
}
std::string shown(const Figure& figure) { return shown(figure.value); }

std::string shown_percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f}%", *share * kPercent) : std::string{kUnknown};
}

std::string day_text(UtcHour day) { return format_rfc3339_short(start_of(day)).substr(0, 10); }

}  // namespace tidewatt::reports
