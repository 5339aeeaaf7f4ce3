// WattTime v3: rows of lb/MWh with what they mean in `meta`.
#include "provider.h"

namespace tidewatt::carbon::providers {
namespace {

constexpr std::int64_t kLongestPeriodSeconds = 86'400;

struct Meaning {
  std::string reason;  ///< why the rows are no intensity; empty when they are
  SignalPoint point;   ///< all but times and value
  std::chrono::seconds period{0};
};

Meaning meaning_of(const Json& meta, const Request& request) {
  Meaning all;
  const auto units = text_of(meta, "units").value_or("");
  auto signal = text_of(meta, "signal_type").value_or("");
  if (signal.empty()) signal = std::string{request.parameter("signal_type")};
  const auto* period = member(meta, "data_point_period_seconds");
  if (request.has_segment("signal-index"))
    all.reason = "signal-index is a percentile, not an intensity";
  else if (signal != "co2_moer" && signal != "co2_aoer")
    all.reason = "signal \"" + one_line(signal) + "\" is no CO2 rate";
  else if (units != "lbs_co2_per_mwh")
    all.reason = "unknown unit \"" + one_line(units) + "\"";
  else if (period == nullptr || !period->is_number_integer() || period->get<std::int64_t>() <= 0 ||
           period->get<std::int64_t>() > kLongestPeriodSeconds)
    all.reason = "no usable data_point_period_seconds";
  else
    all.period = std::chrono::seconds{period->get<std::int64_t>()};
  all.point.quality = request.has_segment("forecast") ? SignalQuality::forecast : SignalQuality::estimated;
  all.point.series = {zone_or(text_of(meta, "region"), request.zone),
                      signal == "co2_aoer" ? SignalKind::average : SignalKind::marginal,
                      SignalBoundary::co2_only, SignalBasis::unknown};
  return all;
}

void add_row(ParsedSignal& into, const Json& row, const Meaning& meaning, std::optional<UtcTime> issued_at) {
  const auto start = time_of(row, "point_time");
  if (!start) return skip(into, std::nullopt, "the row has no readable point_time");
  if (!meaning.reason.empty()) return skip(into, start, meaning.reason);
  std::string reason;
  const auto pounds = usable_number(member(row, "value"), reason);
  if (!pounds) return skip(into, start, std::move(reason));
  auto point = meaning.point;
  point.start = *start;
  point.end = *start + meaning.period;
  point.intensity = to_intensity(PoundsPerMwh{*pounds});
  point.issued_at = issued_at;
  into.points.push_back(std::move(point));
}

}  // namespace

Result<ParsedSignal> watttime(const Request& request) {
  TW_TRY(const auto answer, read_object(request.text));
  if (request.has_segment("v2")) return unexpected_shape("v2 is retired; ask v3");
  ParsedSignal signal;
  const bool rows_due = request.has_segment("forecast") || request.has_segment("historical") ||
                        request.has_segment("signal-index");
  if (!rows_due) return signal;
  const auto* data = member(answer, "data");
  const auto* meta = member(answer, "meta");
  if (data == nullptr || !data->is_array() || meta == nullptr || !meta->is_object())
    return unexpected_shape("no data and meta");
  TW_TRY_STATUS(check_zone(text_of(*meta, "region"), request.zone));
  const auto meaning = meaning_of(*meta, request);
  for (const auto& row : *data) {
    if (const auto* run = member(row, "forecast"); run != nullptr && run->is_array())
      for (const auto& inner : *run) add_row(signal, inner, meaning, time_of(row, "generated_at"));
    else
      add_row(signal, row, meaning, time_of(*meta, "generated_at"));
  }
  return signal;
}

}  // namespace tidewatt::carbon::providers
