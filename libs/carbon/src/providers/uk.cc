// The British Carbon Intensity API: half hours, nation or regions, `data` an array or an object.
#include "provider.h"

namespace tidewatt::carbon::providers {
namespace {

void add_slot(ParsedSignal& into, const Json& row, const Json& slot, bool regional,
              std::optional<std::string> zone) {
  const auto start = time_of(slot, "from");
  const auto end = time_of(slot, "to");
  if (!start || !end) return skip(into, start, "the half hour has no readable from and to");
  const auto* intensity = member(row, "intensity");
  if (intensity == nullptr || !intensity->is_object()) return skip(into, start, "no intensity");
  const auto* actual = member(*intensity, "actual");
  const auto* forecast = member(*intensity, "forecast");
  if (actual == nullptr && forecast == nullptr) return skip(into, start, "neither actual nor forecast");
  // The publisher calls it "the estimated actual"; regions have none.
  const bool known = !regional && actual != nullptr && !actual->is_null();
  SignalPoint point;
  point.start = *start;
  point.end = *end;
  point.quality = known ? SignalQuality::estimated : SignalQuality::forecast;
  point.series = {std::move(zone), SignalKind::average, SignalBoundary::co2_only, SignalBasis::consumption};
  add(into, known ? actual : forecast, std::move(point));
}

std::optional<std::string> region_of(const Json& row, std::string_view asked) {
  if (const auto* id = member(row, "regionid"); id != nullptr && id->is_number_integer()) return id->dump();
  return zone_or(text_of(row, "regionid"), asked);
}

void add_regional(ParsedSignal& into, const Json& row, const Request& request) {
  if (const auto* regions = member(row, "regions"); regions != nullptr && regions->is_array()) {
    for (const auto& region : *regions) add_slot(into, region, row, true, region_of(region, request.zone));
    return;
  }
  const auto zone = region_of(row, request.zone);
  const auto* slots = member(row, "data");
  if (slots == nullptr) return add_slot(into, row, row, true, zone);
  if (slots->is_object()) return add_slot(into, *slots, *slots, true, zone);
  if (slots->is_array())
    for (const auto& slot : *slots) add_slot(into, slot, slot, true, zone);
}

}  // namespace

Result<ParsedSignal> uk(const Request& request) {
  TW_TRY(const auto answer, read_object(request.text));
  ParsedSignal signal;
  const auto* data = member(answer, "data");
  if (data == nullptr && !answer.empty()) return unexpected_shape("no data");
  if (data == nullptr || data->is_null()) return signal;
  if (!data->is_array() && !data->is_object()) return unexpected_shape("data is neither array nor object");
  const Json one = Json::array({*data});
  const bool regional = request.has_segment("regional");
  const bool national = !regional && request.has_segment("intensity") && !request.has_segment("factors") &&
                        !request.has_segment("stats");
  for (const auto& row : data->is_array() ? *data : one) {
    if (regional)
      add_regional(signal, row, request);
    else if (national)
      add_slot(signal, row, row, false, "GB");
    else if (const auto start = time_of(row, "from"))
      skip(signal, start, "this endpoint gives no carbon intensity");
  }
  return signal;
}

}  // namespace tidewatt::carbon::providers
