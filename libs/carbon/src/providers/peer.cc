// Another server of ours: GET /api/v1/carbon/{zone}/latest, history or forecast.
#include <array>

#include "provider.h"

namespace tidewatt::carbon::providers {
namespace {

template <class Value, std::size_t N>
std::optional<Value> value_named(const Json& object, const char* name, const std::array<Value, N>& values) {
  const auto text = text_of(object, name);
  for (const Value value : values)
    if (text && to_string(value) == *text) return value;
  return std::nullopt;
}

void add_row(ParsedSignal& into, const Json& row, const SeriesIdentity& series) {
  constexpr std::array kTaken{SignalQuality::measured, SignalQuality::estimated, SignalQuality::forecast,
                              SignalQuality::fixed};
  const auto start = time_of(row, "start");
  const auto end = time_of(row, "end");
  if (!start || !end) return skip(into, start, "the row has no readable start and end");
  const auto quality = value_named(row, "quality", kTaken);
  // What the other server fell back to is no signal.
  if (!quality)
    return skip(into, start,
                "quality \"" + one_line(text_of(row, "quality").value_or("")) + "\" is no signal");
  SignalPoint point;
  point.start = *start;
  point.end = *end;
  point.quality = *quality;
  point.series = series;
  point.issued_at = time_of(row, "issued_at");
  if (const auto* share = member(row, "cfe_share"); share != nullptr && share->is_number())
    if (const double value = share->get<double>(); value >= 0 && value <= 1) point.cfe_share = value;
  add(into, member(row, "gco2_per_kwh"), std::move(point));
}

}  // namespace

Result<ParsedSignal> peer(const Request& request) {
  constexpr std::array kKinds{SignalKind::average, SignalKind::marginal};
  constexpr std::array kBoundaries{SignalBoundary::life_cycle, SignalBoundary::direct,
                                   SignalBoundary::co2_only, SignalBoundary::unknown};
  constexpr std::array kBases{SignalBasis::consumption, SignalBasis::production, SignalBasis::unknown};
  TW_TRY(const auto answer, read_object(request.text));
  const auto zone = text_of(answer, "zone");
  TW_TRY_STATUS(check_zone(zone, request.zone));
  const auto kind = value_named(answer, "kind", kKinds);
  const auto boundary = value_named(answer, "boundary", kBoundaries);
  const auto basis = value_named(answer, "basis", kBases);
  if (!zone || !kind || !boundary || !basis) return unexpected_shape("no zone, kind, boundary and basis");
  const SeriesIdentity series{zone, *kind, *boundary, *basis};
  ParsedSignal signal;
  bool shaped = false;
  if (const auto* point = member(answer, "point"); point != nullptr) {
    shaped = true;
    if (point->is_object()) add_row(signal, *point, series);
  }
  for (const char* name : {"history", "forecast"})
    if (const auto* rows = member(answer, name); rows != nullptr && rows->is_array()) {
      shaped = true;
      for (const auto& row : *rows) add_row(signal, row, series);
    }
  if (!shaped) return unexpected_shape("no point, history or forecast");
  return signal;
}

}  // namespace tidewatt::carbon::providers
