#include "local_time.h"

#include <cctz/time_zone.h>

#include <algorithm>
#include <chrono>

namespace tidewatt::cli {
namespace {

/// The name becomes a path below the zone files' folder, so that it may not lead out of it.
bool is_zone_name(const std::string& zone) {
  if (zone.empty() || zone.front() == '/' || zone.front() == '.' || zone.find("..") != std::string::npos)
    return false;
  return std::all_of(zone.begin(), zone.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
           c == '_' || c == '-' || c == '+';
  });
}

}  // namespace

bool has_time_zone(const std::string& zone) {
  cctz::time_zone found;
  return is_zone_name(zone) && cctz::load_time_zone(zone, &found);
}

std::optional<planning::LocalInstants> local_instants(const std::string& zone,
                                                      const planning::CivilTime& civil) {
  cctz::time_zone found;
  if (!is_zone_name(zone) || !cctz::load_time_zone(zone, &found)) return std::nullopt;
  const auto shown =
      found.lookup(cctz::civil_second(civil.year, civil.month, civil.day, civil.hour, civil.minute, 0));
  if (shown.kind == cctz::time_zone::civil_lookup::SKIPPED) return std::nullopt;
  const auto instant = [&](cctz::time_point<cctz::seconds> at) { return UtcTime{at} + civil.below_minute; };
  return planning::LocalInstants{instant(shown.pre), instant(shown.post)};
}

std::optional<reports::LocalHour> local_hour(const std::string& zone, UtcTime at) {
  cctz::time_zone found;
  if (!is_zone_name(zone) || !cctz::load_time_zone(zone, &found)) return std::nullopt;
  const auto shown = cctz::convert(std::chrono::floor<cctz::seconds>(at), found);
  return reports::LocalHour{static_cast<int>(cctz::get_weekday(cctz::civil_day(shown))), shown.hour()};
}

}  // namespace tidewatt::cli
