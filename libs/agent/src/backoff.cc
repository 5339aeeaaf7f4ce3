#include "tidewatt/agent/backoff.h"

#include <algorithm>
#include <array>

#include "tidewatt/units/text.h"

namespace tidewatt::agent {
namespace {

constexpr Milliseconds kLongestRetryAfter = std::chrono::minutes{10};

/// "Sun, 06 Nov 1994 08:49:37 GMT", the one form that is sent today.
std::optional<UtcTime> parse_http_date(std::string_view text) {
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != 29 || !text.ends_with(" GMT")) return std::nullopt;
  const auto day = parse_uint64(text.substr(5, 2));
  const auto month = std::ranges::find(kMonths, text.substr(8, 3));
  if (!day || month == kMonths.end()) return std::nullopt;
  const auto two_digits = [](unsigned n) { return std::string(n < 10 ? "0" : "") + std::to_string(n); };
  const auto month_number = static_cast<unsigned>(month - kMonths.begin()) + 1;
  return parse_rfc3339(std::string(text.substr(12, 4)) + "-" + two_digits(month_number) + "-" +
                       std::string(text.substr(5, 2)) + "T" + std::string(text.substr(17, 8)) + "Z");
}

}  // namespace

Milliseconds BackOff::next(Rng& rng) {
  Milliseconds window = first_;
  for (int i = 0; i < failures_ && window < most_; ++i) window *= 2;
  window = std::min(window, most_);
  ++failures_;
  return Milliseconds{static_cast<std::int64_t>(rng.uniform() * static_cast<double>(window.count()))};
}

std::optional<Milliseconds> parse_retry_after(std::string_view header, UtcTime now) {
  header = trim(header);
  std::optional<Milliseconds> wait;
  if (const auto seconds = parse_uint64(header)) {
    wait = *seconds > 86'400 ? kLongestRetryAfter : Milliseconds{static_cast<std::int64_t>(*seconds) * 1'000};
  } else if (const auto date = parse_http_date(header)) {
    wait = *date - now;
  }
  if (!wait) return std::nullopt;
  return std::clamp(*wait, Milliseconds{0}, kLongestRetryAfter);
}

}  // namespace tidewatt::agent
