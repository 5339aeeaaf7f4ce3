#include "tidewatt/carbon/accounting.h"

#include <fmt/format.h>

#include <set>

namespace tidewatt::carbon {
namespace {

constexpr double kGramsPerTonne = 1e6;

std::optional<double> intensity_at(const HourlySeries& series, UtcHour hour) {
  const auto index = (hour - series.begin).count();
  if (index < 0 || index >= static_cast<std::int64_t>(series.hours.size())) return std::nullopt;
  return series.hours[static_cast<std::size_t>(index)];
}

}  // namespace

std::string_view to_string(AccountingMethod method) {
  return method == AccountingMethod::annual_factor ? "annual_factor" : "hourly_signal";
}

Footprint by_annual_factor(WattHours energy, const Factor& factor) {
  Footprint out;
  out.emitted = carbon_of(energy, factor);
  out.covered = energy;
  out.used = intensity_of(factor);
  if (energy.value() > 0) out.carbon_coverage = 1.0;
  return out;
}

Result<Footprint> by_hourly_signal(std::span<const HourOfEnergy> energy, const SeriesIdentity& identity,
                                   const HourlySeries& intensity) {
  if (identity.kind == SignalKind::marginal)
    return fail(ErrorCode::invalid_input, "a marginal series can't be accounted with",
                "give an average one: marginal intensities serve decisions");
  Footprint out;
  out.method = AccountingMethod::hourly_signal;
  std::set<UtcHour> seen;
  double sum = 0;
  std::size_t hours = 0;
  for (const auto& row : energy) {
    if (!(row.energy.value() >= 0))
      return fail(ErrorCode::invalid_input,
                  fmt::format("{} Wh at {}", row.energy.value(), format_rfc3339_short(start_of(row.hour))),
                  "energy can't be below 0");
    const auto grams = intensity_at(intensity, row.hour);
    if (!grams) {
      out.without_intensity = out.without_intensity + row.energy;
      continue;
    }
    out.covered = out.covered + row.energy;
    out.emitted = out.emitted + row.energy * GramsPerKwh{*grams};
    if (!seen.insert(row.hour).second) continue;
    sum += *grams;
    ++hours;
  }
  const double all = (out.covered + out.without_intensity).value();
  if (all > 0) out.carbon_coverage = out.covered.value() / all;
  if (out.covered.value() > 0) out.used = GramsPerKwh{out.emitted.value() / out.covered.value() * 1000};
  if (hours > 0) out.time_mean = GramsPerKwh{sum / static_cast<double>(hours)};
  return out;
}

bool may_enter_scope_2(const SeriesIdentity& identity) {
  return identity.kind == SignalKind::average &&
         (identity.boundary == SignalBoundary::direct || identity.boundary == SignalBoundary::co2_only);
}

Euros carbon_cost(GramsCo2 carbon, EurosPerTonne price) {
  return Euros{carbon.value() / kGramsPerTonne * price.value()};
}

}  // namespace tidewatt::carbon
