// Carbon of an energy by two methods that are always labelled and never mixed. Rules:
// docs/method/accounting.md.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "tidewatt/base/result.h"
#include "tidewatt/carbon/factor.h"
#include "tidewatt/carbon/hourly_series.h"
#include "tidewatt/carbon/signal.h"

namespace tidewatt::carbon {

enum class AccountingMethod {
  annual_factor,  ///< all energy x one factor, location-based
  hourly_signal,  ///< each hour's energy x that hour's average intensity
};
std::string_view to_string(AccountingMethod method);

struct HourOfEnergy {
  UtcHour hour;
  WattHours energy;
};

/// Hours without intensity are disclosed, never guessed: `emitted` is of the covered energy alone.
struct Footprint {
  AccountingMethod method = AccountingMethod::annual_factor;
  GramsCo2 emitted{0};
  WattHours covered{0};
  WattHours without_intensity{0};
  std::optional<double> carbon_coverage;  ///< covered energy over all energy, 0..1; nullopt without energy
  std::optional<GramsPerKwh> used;        ///< emitted over covered energy: weighted by when it was used
  std::optional<GramsPerKwh>
      time_mean;  ///< of the hours with a row, each the same: `used` below it = cleaner hours
};

Footprint by_annual_factor(WattHours energy, const Factor& factor);

/// @param energy  hours in any order; an hour may come more than once
/// @error invalid_input  a marginal series (it serves decisions, not inventories), or negative energy
Result<Footprint> by_hourly_signal(std::span<const HourOfEnergy> energy, const SeriesIdentity& identity,
                                   const HourlySeries& intensity);

/// Whether a series may enter Scope 2: average, and direct or CO2 only. What is upstream belongs to Scope 3,
/// and a series of unknown boundary could hold it.
bool may_enter_scope_2(const SeriesIdentity& identity);

using EurosPerTonne = Quantity<struct EurosPerTonneTag>;
using Euros = Quantity<struct EurosTag>;
inline constexpr EurosPerTonne kInternalCarbonPrice{80};

/// A tonne is a million grams.
Euros carbon_cost(GramsCo2 carbon, EurosPerTonne price = kInternalCarbonPrice);

}  // namespace tidewatt::carbon
