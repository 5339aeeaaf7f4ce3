#include "plan_times.h"

#include <charconv>
#include <chrono>
#include <optional>

namespace tidewatt::planning {
namespace {

using std::chrono::ceil;
using std::chrono::floor;
using std::chrono::minutes;

/// Digits [from, from + count) as a number.
std::optional<int> digits(std::string_view text, std::size_t from, std::size_t count) {
  if (from + count > text.size()) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(from, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

/// "2026-11-01T00:00[:00[.000]]", which has a calendar's date and a clock's time.
std::optional<CivilTime> parse_civil(std::string_view text) {
  const auto year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
  const auto hour = digits(text, 11, 2), minute = digits(text, 14, 2);
  if (!year || !month || !day || !hour || !minute || text[4] != '-' || text[7] != '-' || text[13] != ':')
    return std::nullopt;
  if (text[10] != 'T' && text[10] != 't' && text[10] != ' ') return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok() || *year < 1970 || *hour > 23 || *minute > 59) return std::nullopt;
  CivilTime civil{*year, *month, *day, *hour, *minute, Milliseconds{0}};
  auto rest = text.substr(16);
  if (rest.empty()) return civil;
  const auto second = digits(rest, 1, 2);
  if (rest.front() != ':' || !second || *second > 59) return std::nullopt;
  civil.below_minute = std::chrono::seconds{*second};
  rest = rest.substr(3);
  if (rest.empty()) return civil;
  if (rest.front() != '.' || rest.size() < 2) return std::nullopt;
  int weight = 100;
  for (const char c : rest.substr(1)) {
    if (c < '0' || c > '9') return std::nullopt;
    civil.below_minute += Milliseconds{(c - '0') * weight};
    weight /= 10;
  }
  return civil;
}

/// With the seconds that RFC 3339 wants: "…T00:00Z" -> "…T00:00:00Z".
std::string with_seconds(std::string_view text) {
  std::string full{text};
  if (full.size() > 16 && full[16] != ':') full.insert(16, ":00");
  return full;
}

}  // namespace

ReadTime read_time(std::string_view text, const std::string& zone, Repeated which, const JsonPath& path,
                   const PlanSurroundings& surroundings, Refusal& refusal) {
  if (refusal.happened()) return {};
  if (const auto at = parse_rfc3339(with_seconds(text))) return {*at, false};
  const auto civil = parse_civil(text);
  if (!civil) {
    refusal.refuse("bad_value", path.text(),
                   "\"" + shown(text) + "\" is no time such as 2026-02-03T00:00:00Z");
    return {};
  }
  if (zone.empty()) {
    refusal.refuse("local_time_without_zone", path.text(),
                   "\"" + shown(text) + "\" has no offset and the job no timezone; add one of them");
    return {};
  }
  const auto instants = surroundings.local(zone, *civil);
  if (!instants) {
    refusal.refuse("nonexistent_local_time", path.text(),
                   "the clocks of " + shown(zone) + " never show \"" + shown(text) +
                       "\"; give an offset or another time");
    return {};
  }
  return {which == Repeated::earlier ? instants->earlier : instants->later,
          instants->earlier != instants->later};
}

Minute minutes_down(UtcTime at, UtcTime start) { return floor<minutes>(at - start).count(); }
Minute minutes_up(UtcTime at, UtcTime start) { return ceil<minutes>(at - start).count(); }

}  // namespace tidewatt::planning
