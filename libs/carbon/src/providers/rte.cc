// RTE eCO2mix by Opendatasoft: direct CO2 of French production.
#include "provider.h"

namespace tidewatt::carbon::providers {

Result<ParsedSignal> rte(const Request& request) {
  TW_TRY(const auto answer, read_object(request.text));
  const auto* rows = member(answer, "results");
  if (rows == nullptr || !rows->is_array()) return unexpected_shape("no results");
  TW_TRY_STATUS(check_zone("FR", request.zone));
  // Quarter hours in real time, half hours once consolidated.
  const auto slot = request.path.find("-cons") == std::string_view::npos ? std::chrono::minutes{15}
                                                                         : std::chrono::minutes{30};
  ParsedSignal signal;
  for (const auto& row : *rows) {
    const auto start = time_of(row, "date_heure");
    if (!start) {
      skip(signal, std::nullopt, "the row has no date_heure with a time zone");
      continue;
    }
    SignalPoint point;
    point.start = *start;
    point.end = *start + slot;
    point.series = {"FR", SignalKind::average, SignalBoundary::direct, SignalBasis::production};
    add(signal, member(row, "taux_co2"), std::move(point));
  }
  return signal;
}

}  // namespace tidewatt::carbon::providers
