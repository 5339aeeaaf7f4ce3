// The generative model of a setup. Factors: each service's load, then each knob. Modalities: each objective,
// power, then what the factors are.
#pragma once

#include "tidewatt/continuum/setup.h"
#include "tidewatt/inference/model.h"

namespace tidewatt::continuum {

inline constexpr std::size_t kMostActions = 256;
/// Outcomes of an objective.
enum ObjectiveOutcome : std::size_t { kKept, kClose, kViolated, kObjectiveOutcomes };

/// The prior holds a service for well when its knobs give as much as its load asks.
inference::Model make_model(const Setup& setup);
double nats_per_gram(const Setup& setup);
/// What an objective's outcomes are worth, before arbitration. [nat]
inference::Table objective_preferences(const ObjectiveSetup& objective, double scale, std::size_t horizon);
/// What power's outcomes are worth, as [level][step]; 0 while the intensity is unknown. [nat]
inference::Table carbon_preferences_of(const Setup& setup, const Senses& senses);

}  // namespace tidewatt::continuum
