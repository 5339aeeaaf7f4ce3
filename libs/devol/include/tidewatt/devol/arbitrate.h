// When not every promise can be kept at once: which target is taken, and who gives up what, and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/devol/objective.h"

namespace tidewatt::devol {

/// One promise and the options (joint targets) under which it would be kept.
struct Claim {
  std::string owner;      ///< the service
  std::string objective;  ///< as text, for the explanation
  Tier tier = Tier::silver;
  double weight = 1;                    ///< above 0
  double price = 1;                     ///< what the service pays, in any one unit; above 0
  std::vector<std::uint8_t> satisfied;  ///< one flag per option
  std::size_t rounds_given_up = 0;      ///< in a row, before this round
};

struct GivenUp {
  std::size_t claim = 0;
  bool possible = false;  ///< some option would have kept it
  std::string why;
};

struct Target {
  std::size_t option = 0;
  double kept_strength = 0;
  std::vector<GivenUp> given_up;  ///< in the order of the claims
};

/// Tier (gold 16, silver 4, bronze 1) x weight x price, times 1.25 for each round in a row that the claim was
/// given up: whoever can be satisfied at all is, after a number of rounds that grows with the logarithm of
/// what stands against it.
double strength(const Claim& claim);

/// The option whose kept claims are strongest together; of equals the first, so that the caller's order
/// (least carbon first) decides.
/// @error invalid_input  no option, or flags of another length
Result<Target> arbitrate(std::span<const Claim> claims, std::size_t options);

/// What the next round has to know: given up one round more, or 0.
void age(std::span<Claim> claims, const Target& target);

}  // namespace tidewatt::devol
