// What the service agent knows before it begins: services, promises, knobs, and how carbon weighs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/devol/evaluate.h"

namespace tidewatt::continuum {

struct ServiceSetup {
  std::string name;
  std::size_t load_bins = 1;  ///< 1 = its load isn't known
  double price = 1;           ///< in arbitration; above 0
};

struct KnobSetup {
  std::string name;
  std::size_t levels = 2;             ///< from thrifty to generous
  std::vector<std::size_t> services;  ///< whose promises it touches
  double switch_grams = 0;            ///< what one change costs [gCO2e at the zone's present intensity]
};

struct ObjectiveSetup {
  std::size_t service = 0;
  std::string text;
  devol::Tier tier = devol::Tier::silver;
  double weight = 1;
  double accepted = 0.01;  ///< share of periods in which a violation is accepted: sets the preference
  bool hard = false;       ///< a chance constraint as well
};

struct Setup {
  std::vector<ServiceSetup> services;
  std::vector<KnobSetup> knobs;
  std::vector<ObjectiveSetup> objectives;
  std::vector<double> power_w{10, 30, 50, 70, 90};  ///< of each bin, ascending
  double period_s = 10;
  double grams_per_violation = 1;  ///< what one violated period of the strictest objective weighs [gCO2e]
  std::size_t horizon = 3;         ///< periods
  double delta = 0.05;             ///< hard objectives: P(violation within the horizon), 95 % upper bound
  double explore_delta = 0.2;      ///< the same in the hours for trying
  double prior_strength = 4;       ///< in observations
  double memory = 0.995;           ///< of learned counts
  std::size_t guard_periods = 3;   ///< after a change, in which a new violation rolls it back
  std::size_t block_periods = 60;  ///< for which a change that was rolled back isn't tried again
  double hysteresis = 1;           ///< log-odds that a change has to gain [nat]
  std::uint64_t seed = 1;
  bool by_rules = false;  ///< the rules decide, the engine only watches: the baseline
};

/// @error invalid_input  what is out of bounds, with the bound
Status check(const Setup& setup);
/// Of bin centres, the one nearest to a power.
std::size_t power_bin(const Setup& setup, double power_w);
/// A tier's accepted share: gold 0.1 %, silver 1 %, bronze 5 %.
double accepted_share(devol::Tier tier);
/// What one violated period of an objective weighs against carbon. [gCO2e]
double exchange_grams(const Setup& setup, std::size_t objective);

/// What was seen in the period that has ended. Unknown is nullopt.
struct Senses {
  std::vector<std::optional<devol::State>> objectives;
  std::vector<std::optional<std::size_t>> load_bins;  ///< per service
  std::optional<std::size_t> power_bin;
  std::vector<std::size_t> levels;                ///< per knob, read back
  std::optional<double> ci_g_per_kwh;             ///< now
  std::vector<double> ci_ahead;                   ///< of the coming periods / now; empty = as now
  bool may_try = false;                           ///< an hour for trying
  std::optional<std::vector<std::size_t>> rules;  ///< per knob: what the rules say, where one applies

  friend bool operator==(const Senses&, const Senses&) = default;
};

}  // namespace tidewatt::continuum
