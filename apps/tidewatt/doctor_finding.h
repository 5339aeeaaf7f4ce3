// What `tidewatt doctor` found, and what to do about it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidewatt/sensors/source.h"

namespace tidewatt::cli {

enum class Health : std::uint8_t { ok, warning, failed };

struct Finding {
  Health health = Health::ok;
  std::string subject;
  std::string text;
  std::string todo;  ///< a command or a setting for this machine; empty = nothing to do
};

/// Facts of this machine that the advice depends on.
struct Machine {
  std::string agent_program;  ///< path of tidewatt-agent; empty = not installed here
  std::string hypervisor;     ///< as sensors::hypervisor
};

/// The sources of this machine: each that is read, each that can't be with its why. On a virtual machine
/// those that only its host can have are one line. Pure.
std::vector<Finding> source_findings(const std::vector<sensors::Detection>& found, const Machine& machine);

/// What an agent says at /metrics of its spool, its way to the server, its relay and its sources. Pure.
/// @param metrics  Prometheus text
std::vector<Finding> agent_findings(const std::string& metrics);
/// The node that the agent reports as.
struct AgentsNode {
  std::string cluster;
  std::string node_id;  ///< empty = the text is no agent's
};
AgentsNode node_of(const std::string& metrics);

}  // namespace tidewatt::cli
