// Green Grid Compass: hourly forecasts, stamped with Central European local time without saying so.
#include <set>

#include "provider.h"

namespace tidewatt::carbon::providers {
namespace {

using namespace std::chrono;

/// When the European clocks change: 01:00 UTC of the month's last Sunday.
UtcTime change(year y, month m) { return UtcTime{sys_days{y / m / Sunday[last]}} + 1h; }

bool summer(UtcTime at) {
  const auto y = year_month_day{floor<days>(at)}.year();
  return at >= change(y, March) && at < change(y, October);
}

/// nullopt for the hour that the clocks leave out; the hour they repeat is summer's first, then winter's.
std::optional<UtcTime> from_local(UtcTime local, bool seen) {
  const auto in_summer = local - 2h;
  const auto in_winter = local - 1h;
  const bool can_summer = summer(in_summer);
  const bool can_winter = !summer(in_winter);
  if (can_summer && can_winter) return seen ? in_winter : in_summer;
  if (can_summer) return in_summer;
  return can_winter ? std::optional{in_winter} : std::nullopt;
}

}  // namespace

Result<ParsedSignal> greengrid(const Request& request) {
  TW_TRY(const auto answer, read_object(request.text));
  const auto* rows = member(answer, "zone_data");
  if (rows == nullptr || !rows->is_array()) return unexpected_shape("no zone_data");
  ParsedSignal signal;
  std::set<std::string> seen;
  for (const auto& row : *rows) {
    const auto zone = text_of(row, "zone_code");
    TW_TRY_STATUS(check_zone(zone, request.zone));
    const auto stamp = text_of(row, "interval").value_or("");
    auto start = parse_time(stamp);
    if (!start)
      if (const auto local = parse_time(stamp + (stamp.size() == 16 ? ":00Z" : "Z")))
        start = from_local(*local, !seen.insert(zone.value_or("") + stamp).second);
    if (!start) {
      skip(signal, std::nullopt, "no readable interval: \"" + one_line(stamp) + "\"");
      continue;
    }
    SignalPoint point;
    point.start = *start;
    point.end = *start + 1h;
    point.quality = SignalQuality::forecast;
    point.series = {zone_or(zone, request.zone), SignalKind::average, SignalBoundary::unknown,
                    SignalBasis::consumption};
    add(signal, member(row, "consumption_co2_intensity"), std::move(point));
  }
  return signal;
}

}  // namespace tidewatt::carbon::providers
