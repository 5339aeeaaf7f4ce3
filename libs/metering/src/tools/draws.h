// Of several numbers that could be one device's draw: the one that is, or none.
#pragma once

#include <string_view>
#include <vector>

#include "tools/text.h"

namespace tidewatt::metering::tools {

/// Begins the reason of a device whose draw two names claim.
inline constexpr std::string_view kAmbiguous = "ambiguous";

struct Draw {
  int rank = 0;  ///< Label::draw_rank
  std::string_view name;
  Candidate candidate;
};

/// Those of the best tier, best rank first.
std::vector<Draw> best_draws(std::vector<Draw> draws);

/// As set_power, of the best tier only. Two of the same rank that print different watts leave the power
/// unknown, with both names in the reason.
void set_best_power(ToolDevice& device, const std::vector<Draw>& draws, std::string_view none_reason);

}  // namespace tidewatt::metering::tools
