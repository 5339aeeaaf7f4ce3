// Energy-Charts: parallel arrays over unix seconds; the zone is in the request only.
#include <algorithm>
#include <numeric>

#include "provider.h"

namespace tidewatt::carbon::providers {
namespace {

constexpr std::int64_t kQuarterHour = 900;
constexpr std::int64_t kLatestSecond = 253'402'300'799;

}  // namespace

Result<ParsedSignal> energycharts(const Request& request) {
  TW_TRY(const auto answer, read_object(request.text));
  const auto* stamps = member(answer, "unix_seconds");
  if (stamps == nullptr || !stamps->is_array()) return unexpected_shape("no unix_seconds");
  const auto* known = member(answer, "co2eq");
  const auto* forecast = member(answer, "co2eq_forecast");
  if (known != nullptr && known->is_null()) known = nullptr;
  if (forecast != nullptr && forecast->is_null()) forecast = nullptr;
  if (known == nullptr && forecast == nullptr) return unexpected_shape("neither co2eq nor co2eq_forecast");
  for (const auto* values : {known, forecast})
    if (values != nullptr && (!values->is_array() || values->size() != stamps->size()))
      return unexpected_shape("unix_seconds and values differ in length");
  for (const auto& stamp : *stamps)
    if (!stamp.is_number_integer() || stamp.get<std::int64_t>() < 0 ||
        stamp.get<std::int64_t>() > kLatestSecond)
      return unexpected_shape("a stamp is no unix second");

  const auto second = [&](std::size_t i) { return (*stamps)[i].get<std::int64_t>(); };
  std::vector<std::size_t> order(stamps->size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return second(a) < second(b); });
  ParsedSignal signal;
  auto step = kQuarterHour;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto i = order[k];
    const UtcTime start{std::chrono::seconds{second(i)}};
    if (k > 0 && second(i) == second(order[k - 1])) {
      skip(signal, start, "the stamp stands twice");
      continue;
    }
    for (auto next = k + 1; next < order.size(); ++next)
      if (second(order[next]) != second(i)) {
        step = second(order[next]) - second(i);
        break;
      }
    const bool is_known = known != nullptr && !(*known)[i].is_null();
    SignalPoint point;
    point.start = start;
    point.end = start + std::chrono::seconds{step};
    point.quality = is_known ? SignalQuality::measured : SignalQuality::forecast;
    point.series.zone = zone_or(std::nullopt, request.zone);
    add(signal, is_known ? &(*known)[i] : forecast != nullptr ? &(*forecast)[i] : nullptr, std::move(point));
  }
  return signal;
}

}  // namespace tidewatt::carbon::providers
