// A liquid-cooled site's heat: the plates on the chips follow within a minute, the facility's water loop
// within 5 to 15 minutes; what cooling takes depends on the wet bulb outside and on the load. Source:
// docs/method/planning.md#heat
#pragma once

#include <optional>
#include <span>

#include "tidewatt/base/result.h"

namespace tidewatt::planning {

/// First order each: value += (target - value) x (1 - exp(-dt / tau)). The rises are per kW of the whole
/// site's heat, so they belong to a site of one size: `typical_loop` makes those of another.
struct ThermalModel {
  double chip_tau_s = 30;   ///< plates and their coolant
  double loop_tau_s = 600;  ///< the facility's water
  double chip_c_per_kw =
      0.01;  ///< coolant at the chips above the loop's water, per kW of heat; of a site of 1 MW
  double loop_c_per_kw = 0.01;  ///< water above (wet bulb + approach), per kW of heat; of a site of 1 MW
  double approach_c = 4;        ///< of the cooling tower at no load
};

/// A loop built for this much heat: coolant at 1.5 litres a minute and kW is 10 degrees warmer behind the
/// plates at any load below it, whatever the site's size, and the facility's water is laid out for
/// another 10.
/// @param rated_kw  above 0
ThermalModel typical_loop(double rated_kw);

struct ThermalState {
  double loop_c = 0, chip_c = 0;
};

/// Settled at this heat and weather.
ThermalState settled(const ThermalModel& model, double heat_kw, double wet_bulb_c);
/// After `seconds` of even heat and weather. The chip follows the loop's water as it is at the end.
ThermalState advance(const ThermalModel& model, const ThermalState& state, double heat_kw, double wet_bulb_c,
                     double seconds);

/// What cooling takes: pumps and fans that run whatever the load, and a chiller once the wet bulb is too high
/// for free cooling.
struct PueModel {
  double rated_kw = 1000;     ///< of IT
  double fixed_share = 0.01;  ///< of the rated power, always
  double load_share = 0.01;   ///< of the load
  double free_below_c = 16;   ///< wet bulb up to which no chiller runs
  double per_degree = 0.01;   ///< of the load, per degree above
  double most = 2;
};

/// Facility power / IT power at a moment; nullopt without load, where it says nothing.
std::optional<double> pue_at(const PueModel& model, double load_kw, double wet_bulb_c);

/// One row of a facility's log. Rows are in order of time; steps may differ.
struct ThermalLogRow {
  double at_s = 0, heat_kw = 0, wet_bulb_c = 0, loop_c = 0, chip_c = 0;
};

struct ThermalFit {
  ThermalModel model;
  double loop_rmse_c = 0, chip_rmse_c = 0;
};

/// The model that follows a log best: least squares, each time constant by search (loop 60 s to 2 h, chip 1 s
/// to 10 minutes).
/// @param log  begins settled: what the loop and the chips still owe to a load before it isn't fitted
/// @error invalid_input  fewer than ten rows, times that don't rise, or a load that never changes
Result<ThermalFit> fit_thermal(std::span<const ThermalLogRow> log);

}  // namespace tidewatt::planning
