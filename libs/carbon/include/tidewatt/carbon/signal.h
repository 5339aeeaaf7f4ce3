// Carbon intensity over time, as providers tell it, and what makes two series the same series.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/units/quantity.h"
#include "tidewatt/units/time.h"

namespace tidewatt::carbon {

/// Grams of CO2 (or CO2e: the series' boundary says which) for each kilowatt hour.
using CarbonIntensity = GramsPerKwh;
/// WattTime's unit. Becomes a CarbonIntensity by to_intensity only.
using PoundsPerMwh = Quantity<struct PoundsPerMwhTag>;

/// One pound is exactly 0.45359237 kg, so one lb/MWh is that many g/kWh.
constexpr CarbonIntensity to_intensity(PoundsPerMwh rate) {
  return CarbonIntensity{rate.value() * 0.45359237};
}

/// Average serves accounting and decisions, marginal decisions only; one series holds one of them.
enum class SignalKind { average, marginal };
enum class SignalQuality { measured, estimated, forecast, heuristic, fixed };
enum class SignalBoundary { unknown, life_cycle, direct, co2_only };
enum class SignalBasis { unknown, consumption, production };
std::string_view to_string(SignalKind kind);
std::string_view to_string(SignalQuality quality);  ///< `fixed` reads "static"
std::string_view to_string(SignalBoundary boundary);
std::string_view to_string(SignalBasis basis);

/// Series that differ in any of these are never joined or compared.
struct SeriesIdentity {
  std::optional<std::string> zone;
  SignalKind kind = SignalKind::average;
  SignalBoundary boundary = SignalBoundary::unknown;
  SignalBasis basis = SignalBasis::unknown;
  friend bool operator==(const SeriesIdentity&, const SeriesIdentity&) = default;
};

/// The intensity of [start, end).
struct SignalPoint {
  UtcTime start;
  UtcTime end;
  CarbonIntensity intensity;
  SignalQuality quality = SignalQuality::estimated;
  SeriesIdentity series;
  std::optional<double> cfe_share;   ///< carbon-free share, 0..1
  std::optional<UtcTime> issued_at;  ///< when a forecast was made, where told
};

/// A row that gives no point, and why.
struct SkippedPoint {
  std::optional<UtcTime> start;
  std::string reason;
};

struct ParsedSignal {
  std::vector<SignalPoint> points;  ///< by start, then zone
  std::vector<SkippedPoint> skipped;
};

}  // namespace tidewatt::carbon
