#include "tools/draws.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/label.h"

namespace tidewatt::metering::tools {
namespace {

// Why the draw that would be taken isn't the only one of its rank; empty = it is.
std::string rival_of(const std::vector<Draw>& draws) {
  const Draw* taken = nullptr;
  std::optional<Watts> watts;
  for (const auto& draw : draws) {
    const auto printed = parse_watts(draw.candidate.text, draw.candidate.unit).watts;
    if (!printed) continue;
    if (taken == nullptr) {
      taken = &draw;
      watts = printed;
    } else if (draw.rank == taken->rank && *printed != *watts) {
      return fmt::format("ambiguous: '{}' prints {} and '{}' {}", quotable(taken->name),
                         quotable(taken->candidate.text), quotable(draw.name), quotable(draw.candidate.text));
    }
  }
  return {};
}

}  // namespace

std::vector<Draw> best_draws(std::vector<Draw> draws) {
  int best = 0;
  for (const auto& draw : draws) best = std::max(best, tier_of(draw.rank));
  std::erase_if(draws, [&](const Draw& draw) { return tier_of(draw.rank) < best; });
  std::stable_sort(draws.begin(), draws.end(), [](const Draw& a, const Draw& b) { return a.rank > b.rank; });
  return draws;
}

void set_best_power(ToolDevice& device, const std::vector<Draw>& draws, std::string_view none_reason) {
  const auto best = best_draws(draws);
  std::vector<Candidate> candidates;
  candidates.reserve(best.size());
  for (const auto& draw : best) candidates.push_back(draw.candidate);
  set_power(device, candidates, none_reason);
  auto rival = rival_of(best);
  if (rival.empty()) return;
  device.power.reset();
  device.averaged = false;
  device.reason = std::move(rival);
}

}  // namespace tidewatt::metering::tools
