#include "tidewatt/devol/arbitrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tidewatt::devol {
namespace {

constexpr double kAgeing = 1.25;
constexpr std::size_t kOldest = 1000;  // 1.25^1000 is still finite

double tier_factor(Tier tier) {
  switch (tier) {
    case Tier::gold:
      return 16;
    case Tier::silver:
      return 4;
    case Tier::bronze:
      return 1;
  }
  return 1;
}

std::string why(std::span<const Claim> claims, const Claim& claim, std::size_t option, double kept) {
  std::string stronger;
  for (const auto& other : claims)
    if (other.satisfied[option] != 0)
      stronger += fmt::format("{}{} of {} ({}, strength {:.4g})", stronger.empty() ? "" : ", ",
                              other.objective, other.owner, to_string(other.tier), strength(other));
  return fmt::format("strength {:.4g} against {:.4g} together of {}; given up {} rounds in a row before",
                     strength(claim), kept, stronger.empty() ? "none" : stronger, claim.rounds_given_up);
}

}  // namespace

double strength(const Claim& claim) {
  return tier_factor(claim.tier) * claim.weight * claim.price *
         std::pow(kAgeing, static_cast<double>(std::min(claim.rounds_given_up, kOldest)));
}

Result<Target> arbitrate(std::span<const Claim> claims, std::size_t options) {
  if (options == 0)
    return fail(ErrorCode::invalid_input, "no option to choose from", "give at least the present setting");
  for (const auto& claim : claims)
    if (claim.satisfied.size() != options)
      return fail(ErrorCode::invalid_input,
                  fmt::format("{} flags for {} options in a claim of {}", claim.satisfied.size(), options,
                              claim.owner),
                  "give one flag per option");
  Target target;
  target.kept_strength = -1;
  for (std::size_t option = 0; option < options; ++option) {
    double kept = 0;
    for (const auto& claim : claims)
      if (claim.satisfied[option] != 0) kept += strength(claim);
    if (kept > target.kept_strength) target = {option, kept, {}};
  }
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (claims[i].satisfied[target.option] != 0) continue;
    const bool possible = std::ranges::any_of(claims[i].satisfied, [](auto flag) { return flag != 0; });
    target.given_up.push_back(
        {i, possible,
         possible ? why(claims, claims[i], target.option, target.kept_strength) : "no option keeps it"});
  }
  return target;
}

void age(std::span<Claim> claims, const Target& target) {
  for (auto& claim : claims)
    claim.rounds_given_up = claim.satisfied[target.option] != 0 ? 0 : claim.rounds_given_up + 1;
}

}  // namespace tidewatt::devol
