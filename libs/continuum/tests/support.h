#pragma once

#include "tidewatt/continuum/brain.h"

namespace tidewatt::continuum {

inline Setup small_setup() {
  Setup setup;
  setup.services = {{"shop", 3, 1}};
  setup.knobs = {{"workers", 3, {0}, 0}};
  setup.objectives = {{0, "p99(latency_ms) <= 150 over 5m", devol::Tier::silver, 1, 0.01, false}};
  setup.grams_per_violation = 2;
  return setup;
}

inline Senses well(std::size_t level, std::size_t load = 0, double ci = 300) {
  Senses senses;
  senses.objectives = {devol::State::kept};
  senses.load_bins = {load};
  senses.power_bin = level * 2;
  senses.levels = {level};
  senses.ci_g_per_kwh = ci;
  return senses;
}

}  // namespace tidewatt::continuum
