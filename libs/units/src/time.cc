#include "tidewatt/units/time.h"

#include <fmt/format.h>

#include <cstdint>

#include "tidewatt/units/text.h"

namespace tidewatt {
namespace {

/// Reads exactly `digits` decimal digits at the front of `text` and removes them.
std::optional<int> take_digits(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const char c = text[i];
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

/// Fraction of a second, cut to milliseconds; text stands behind the '.'.
std::optional<int> take_millis(std::string_view& text) {
  int millis = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits)
    if (digits < 3) millis = millis * 10 + (text[digits] - '0');
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  for (std::size_t i = digits; i < 3; ++i) millis *= 10;
  return millis;
}

std::optional<std::chrono::minutes> take_offset(std::string_view& text) {
  if (take(text, 'Z') || take(text, 'z')) return std::chrono::minutes{0};
  const bool minus = !text.empty() && text.front() == '-';
  if (!minus && (text.empty() || text.front() != '+')) return std::nullopt;
  text.remove_prefix(1);
  const auto hours = take_digits(text, 2);
  if (!hours || !take(text, ':')) return std::nullopt;
  const auto minutes = take_digits(text, 2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const std::chrono::minutes offset{*hours * 60 + *minutes};
  return minus ? -offset : offset;
}

}  // namespace

std::optional<UtcTime> parse_rfc3339(std::string_view text) {
  using namespace std::chrono;
  const auto y = take_digits(text, 4);
  if (!y || !take(text, '-')) return std::nullopt;
  const auto mo = take_digits(text, 2);
  if (!mo || !take(text, '-')) return std::nullopt;
  const auto d = take_digits(text, 2);
  if (!d || !(take(text, 'T') || take(text, 't') || take(text, ' '))) return std::nullopt;
  const auto h = take_digits(text, 2);
  if (!h || !take(text, ':')) return std::nullopt;
  const auto mi = take_digits(text, 2);
  if (!mi || !take(text, ':')) return std::nullopt;
  const auto s = take_digits(text, 2);
  if (!s) return std::nullopt;
  int millis = 0;
  if (take(text, '.')) {
    const auto fraction = take_millis(text);
    if (!fraction) return std::nullopt;
    millis = *fraction;
  }
  const auto offset = take_offset(text);
  if (!offset || !text.empty()) return std::nullopt;

  const year_month_day date{year{*y}, month{static_cast<unsigned>(*mo)}, day{static_cast<unsigned>(*d)}};
  // 60 is a leap second; UTC without leap seconds has no place for it but the next minute's start.
  if (!date.ok() || *y < 1970 || *h > 23 || *mi > 59 || *s > 60) return std::nullopt;
  const UtcTime at = sys_days{date} + hours{*h} + minutes{*mi} + seconds{*s} + milliseconds{millis} - *offset;
  if (at < UtcTime{}) return std::nullopt;
  return at;
}

std::string format_rfc3339(UtcTime at) {
  using namespace std::chrono;
  const auto day = floor<days>(at);
  const year_month_day date{day};
  const hh_mm_ss time{at - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count(),
                     time.subseconds().count());
}

std::string format_rfc3339_short(UtcTime at) {
  std::string text = format_rfc3339(at);
  if (text.ends_with(".000Z")) text.replace(text.size() - 5, 5, "Z");
  return text;
}

std::optional<Milliseconds> parse_duration(std::string_view text) {
  const auto unit_at = text.find_first_not_of("0123456789");
  if (unit_at == std::string_view::npos || unit_at == 0) return std::nullopt;
  const auto count = parse_int64(text.substr(0, unit_at));
  if (!count || *count <= 0) return std::nullopt;
  const auto unit = text.substr(unit_at);
  std::int64_t ms = 0;
  if (unit == "ms")
    ms = 1;
  else if (unit == "s")
    ms = 1000;
  else if (unit == "m" || unit == "min")
    ms = 60'000;
  else if (unit == "h")
    ms = 3'600'000;
  else if (unit == "d")
    ms = 86'400'000;
  else if (unit == "w")
    ms = 7 * std::int64_t{86'400'000};
  else
    return std::nullopt;
  constexpr std::int64_t kHundredYears = std::int64_t{36'525} * 86'400'000;
  if (*count > kHundredYears / ms) return std::nullopt;
  return Milliseconds{*count * ms};
}

}  // namespace tidewatt
