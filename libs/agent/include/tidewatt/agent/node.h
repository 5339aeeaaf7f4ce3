// Who this node is and what it says about itself. Pure parsing; files are injected.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tidewatt/base/file_system.h"
#include "tidewatt/base/result.h"
#include "tidewatt/metering/beat.h"

namespace tidewatt::agent {

/// What all beats of one process have in common.
struct NodeFacts {
  std::string cluster = "default";
  std::string node_id;
  std::string boot_id;
  std::string agent_id;
  std::string agent_version;
  std::string region;
  std::string zone;
  std::vector<std::pair<std::string, std::string>> labels;
  std::optional<int> cpu_cores;
  std::string cpu_model;
};

/// The node's name: the configured one, else the host name unless that is empty or localhost.
/// @error invalid_input  nothing names this node, or the name is no id (control characters, beyond 256 bytes)
Result<std::string> resolve_node_id(std::string_view configured, const FileSystem& files);

/// Busy and total CPU time since boot, in clock ticks, of all CPUs together.
struct CpuTimes {
  std::uint64_t busy = 0;
  std::uint64_t total = 0;
};
/// @param stat  /proc/stat
std::optional<CpuTimes> parse_cpu_times(std::string_view stat);
/// Lines "cpu0", "cpu1", ... of /proc/stat. nullopt when there is none.
std::optional<int> count_cpus(std::string_view stat);
/// 0..1; nullopt when no time passed or a counter went backwards.
std::optional<double> utilisation(const CpuTimes& before, const CpuTimes& now);
/// The first "model name" of /proc/cpuinfo; empty when there is none.
std::string parse_cpu_model(std::string_view cpuinfo);

/// Fills in what the machine itself says: cores, CPU model, the label machine_id.
void add_machine_facts(NodeFacts& facts, const FileSystem& files);

/// Utilisation between two calls. The first gives nullopt.
class CpuMeter {
 public:
  explicit CpuMeter(const FileSystem& files) : files_(files) {}
  std::optional<double> read();

 private:
  const FileSystem& files_;
  std::optional<CpuTimes> last_;
};

}  // namespace tidewatt::agent
