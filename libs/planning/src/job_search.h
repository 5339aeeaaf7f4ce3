// The cheapest way to run one job in what the others leave: exact over time, sites, suspensions and moves.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "market.h"
#include "task.h"

namespace tidewatt::planning {

/// What decides between two plans of a job, in this order.
struct Value {
  Minute late = 0;
  Minute unknown = 0;
  double cost = 0;  ///< objective, with shadow prices where the market has them
  int breaks = 0;   ///< suspensions and moves
  Minute start = 0, end = 0;
};

/// Costs this near are equal: far above what rounding does to a sum, below what the plan file calls a tie.
inline constexpr double kTie = 1e-7;

/// Whether `a` is to be preferred; equal ones are not.
inline bool better(const Value& a, const Value& b) {
  if (a.late != b.late) return a.late < b.late;
  if (a.unknown != b.unknown) return a.unknown < b.unknown;
  if (a.cost < b.cost - kTie) return true;
  if (a.cost > b.cost + kTie) return false;
  if (a.breaks != b.breaks) return a.breaks < b.breaks;
  if (a.start != b.start) return a.start < b.start;
  return a.end < b.end;
}

struct Found {
  Segments segments;
  Value value;
};

struct SearchLimits {
  Minute latest = 0;       ///< the run ends by then
  bool room = true;        ///< only where the market has room
  bool one_piece = false;  ///< no suspension, whatever the job allows
  bool exact_ties = true;  ///< equal costs: fewest suspensions, then earliest; else any of them
  bool single_minutes =
      true;  ///< a suspension may come a minute sooner or later than the grid of slots and durations
};

/// @return nullopt: no way to run it by then
std::optional<Found> best_run(const Market& market, const Task& task, const SearchLimits& limits);

/// The same for a job whose times lie on the grid of equal atoms and whose pieces cost nothing extra; ties:
/// any of the cheapest for pieces, the earliest for one piece. Far quicker; see aligned_search.cc.
bool is_aligned(const Market& market, const Task& task);
/// @param unique  out, if given: false where another plan may cost the same
std::optional<Found> best_aligned(const Market& market, const Task& task, const SearchLimits& limits,
                                  bool* unique = nullptr);

/// One piece, one site.
std::optional<Found> best_window(const Market& market, const Task& task, const SearchLimits& limits);
/// Any number of pieces.
std::optional<Found> best_pieces(const Market& market, const Task& task, const SearchLimits& limits);
/// Whole slots with a varying count of replicas.
std::optional<Found> best_elastic(const Market& market, const Task& task, const SearchLimits& limits);

/// The cells of a job's time: each begins where a piece may start.
struct Cell {
  Minute begin, end;
  std::size_t atom;  ///< at its begin
};
std::vector<Cell> cells_of(const Market& market, const Task& task, Minute latest);

/// What the first piece at a site, or a later one after data were elsewhere, adds.
double move_cost(const Market& market, const Job& job, int from, int to, Minute at);
/// A one-off IT energy in the slot of a minute.
double one_off_cost(const Market& market, int site, Minute at, double kwh);

/// What segments are worth in this market, overheads included.
Value value_of(const Market& market, const Task& task, const Segments& segments);

}  // namespace tidewatt::planning
