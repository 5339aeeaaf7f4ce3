// Preferences that can be explained: from the odds of violation that a service accepts, and from carbon.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tidewatt::inference {

/// C_violated - C_kept = ln(p / (1 - p)): an agent that prefers so is indifferent between keeping and
/// violating at the odds p. [nat] @pre 0 < p < 1
double violation_preference(double accepted_probability);

/// Preferences over carbon levels, one column per step: -nats_per_gram x grams of the level x the forecast of
/// the step relative to the present. Row-major [level][step].
/// @param level_grams  emission of each level at the present intensity [gCO2e]
/// @param forecast     intensity of each step divided by the present one
std::vector<double> carbon_preferences(std::span<const double> level_grams, double nats_per_gram,
                                       std::span<const double> forecast);

/// The exchange rate: how many grams of CO2e weigh as much as one violation. @pre nats_per_gram > 0
double grams_per_violation(double accepted_probability, double nats_per_gram);

}  // namespace tidewatt::inference
