// How long a pod may wait, as its label `carbon-tolerance` says.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tidewatt/units/time.h"

namespace tidewatt::k8s {

/// The label with our prefix; the one without it counts where this one is absent.
inline constexpr std::string_view kToleranceLabel = "tidewatt.io/carbon-tolerance";
inline constexpr std::string_view kPlainToleranceLabel = "carbon-tolerance";
inline constexpr std::string_view kTeamLabel = "tidewatt.io/team";
inline constexpr std::string_view kPlainTeamLabel = "team";

enum class Tolerance : std::uint8_t { immediate, daily, weekly, monthly };
std::string_view to_string(Tolerance tolerance);
/// Case doesn't matter. @return nullopt: empty, or no tolerance that we know
std::optional<Tolerance> tolerance_from(std::string_view label);
/// How much later than at once work may start: 0, a day, 7 days, 30 days.
Milliseconds slack_of(Tolerance tolerance);

}  // namespace tidewatt::k8s
