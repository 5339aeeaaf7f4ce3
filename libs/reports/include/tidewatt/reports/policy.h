// What an operator states for accounting and money. Nothing has a default value that could pass for a fact:
// what isn't stated is a null with its reason in the report. Only the internal carbon price has one.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "tidewatt/carbon/accounting.h"
#include "tidewatt/carbon/factor.h"
#include "tidewatt/carbon/factor_table.h"
#include "tidewatt/carbon/hourly_series.h"
#include "tidewatt/carbon/signal.h"
#include "tidewatt/reports/cfe.h"

namespace tidewatt::reports {

/// A figure that someone published or measured, with who says so.
struct Stated {
  double value = 0;
  std::string source;
};

/// What a zone's series knows of a window. Only measured, estimated and provider values; never heuristics.
struct ZoneSeries {
  carbon::SeriesIdentity identity;
  carbon::HourlySeries intensity;  ///< [gCO2/kWh]
  carbon::HourlySeries cfe_share;  ///< [0..1]
};

struct Policy {
  carbon::Factor factor;
  carbon::FactorTable zone_factors;  ///< of the zones that it names, instead of `factor`
  std::map<std::string, ZoneSeries> zones;
  /// The same from when moved tasks would have started on; see moved_window().
  std::map<std::string, ZoneSeries> moved_zones;

  /// Clean energy bought for the whole organisation by certificates or contracts [kWh per month]; its factor
  /// is 0.
  std::optional<Stated> contracted_kwh_per_month;
  bool contracts_hidden = false;  ///< contracts are of the whole site, which this viewer may not see
  std::optional<Stated>
      residual_kg_per_kwh;  ///< what contracts don't cover; unknown = no market-based figure
  std::optional<Stated> upstream_kg_per_kwh;  ///< life cycle minus direct: Scope 3.3
  std::optional<Stated> grid_loss;  ///< transmission and distribution, share of what is generated, [0, 1)
  std::optional<Stated> pue;        ///< facility over IT energy, of the period
  std::optional<Stated> water_litres_per_month;  ///< of the whole site
  bool water_hidden = false;                     ///< it is stated, and this viewer may not see the site
  std::optional<Stated> embodied_kg_per_device;
  std::optional<double> device_life_hours;

  std::string currency = "EUR";
  std::function<std::optional<double>(UtcHour)> price_per_kwh;  ///< empty = no tariff; nullopt = unknown hour
  std::string tariff;                                           ///< in words
  std::optional<double> demand_per_kw_month;
  carbon::EurosPerTonne carbon_price = carbon::kInternalCarbonPrice;

  carbon::HourlySeries supply_kwh;  ///< contracted clean supply by the hour; empty = none
  std::optional<Battery> battery;
  bool with_simulated = false;  ///< simulated energy counts, and the report says so on its head
};

}  // namespace tidewatt::reports
