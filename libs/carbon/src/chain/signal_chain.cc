#include "tidewatt/carbon/signal_chain.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidewatt::carbon {
namespace {

constexpr int kProfileDays = 7;
constexpr std::size_t kDayHours = 24;
/// Fewer known values of an hour of day are no profile.
constexpr int kFewestOfAnHour = 4;
constexpr Milliseconds kOldestProfile = std::chrono::hours{24 * 30};
constexpr Milliseconds kRetry{60'000};
constexpr Milliseconds kHour = std::chrono::hours{1};

StoredPoint made(const SignalBook& book, UtcTime start, double grams, SignalQuality quality,
                 UtcTime rests_on) {
  StoredPoint out;
  out.point.start = start;
  out.point.end = start + kHour;
  out.point.intensity = CarbonIntensity{grams};
  out.point.quality = quality;
  out.point.series = book.identity();
  out.point.issued_at = rests_on;
  out.provider = "tidewatt";
  out.fetched_at = rests_on;
  return out;
}

std::optional<StoredPoint> own_value(const SignalBook& book, const Forecast* own, UtcTime now) {
  if (own == nullptr) return std::nullopt;
  for (const auto& point : own->points)
    if (point.start <= now && now < point.start + kHour)
      return made(book, point.start, point.expected.value(), SignalQuality::forecast, own->issued_at);
  return std::nullopt;
}

std::optional<StoredPoint> profile_value(const SignalBook& book, UtcTime now) {
  const auto series = book.hourly(now);
  const auto week = kDayHours * kProfileDays;
  if (series.hours.size() < week || now - start_of(series.end()) > kOldestProfile) return std::nullopt;
  double sum = 0;
  int count = 0;
  for (std::size_t i = series.hours.size() - week; i < series.hours.size(); ++i) {
    const auto hour = series.begin + std::chrono::hours{static_cast<long>(i)};
    const bool same_hour = (hour_of(now) - hour).count() % static_cast<long>(kDayHours) == 0;
    if (!same_hour || !series.hours[i]) continue;
    sum += *series.hours[i];
    ++count;
  }
  if (count < kFewestOfAnHour) return std::nullopt;
  return made(book, start_of(hour_of(now)), sum / count, SignalQuality::heuristic, start_of(series.end()));
}

std::string with_failure(std::string reason, std::string_view failure) {
  return failure.empty() ? reason : fmt::format("{}; {}", reason, failure);
}

}  // namespace

std::string_view to_string(ChainStep step) {
  switch (step) {
    case ChainStep::latest:
      return "latest";
    case ChainStep::cached_forecast:
      return "cached_forecast";
    case ChainStep::own_forecast:
      return "own_forecast";
    case ChainStep::profile:
      return "profile";
    case ChainStep::off:
      break;
  }
  return "off";
}

ChainDecision decide(const SignalBook& book, const Forecast* own, UtcTime now, Milliseconds ttl,
                     std::string_view failure) {
  ChainDecision out;
  const auto settle = [&](ChainStep step, std::optional<StoredPoint> value) {
    out.step = step;
    out.age = now - value->fetched_at;
    out.value = std::move(value);
  };
  if (auto known = book.known_at(now)) {
    settle(ChainStep::latest, std::move(known));
    return out;
  }
  if (auto last = book.last_known(now); last && now - last->point.end < ttl) out.stale = std::move(last);
  if (auto forecast = book.forecast_at(now)) {
    settle(ChainStep::cached_forecast, std::move(forecast));
    if (*out.age >= ttl || !failure.empty())
      out.degraded_reason =
          with_failure("no value for this slot: the provider's last forecast is used", failure);
    return out;
  }
  if (auto value = own_value(book, own, now)) {
    settle(ChainStep::own_forecast, std::move(value));
    out.degraded_reason = with_failure(
        "neither a value nor a provider's forecast covers now: our own forecast is used", failure);
    return out;
  }
  if (auto value = profile_value(book, now)) {
    settle(ChainStep::profile, std::move(value));
    out.degraded_reason =
        with_failure("no forecast covers now: the mean of this hour over 7 days is used", failure);
    return out;
  }
  out.degraded_reason = with_failure(
      "no value, no forecast and less than 7 days of history: carbon awareness is off for this zone",
      failure);
  if (const auto last = book.last_known(now)) out.age = now - last->fetched_at;
  return out;
}

UtcTime next_fetch(const SignalBook& book, UtcTime now, Milliseconds ttl) {
  const auto known = book.known_at(now);
  const auto forecast = book.forecast_at(now);
  // A static factor stands in for those that fail: they are tried on.
  if (known && known->point.quality != SignalQuality::fixed) return std::min(known->point.end, now + ttl);
  // A provider of forecasts alone has told this slot, too.
  if (forecast && now - forecast->fetched_at < kRetry) return std::min(forecast->point.end, now + ttl);
  return now + kRetry;
}

}  // namespace tidewatt::carbon
