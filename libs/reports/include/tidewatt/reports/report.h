// Energy, carbon by both methods and money of a period. Pure: what was booked and what is stated come in, a
// report goes out; the same input gives the same report. Rules in words: docs/method/reports.md.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/carbon/visibility.h"
#include "tidewatt/ledger/seal.h"
#include "tidewatt/reports/period.h"
#include "tidewatt/reports/policy.h"
#include "tidewatt/units/exact.h"

namespace tidewatt::reports {

enum class Scope { cluster, node, team, task_group, task };
std::string_view to_string(Scope scope);
std::optional<Scope> scope_from(std::string_view text);

/// Energy by the hour of the window; an hour without a row is absent by being zero and not `booked`.
struct HourlyEnergy {
  std::vector<WideMicrojoules> energy;
  std::vector<bool> booked;
};

/// What was booked for one line of a report. Simulated energy is in none of it unless the policy says so.
struct Subject {
  std::string id;
  std::string cluster;
  std::map<std::string, HourlyEnergy> by_zone;      ///< zone "" = its nodes have none
  std::map<std::string, HourlyEnergy> adjustments;  ///< booked after their month was sealed; not in by_zone
  WideMicrojoules shared{};                         ///< of it, estimated shares of shared devices
  WideMicrojoules simulated{};                      ///< booked beside it, left out (or in, by the policy)
  WideMicrojoules unattributed{};                   ///< of it, taken by no task (nodes)
  WideMicrojoules platform{};  ///< the whole-machine meters' energy where components make the total
  bool platform_known = false;
  Milliseconds covered{0};
  Milliseconds gap{0};
  Milliseconds partial{0};
  Milliseconds device_time{0};  ///< of accelerators, held or present
  bool shared_devices = false;
  std::set<std::string> domains;  ///< those that make the total
  /// Prompt and completion tokens of the window's hours; nullopt = not known, by `tokens_reason`.
  std::optional<std::int64_t> tokens;
  std::string_view tokens_reason = "tokens_are_of_groups";
};

/// A figure or why there is none. Reasons are codes; text_of says them in words.
struct Figure {
  std::optional<double> value;
  std::string_view reason;
};

/// Facility over IT energy, both metered, over the hours in which no meter had a gap.
struct MeteredPue {
  Figure value;
  double facility_kwh = 0;
  double machines_kwh = 0;
  std::size_t hours = 0;
  bool sums_shown = true;  ///< the asker may see the energy of the whole site
};

/// A task that ran later than it would have at once, as was recorded when it was moved.
struct MovedTask {
  std::string cluster;  ///< with `line`, the line that it stands in
  std::string line;
  /// Energy of one hour of the window, and the hour it would have been used in: the task's hours with energy,
  /// one after the other from when it would have started.
  struct Piece {
    UtcHour hour{};
    UtcHour at_once{};
    std::string zone;
    WideMicrojoules energy{};
  };
  std::vector<Piece> pieces;  ///< at least one
};

/// Realised, at the energy that was metered. The two kinds are never added.
struct Savings {
  Figure attributional_kg;  ///< by average intensities
  Figure consequential_kg;  ///< by marginal intensities
  std::size_t tasks = 0;
  std::size_t unknown_tasks = 0;  ///< of them, in neither figure: an hour's intensity isn't known
};

struct Booked {
  Window window;
  Scope scope = Scope::cluster;
  std::vector<Subject> subjects;         ///< by cluster, then id
  WideMicrojoules unattributed{};        ///< of the nodes, where the lines are of tasks
  std::optional<WideMicrojoules> whole;  ///< of all nodes; nullopt = wasn't asked for
  std::vector<ledger::Seal> seals;       ///< of the window's months
  std::vector<MovedTask> moved;
  std::string_view moved_reason = "no_move_recorded";  ///< where none is there
  MeteredPue pue{{std::nullopt, "no_facility_meter"}};
};

struct HourlyCarbon {
  Figure kg;  ///< of the covered energy alone
  std::optional<double> carbon_coverage;
  double covered_kwh = 0;
  double uncovered_kwh = 0;
  std::size_t uncovered_hours = 0;  ///< zone-hours with energy and without intensity
  std::optional<double> ci_used;    ///< [g/kWh]
  std::optional<double> ci_time_mean;
};

struct Line {
  std::string id;
  std::string cluster;
  std::optional<WideMicrojoules> energy;  ///< nullopt = nothing was booked: unknown, not 0
  double kwh = 0;
  std::optional<double> coverage;
  bool whole = false;  ///< neither a gap nor a partial second
  Milliseconds gap{0};
  double shared_kwh = 0;
  double simulated_kwh = 0;
  double unattributed_kwh = 0;

  Figure annual_kg;
  HourlyCarbon hourly;
  Figure scope2_location_annual_kg;
  Figure scope2_location_hourly_kg;
  Figure scope2_market_kg;
  double contracted_kwh = 0;
  double residual_kwh = 0;
  Figure upstream_kg;
  Figure losses_kg;
  Figure overhead_kwh;
  Figure overhead_kg;
  std::string_view overhead_base;  ///< "components" or "platform"
  std::set<std::string> domains;
  Figure embodied_kg;
  Figure sci_per_task_hour;  ///< [g]
  Figure sci_per_token;      ///< [g]
  std::optional<std::int64_t> tokens;
  bool sci_with_overhead = false;  ///< a PUE is known, and the overhead is in it
  Figure energy_cost;
  Figure demand_cost;
  std::optional<double> peak_kw;  ///< the highest hourly mean
  Figure carbon_cost_eur;         ///< of annual_kg, else of the hourly figure
  Figure cfe_share;
  Savings savings;

  std::optional<WideMicrojoules> adjustments;
  std::size_t adjusted_hours = 0;
  Figure adjustments_annual_kg;
  Figure adjustments_hourly_kg;
};

/// A day of the report's figure.
struct Day {
  UtcHour begin{};
  std::optional<double> kwh;
  std::optional<double> hourly_kg;
  std::array<std::optional<double>, 24> ci{};   ///< heat map: intensity used by hour [g/kWh]
  std::array<std::optional<double>, 24> cfe{};  ///< heat map: matched share by hour
};

/// An annual factor that some of the energy was reckoned with.
struct FactorUse {
  std::string zone;  ///< empty = the general one
  carbon::Factor factor;
};

struct SeriesUse {
  std::string zone;
  carbon::SeriesIdentity identity;
  std::size_t known_hours = 0;
  std::size_t window_hours = 0;
  bool scope2 = false;
};

/// Which PUE holds: the metered one, else what is stated.
struct PueUse {
  Figure value;
  bool metered = false;
  MeteredPue meters;  ///< its reason says why it isn't metered
};

/// What a kWh of IT energy cost the site, over the period: never a momentary value.
struct SiteUse {
  Figure cue_annual_kg_per_kwh;  ///< operational kgCO2 of the facility over IT energy, by the annual factor
  Figure cue_hourly_kg_per_kwh;  ///< the same by the hourly signal, of the covered energy
  Figure wue_l_per_kwh;          ///< litres of water over IT energy
};

struct Report {
  Window window;
  std::string period;  ///< empty = a window of its own
  Scope scope = Scope::cluster;
  carbon::CarbonView view;
  carbon::Factor factor;
  std::vector<ledger::Seal> seals;
  bool sealed = false;  ///< every month of the window is, and the window is whole months
  bool with_simulated = false;
  std::vector<Line> lines;
  Line total;  ///< all lines reckoned as one
  std::optional<WideMicrojoules> unattributed;
  std::vector<FactorUse> zone_factors;  ///< beside `factor`, by zone and year
  std::vector<SeriesUse> series;
  PueUse pue;
  SiteUse site;
  std::vector<Day> days;
  std::optional<BatteryRun> battery;
  Policy policy;
};

/// @error invalid_input  a series or a supply that can't be
Result<Report> make_report(const Booked& booked, const Policy& policy, const carbon::CarbonView& view);

}  // namespace tidewatt::reports
