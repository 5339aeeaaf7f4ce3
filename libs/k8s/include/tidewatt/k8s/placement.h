// Which of the nodes that a scheduler offers is the better place, in whole points from 0 to 10.
// Rules in words: docs/method/placement.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidewatt/k8s/tolerance.h"
#include "tidewatt/units/quantity.h"

namespace tidewatt::k8s {

inline constexpr int kBestScore = 10;

/// One node as it stands. What isn't known is no reason to prefer the node, nor to avoid it.
struct Candidate {
  std::optional<GramsPerKwh> intensity;  ///< nullopt: no zone, or its signal is degraded
  std::optional<double> power_left;      ///< part of the node's power budget that it doesn't draw, 0..1
};

enum class ScoreMode : std::uint8_t {
  relative,  ///< carbon between the cleanest and the dirtiest candidate; flexibility is carbon's weight
  fixed,     ///< carbon on a fixed scale; carbon, power and flexibility are three parts of a sum
};

struct ScoreRules {
  ScoreMode mode = ScoreMode::relative;
  double carbon_weight = 0.6;  ///< relative: carbon's part at full flexibility; power has the rest
  double fixed_carbon = 0.4;
  double fixed_power = 0.3;
  double fixed_flexibility = 0.3;
  GramsPerKwh clean{20};   ///< fixed: carbon counts whole at it, and below
  GramsPerKwh dirty{800};  ///< fixed: carbon counts nothing at it, and above; > clean
};

/// How free a pod is, 0..1. Immediate work is not free at all in the relative mode.
/// @param tolerance nullopt = the pod says nothing that we know
double flexibility(std::optional<Tolerance> tolerance, ScoreMode mode);

/// One score a candidate, in their order. Intensities count in whole grams, power in whole per cent of the
/// budget. Where carbon has any weight and at most 11 intensities are known, a cleaner node scores higher
/// than a dirtier one with as much power left. Without any intensity power decides alone.
std::vector<int> scores(std::span<const Candidate> candidates, const ScoreRules& rules,
                        std::optional<Tolerance> tolerance);

}  // namespace tidewatt::k8s
