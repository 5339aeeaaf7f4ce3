// 24/7 carbon-free energy: hourly matching of a load with contracted supply and the grid's clean share, and
// what a battery adds to it. Rules in words: docs/method/reports.md.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/units/time.h"

namespace tidewatt::reports {

/// One hour of one site. Energies in kWh.
struct CfeHour {
  UtcHour hour{};
  double load_kwh = 0;
  double contracted_kwh = 0;        ///< clean supply under contract, behind the meter or by PPA
  std::optional<double> cfe_share;  ///< the grid's, 0..1; nullopt = unknown
};

struct CfeMatch {
  /// Σ min(load, contracted + cfe·max(0, load − contracted)) / Σ load, over the hours that are known; nullopt
  /// where there is none with load.
  std::optional<double> share;
  double matched_kwh = 0;
  double known_load_kwh = 0;
  double unknown_load_kwh = 0;  ///< of hours whose grid share is unknown and that needed the grid
  std::vector<std::optional<double>> hourly;  ///< the heat map: each hour's own share [as many as hours]
};

/// An hour whose contracted supply covers the load needs no grid share: it is known without.
/// @error invalid_input  a negative or not finite energy, or a share outside 0..1
Result<CfeMatch> match_hourly(std::span<const CfeHour> hours);

struct Battery {
  double capacity_kwh = 0;
  double power_kw = 0;                  ///< of charging and of discharging, at the terminals
  double round_trip_efficiency = 0.9;   ///< (0, 1]; lost when charging
  double degradation_cost_per_kwh = 0;  ///< of what it gives, in the report's currency
};

struct BatteryRun {
  CfeMatch without;
  CfeMatch with;
  std::optional<double> added_share;  ///< with − without
  double charged_kwh = 0;
  double delivered_kwh = 0;
  double cost = 0;                ///< delivered × degradation cost
  std::vector<double> level_kwh;  ///< at each hour's end
};

/// Charges from surplus contracted clean energy only; gives it back in the next hours whose load contracts
/// don't cover. What is delivered is clean: it was charged clean, and the losses were paid at charging.
/// Starts empty.
/// @error invalid_input  as match_hourly, or a battery that can't be (capacity, power < 0; efficiency not in
/// (0, 1])
Result<BatteryRun> run_battery(std::span<const CfeHour> hours, const Battery& battery);

}  // namespace tidewatt::reports
