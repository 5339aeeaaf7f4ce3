// Which processes come from one that was started here, wherever they moved since.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string_view>
#include <vector>

namespace tidewatt::os {

/// Processes that descend from `root` (0 = nobody) by parentage, or whose environment at their start has a
/// variable for which `is_ours` is true: leaving group, session and parent behind changes neither at once.
/// Without `root` itself and without zombies.
/// @param since  only processes that began with or after this one (0 = all); spares reading the others'
/// environments
std::vector<pid_t> descendants(pid_t root, const std::function<bool(std::string_view variable)>& is_ours,
                               pid_t since);

/// Also the dead ones that wait to be reaped.
std::vector<pid_t> children_of(pid_t parent);

}  // namespace tidewatt::os
