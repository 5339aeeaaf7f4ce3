#include "zone_forecast.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace tidewatt::emma {
namespace {

constexpr std::string_view kOwn = "tidewatt";
constexpr std::string_view kProvider = "provider";
constexpr Milliseconds kHour = std::chrono::hours{1};
constexpr Milliseconds kOwnForecastEvery = std::chrono::hours{6};
constexpr int kMostHoursAhead = 96;
constexpr int kHoursPerDay = 24;

const carbon::ForecastPoint* own_point(const Zone& zone, UtcTime at) {
  if (!zone.own) return nullptr;
  const auto& points = zone.own->points;
  const auto found =
      std::find_if(points.rbegin(), points.rend(), [at](const auto& point) { return point.start == at; });
  return found == points.rend() ? nullptr : &*found;
}

carbon::ForecastSlot own_slot(const Zone& zone, const carbon::ForecastPoint& own) {
  carbon::ForecastSlot slot;
  slot.point.point = {
      own.start,    own.start + kHour,  own.expected, carbon::SignalQuality::forecast, zone.settings.identity,
      std::nullopt, zone.own->issued_at};
  slot.point.provider = kOwn;
  slot.point.fetched_at = zone.own->issued_at;
  slot.p10 = own.p10;
  slot.p90 = own.p90;
  return slot;
}

}  // namespace

void note_forecast(Zone& zone, const carbon::ParsedSignal& signal, UtcTime now) {
  std::vector<carbon::SaidPoint> said;
  for (const auto& point : signal.points)
    if (point.quality == carbon::SignalQuality::forecast && point.start >= now)
      said.push_back({point.start, point.end, point.intensity.value()});
  zone.scores.said(kProvider, now, std::move(said));
}

void score(Zone& zone, UtcTime now) {
  for (const auto& stored : zone.book.history({zone.scored_to, now})) {
    if (stored.point.end > now || stored.point.quality == carbon::SignalQuality::fixed) continue;
    zone.scores.came(stored.point.start, stored.point.intensity.value());
    zone.scored_to = stored.point.start + Milliseconds{1};
  }
}

std::optional<carbon::HourlySeries> series_to_forecast(const Zone& zone, UtcTime now) {
  auto series = zone.book.hourly(now);
  if (zone.own && start_of(series.end()) - zone.own->issued_at < kOwnForecastEvery) return std::nullopt;
  return series;
}

std::optional<carbon::Forecast> own_forecast(const carbon::HourlySeries& series) {
  auto said = carbon::Forecaster::fit(series).and_then([](const auto& fitted) { return fitted.predict(); });
  return said ? std::optional{*std::move(said)} : std::nullopt;
}

void keep_own_forecast(Zone& zone, carbon::Forecast forecast) {
  std::vector<carbon::SaidPoint> points;
  points.reserve(forecast.points.size());
  for (const auto& point : forecast.points)
    points.push_back({point.start, point.start + kHour, point.expected.value()});
  zone.scores.said(kOwn, forecast.issued_at, std::move(points));
  zone.own = std::move(forecast);
}

carbon::ZoneForecast forecast_of(const Zone& zone, UtcTime now, int hours) {
  const UtcHour begin = hour_of(now);
  carbon::ZoneForecast out;
  out.identity = zone.settings.identity;
  for (int hour = 0; hour < std::min(hours, kMostHoursAhead); ++hour) {
    const UtcTime at = start_of(begin + std::chrono::hours{hour});
    const auto theirs = zone.book.forecast({at, at + kHour});
    const auto* own = own_point(zone, at);
    const auto better = zone.scores.better(kProvider, kOwn, hour / kHoursPerDay + 1, kProvider);
    if (own != nullptr && (theirs.empty() || better == kOwn))
      out.slots.push_back(own_slot(zone, *own));
    else
      for (const auto& point : theirs) out.slots.push_back({point, std::nullopt, std::nullopt});
  }
  if (!out.slots.empty())
    out.issued_at = out.slots.front().point.point.issued_at.value_or(out.slots.front().point.fetched_at);
  for (const auto forecaster : {kProvider, kOwn})
    for (int day = 1; day <= carbon::ForecastScores::kDays; ++day)
      if (const auto record = zone.scores.record(forecaster, day))
        out.scores.push_back({std::string{forecaster}, day, *record});
  return out;
}

}  // namespace tidewatt::emma
