// The process that starts, pauses and ends a run's command. It follows the plan in the run's folder and needs
// nobody: where the front end or the server is gone, the last plan and the latest start hold.
#pragma once

#include <string>

namespace tidewatt::cli {

/// What `tidewatt run` calls itself with to become a run's keeper; no command for people.
inline constexpr const char* kKeeperWord = "run-keeper";

/// The keeper's main. @return its exit code
int keep_run(const std::string& folder);

/// Starts a keeper for the run, in a session of its own. Where one is at work already, the new one ends at
/// once.
/// @return false when the system refuses
bool start_keeper(const std::string& folder);
/// The process of the keeper at work; 0 = none.
int keeper_pid(const std::string& folder);
/// Tells the keeper that the plan is new.
void wake_keeper(int pid);

}  // namespace tidewatt::cli
