// This process's children, and which of them it started itself: a subreaper also gets those that others left.
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

namespace tidewatt::os {

/// Starts a child and remembers it as our own.
/// @param start  gives its pid, or something negative when it failed
pid_t start_own_child(const std::function<pid_t()>& start);

/// To be called when it was reaped: its pid may be somebody else's from now on.
void forget_own_child(pid_t pid);

/// Children that we didn't start: orphans of what we started. Empty unless this process is a subreaper.
std::vector<pid_t> adopted_children();

}  // namespace tidewatt::os
