// Electricity Maps v3 and v4: a bare row, or rows under data, history or forecast.
#include <algorithm>

#include "provider.h"

namespace tidewatt::carbon::providers {
namespace {

using namespace std::chrono;

std::optional<UtcTime> slot_end(UtcTime start, std::string_view granularity) {
  if (granularity == "5_minutes") return start + 5min;
  if (granularity == "15_minutes") return start + 15min;
  if (granularity == "30_minutes") return start + 30min;
  if (granularity == "hourly" || granularity.empty()) return start + 1h;
  if (granularity == "daily") return start + days{1};
  if (granularity == "weekly") return start + weeks{1};
  const int step = granularity == "monthly"     ? 1
                   : granularity == "quarterly" ? 3
                   : granularity == "yearly"    ? 12
                                                : 0;
  if (step == 0) return std::nullopt;
  const auto day = floor<days>(start);
  const auto next = year_month_day{day} + months{step};
  if (!next.ok()) return std::nullopt;
  return UtcTime{sys_days{next}} + (start - day);
}

bool is_grams(std::string_view unit) {
  return unit == "gCO2eq/kWh" || unit == "gCO2e/kWh" || unit == "gCO2/kWh";
}

/// A member of the row, else of the envelope, else of the request.
std::string said(const Json& row, const Json& envelope, const char* name, const Request& request) {
  if (const auto here = text_of(row, name)) return *here;
  if (const auto above = text_of(envelope, name)) return *above;
  return std::string{request.parameter(name)};
}

SignalBoundary boundary_of(const Json& row, const Json& envelope, const Request& request) {
  const auto type = said(row, envelope, "emissionFactorType", request);
  if (type == "direct") return SignalBoundary::direct;
  return type.empty() || type == "lifecycle" ? SignalBoundary::life_cycle : SignalBoundary::unknown;
}

SignalBasis basis_of(const Json& row, const Json& envelope, const Request& request) {
  for (const auto* from : {&row, &envelope})
    if (const auto* traced = member(*from, "flowTraced"); traced != nullptr && traced->is_boolean())
      return traced->get<bool>() ? SignalBasis::consumption : SignalBasis::production;
  return request.parameter("flowTraced") == "false" ? SignalBasis::production : SignalBasis::consumption;
}

void add_row(ParsedSignal& into, const Json& row, const Json& envelope, const Request& request, bool forecast,
             std::optional<std::string> zone, std::string_view unit) {
  const auto start = time_of(row, "datetime");
  if (!start) return skip(into, std::nullopt, "the row has no readable datetime");
  if (!unit.empty() && !is_grams(unit)) return skip(into, start, "unknown unit \"" + one_line(unit) + "\"");
  const auto granularity = said(row, envelope, "temporalGranularity", request);
  const auto end = slot_end(*start, granularity);
  if (!end) return skip(into, start, "unknown granularity \"" + one_line(granularity) + "\"");
  const auto* estimated = member(row, "isEstimated");
  const bool measured = estimated != nullptr && estimated->is_boolean() && !estimated->get<bool>();
  SignalPoint point;
  point.start = *start;
  point.end = *end;
  // Measured must be claimed: a row that doesn't say is an estimate.
  point.quality = forecast   ? SignalQuality::forecast
                  : measured ? SignalQuality::measured
                             : SignalQuality::estimated;
  point.series = {std::move(zone), SignalKind::average, boundary_of(row, envelope, request),
                  basis_of(row, envelope, request)};
  if (forecast) point.issued_at = time_of(envelope, "updatedAt");
  add(into, member(row, "carbonIntensity"), std::move(point));
}

std::string unit_of(const Json& row, const Json& envelope) {
  for (const auto* from : {&row, &envelope}) {
    if (const auto unit = text_of(*from, "unit")) return *unit;
    if (const auto unit = text_of(*from, "units")) return *unit;
    if (const auto* units = member(*from, "units"))
      if (const auto unit = text_of(*units, "carbonIntensity")) return *unit;
  }
  return {};
}

Result<ParsedSignal> home_assistant(const Json& answer, const Request& request) {
  const auto status = text_of(answer, "status").value_or("");
  if (status == "no-data") return fail(ErrorCode::unavailable, "the provider has no data for this zone now");
  const auto* row = member(answer, "data");
  if (status != "ok" || row == nullptr || !row->is_object())
    return unexpected_shape("status \"" + status + "\"");
  const auto zone = text_of(answer, "countryCode");
  TW_TRY_STATUS(check_zone(zone, request.zone));
  ParsedSignal signal;
  add_row(signal, *row, answer, request, false, zone_or(zone, request.zone), unit_of(*row, answer));
  return signal;
}

}  // namespace

Result<ParsedSignal> electricitymaps(const Request& request) {
  TW_TRY(const auto answer, read_object(request.text));
  if (request.has_segment("home-assistant") || request.path == "v1/latest")
    return home_assistant(answer, request);
  ParsedSignal signal;
  if (request.has_segment("zones") || request.has_segment("health")) return signal;

  const bool intensity = request.has_segment("carbon-intensity");
  bool forecast = request.has_segment("forecast");
  const Json bare = Json::array({answer});
  const Json* rows = nullptr;
  for (const auto* name : {"data", "history", "forecast"})
    if (const auto* found = member(answer, name); found != nullptr && rows == nullptr) {
      if (!found->is_array()) return unexpected_shape(std::string{name} + " is no array");
      rows = found;
      forecast = forecast || std::string_view{name} == "forecast";
    }
  if (rows == nullptr) {
    if (!answer.contains("datetime")) {
      if (!intensity) return signal;
      return unexpected_shape("no data, history, forecast or datetime");
    }
    rows = &bare;
  }
  for (const auto& row : *rows) {
    auto zone = text_of(row, "zone");
    if (!zone) zone = text_of(answer, "zone");
    TW_TRY_STATUS(check_zone(zone, request.zone));
    if (intensity)
      add_row(signal, row, answer, request, forecast, zone_or(std::move(zone), request.zone),
              unit_of(row, answer));
    else
      skip(signal, time_of(row, "datetime"), "this endpoint gives no carbon intensity");
  }
  return signal;
}

}  // namespace tidewatt::carbon::providers
