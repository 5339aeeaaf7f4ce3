// What a task will use, before it starts: an estimate, labelled with how it was made.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tidewatt/base/result.h"
#include "tidewatt/units/quantity.h"

namespace tidewatt::tasks {

/// A finished task that is alike: same team, image and devices.
struct PastTask {
  Joules energy;
  Seconds duration;
};

/// What cards of one model drew in tasks before, per card.
struct CardHistory {
  Watts median;
  Watts p90;
};

struct Resources {
  std::string card_model;  ///< as the node names it, such as "NVIDIA H100 80GB HBM3"; empty: no card
  double cards = 0;        ///< may be a share of one
  double cores = 0;
  double node_cards = 0;  ///< of the node it will run on; 0: not known
  double node_cores = 0;
  std::optional<Watts> card_limit;  ///< set limit of the cards; nullopt: the model's own
  std::optional<CardHistory> cards_before;
  std::optional<Seconds> duration;  ///< nullopt: 8 h
};

struct Estimate {
  Joules median;
  Joules p90;
  Seconds duration;
  std::string how;  ///< one line for people: "median and 90th percentile of 12 alike tasks"
};

inline constexpr Seconds kDefaultDuration{8 * kSecondsPerHour};
inline constexpr std::size_t kFewestAlike = 3;

/// By history where at least kFewestAlike alike tasks are known, else by resources: cards at 0.7 x limit
/// (median) and limit (p90), or by what the model drew before; 12 W a core; 200 W of base x the larger of its
/// shares of the node's cards and cores.
/// @error unavailable    a card model that is in no table, without a limit
/// @error invalid_input  a negative or not finite amount
/// Source: docs/method/tasks.md#before-it-starts
Result<Estimate> estimate_task(std::span<const PastTask> alike, const Resources& resources);

/// The board's power limit by its model's data sheet; nullopt: in no table.
std::optional<Watts> card_power_limit(std::string_view model);

struct CarbonEstimate {
  GramsCo2 median;
  GramsCo2 p90;
  double known_share = 1;  ///< of the expected window's hours, that had a forecast
};
/// At the mean of the forecast over the expected window. @param hours  of the window, in order; nullopt: no
/// forecast
/// @return nullopt when no hour has one
std::optional<CarbonEstimate> carbon_of(const Estimate& estimate,
                                        std::span<const std::optional<GramsPerKwh>> hours);

}  // namespace tidewatt::tasks
