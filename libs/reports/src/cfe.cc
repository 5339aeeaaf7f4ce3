#include "tidewatt/reports/cfe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tidewatt::reports {
namespace {

bool usable(double kwh) { return std::isfinite(kwh) && kwh >= 0; }

Status check(const CfeHour& hour) {
  if (!usable(hour.load_kwh) || !usable(hour.contracted_kwh))
    return fail(ErrorCode::invalid_input,
                fmt::format("load {} kWh, contracted {} kWh at {}", hour.load_kwh, hour.contracted_kwh,
                            format_rfc3339_short(start_of(hour.hour))),
                "give energies of 0 and more");
  if (hour.cfe_share && !(*hour.cfe_share >= 0 && *hour.cfe_share <= 1))
    return fail(
        ErrorCode::invalid_input,
        fmt::format("a clean share of {} at {}", *hour.cfe_share, format_rfc3339_short(start_of(hour.hour))),
        "shares are in 0..1");
  return {};
}

}  // namespace

Result<CfeMatch> match_hourly(std::span<const CfeHour> hours) {
  CfeMatch out;
  out.hourly.reserve(hours.size());
  for (const auto& hour : hours) {
    TW_TRY_STATUS(check(hour));
    const double rest = std::max(0.0, hour.load_kwh - hour.contracted_kwh);
    if (rest > 0 && !hour.cfe_share) {
      out.unknown_load_kwh += hour.load_kwh;
      out.hourly.emplace_back();
      continue;
    }
    const double matched = std::min(hour.load_kwh, hour.contracted_kwh + hour.cfe_share.value_or(0) * rest);
    out.matched_kwh += matched;
    out.known_load_kwh += hour.load_kwh;
    out.hourly.push_back(hour.load_kwh > 0 ? std::optional{matched / hour.load_kwh} : std::nullopt);
  }
  if (out.known_load_kwh > 0) out.share = out.matched_kwh / out.known_load_kwh;
  return out;
}

Result<BatteryRun> run_battery(std::span<const CfeHour> hours, const Battery& battery) {
  if (!usable(battery.capacity_kwh) || !usable(battery.power_kw) ||
      !usable(battery.degradation_cost_per_kwh) ||
      !(battery.round_trip_efficiency > 0 && battery.round_trip_efficiency <= 1))
    return fail(ErrorCode::invalid_input,
                fmt::format("a battery of {} kWh, {} kW, efficiency {}", battery.capacity_kwh,
                            battery.power_kw, battery.round_trip_efficiency),
                "give sizes of 0 and more, and an efficiency in (0, 1]");
  BatteryRun out;
  TW_TRY(out.without, match_hourly(hours));
  std::vector<CfeHour> shifted{hours.begin(), hours.end()};
  double level = 0;
  for (auto& hour : shifted) {
    const double surplus = hour.contracted_kwh - hour.load_kwh;
    if (surplus > 0) {
      const double room = (battery.capacity_kwh - level) / battery.round_trip_efficiency;
      const double taken = std::min({surplus, battery.power_kw, room});
      level += taken * battery.round_trip_efficiency;
      hour.contracted_kwh -= taken;
      out.charged_kwh += taken;
    } else {
      const double given = std::min({-surplus, battery.power_kw, level});
      level -= given;
      hour.contracted_kwh += given;
      out.delivered_kwh += given;
    }
    out.level_kwh.push_back(level);
  }
  TW_TRY(out.with, match_hourly(shifted));
  if (out.with.share && out.without.share && out.with.unknown_load_kwh == out.without.unknown_load_kwh)
    out.added_share = *out.with.share - *out.without.share;
  out.cost = out.delivered_kwh * battery.degradation_cost_per_kwh;
  return out;
}

}  // namespace tidewatt::reports
