#pragma once

#include "tidewatt/agent/agent_settings.h"

namespace tidewatt::app {

inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;

/// Samples, beats and delivers until SIGTERM or SIGINT.
/// @return exit code
int run_agent(const agent::AgentConfig& config, const config::Settings& settings);

/// Reads the sources for one interval and prints one beat as JSON.
int print_one_beat(const agent::AgentConfig& config);

}  // namespace tidewatt::app
