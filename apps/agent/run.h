#pragma once

#include <functional>
#include <memory>

#include "tidewatt/agent/agent_settings.h"

namespace tidewatt::app {

inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;

/// Not an exit code: run again with the settings read anew.
inline constexpr int kReload = -1;

/// What a reload carries over: beats that a full disk didn't take are in it alone.
struct Kept;
struct ForgetKept {
  void operator()(Kept* kept) const;
};
using KeptPtr = std::unique_ptr<Kept, ForgetKept>;

/// Samples, beats and delivers until SIGTERM or SIGINT, or until SIGHUP while the settings are sound.
/// @param settings_are_sound  reads them anew and logs what is wrong with them
/// @param kept  nullptr at the start; filled at a reload, for the next call
/// @return exit code, or kReload
int run_agent(const agent::AgentConfig& config, const config::Settings& settings,
              const std::function<bool()>& settings_are_sound, KeptPtr& kept);

/// Reads the sources for one interval and prints one beat as JSON.
int print_one_beat(const agent::AgentConfig& config);

}  // namespace tidewatt::app
