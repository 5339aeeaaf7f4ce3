// What a job's segments, and a loop's pump, cost.
#pragma once

#include <optional>

#include "grid.h"
#include "tidewatt/planning/problem.h"

namespace tidewatt::planning {

struct Bill {
  double carbon_g = 0;              ///< of the energy with a known intensity
  double energy_kwh = 0;            ///< facility
  double known_kwh = 0;             ///< with a known intensity
  std::optional<double> money = 0;  ///< nullopt once a price is missing
  Minute unknown_minutes = 0;       ///< run minutes in slots without intensity
  Minute interpolated_minutes = 0;
  double moved_gb = 0;
  int breaks = 0;  ///< suspensions and moves
  double objective = 0;

  void add(const Bill& other);
  /// energy with a known intensity / energy; 1 without energy.
  [[nodiscard]] double coverage() const { return energy_kwh > 0 ? known_kwh / energy_kwh : 1; }
};

/// A job's run, overheads and moves.
Bill bill_of(const Problem& problem, const Grid& grid, const Job& job, const Segments& segments);

struct OnTime {
  Minute begin, end;
};
/// When a site runs anything: touching or overlapping segments are one.
std::vector<OnTime> on_times(const std::vector<const Segment*>& sorted_by_begin);
/// The pump of a site's loop.
Bill pump_bill(const Problem& problem, const Grid& grid, int site, const std::vector<OnTime>& on);

/// Neighbours of one site and count joined.
Segments merged(const Segments& segments);

}  // namespace tidewatt::planning
