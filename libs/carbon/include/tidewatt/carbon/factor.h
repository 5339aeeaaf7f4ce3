// The emission factor in force: where its value and its source come from, and what must be said about it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/carbon/signal.h"
#include "tidewatt/units/quantity.h"

namespace tidewatt::carbon {

/// Factors as they are published: kilograms per kilowatt hour.
using KilogramsPerKwh = Quantity<struct KilogramsPerKwhTag>;

/// What the factor counts: carbon dioxide alone, or all greenhouse gases as its equivalent.
enum class Gas { co2, co2e };
std::string_view to_string(Gas gas);
/// "kgCO2/kWh" or "kgCO2e/kWh": the unit follows the gas.
std::string_view unit_of(Gas gas);

/// An order of magnitude that no agency published: a factor for trying things out, never authoritative.
inline constexpr KilogramsPerKwh kPlaceholder{0.55};
/// Above this a value is refused: no grid emits that; it was probably meant in g/kWh.
inline constexpr KilogramsPerKwh kLargestPlausible{5};

/// Factors of different kinds are never interchangeable, not even of one region and year.
enum class FactorKind {
  average,            ///< all generation of the grid: location-based inventories
  residual,           ///< without what was sold as clean: the market-based rest
  marginal,           ///< what a change of load changes: decisions, never inventories
  fossil_only,        ///< fossil generation alone
  ets_compliance,     ///< fixed for reports to a carbon market, not a grid's average
  lifecycle_average,  ///< upstream included: product footprints, not Scope 2
};
std::string_view to_string(FactorKind kind);
/// What a factor of this kind is for, in one line.
std::string_view use_of(FactorKind kind);

struct Factor {
  KilogramsPerKwh value = kPlaceholder;
  Gas gas = Gas::co2e;
  std::string source;       ///< never empty; says so itself when nobody stated one
  bool configured = false;  ///< false: the placeholder
  std::optional<int> year;  ///< the period it is for, where stated
  FactorKind kind = FactorKind::average;
  SignalBoundary boundary = SignalBoundary::unknown;  ///< as stated; unknown can't enter Scope 2
};

/// What the operator gave. Texts are as they stand in the environment; blank counts as not given.
struct FactorSettings {
  std::optional<std::string> env_value;         ///< ENERGY_GRID_EMISSION_FACTOR
  std::optional<std::string> env_source;        ///< ENERGY_GRID_EMISSION_SOURCE
  std::optional<KilogramsPerKwh> config_value;  ///< energy.emission_factor_kgco2_per_kwh
  std::string config_source;                    ///< energy.emission_source
  Gas gas = Gas::co2e;
  std::optional<int> year;
  FactorKind kind = FactorKind::average;              ///< energy.emission_kind
  SignalBoundary boundary = SignalBoundary::unknown;  ///< energy.emission_boundary
};

struct FactorInForce {
  Factor factor;
  std::vector<std::string> warnings;  ///< one line each: what is wrong and what to do
  bool value_ignored = false;         ///< one of them is of a value that can't be a factor
};

/// Environment, else configuration, else the placeholder. An invalid value (not a number, not above 0, above
/// kLargestPlausible) is warned about and the next one is taken.
FactorInForce factor_in_force(const FactorSettings& settings);

/// The location-based carbon of an energy at this factor.
GramsCo2 carbon_of(WattHours energy, const Factor& factor);
GramsPerKwh intensity_of(const Factor& factor);

}  // namespace tidewatt::carbon
