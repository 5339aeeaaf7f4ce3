// GAIA (ASPLOS 2024): policies that know a job's queue but not its length, over 720 hours of a zone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tidewatt::studies {

inline constexpr std::int64_t kGaiaUnitSeconds = 5;
inline constexpr std::int64_t kGaiaUnitsAnHour = 3600 / kGaiaUnitSeconds;
inline constexpr std::size_t kGaiaHours = 720;

struct GaiaJob {
  double arrival_seconds = 0;  ///< from the first hour
  double length_seconds = 0;
  double cpus = 0;
};

/// Carbon relative to running at once.
struct GaiaRow {
  double at_once_cost = 0;  ///< CPUs x kgCO2/kWh-hours; the published unit
  double lowest_slot = 0, lowest_window = 0, carbon_time = 0, ecovisor = 0, wait_awhile = 0,
         oracle_window = 0;
};

/// @param hours  gCO2/kWh, kGaiaHours of them
GaiaRow gaia(std::span<const double> hours, const std::vector<GaiaJob>& jobs);

}  // namespace tidewatt::studies
