// The agent's settings: one table, and the values it gives.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tidewatt/agent/workloads.h"
#include "tidewatt/config/settings.h"

namespace tidewatt::agent {

const config::SettingsTable& agent_settings();

/// One entry of `sources`: "nvml", "tool:npu-smi", "sim:gpus=8:seed=3", "replay:/var/log/power.csv",
/// "redfish:https://bmc;credentials=/etc/tidewatt/bmc".
struct SourceSpec {
  std::string kind;    ///< auto, a library (sensors::library_names()), tool, nvidia-smi, rapl, hwmon, ipmi,
                       ///< redfish, snmp, sim, replay
  std::string tool;    ///< of kind tool: its name
  std::string file;    ///< replay
  std::string target;  ///< redfish: URL; snmp: host
  std::vector<std::pair<std::string, std::string>> options;  ///< may repeat a name (oid)

  [[nodiscard]] const std::string* option(std::string_view name) const;
};
/// @error invalid_input  with what is known
Result<SourceSpec> parse_source(std::string_view text);

struct ListenAddress {
  std::string address;
  std::uint16_t port = 0;
};
/// "127.0.0.1:7311", "[::1]:7311", "off" = port and address empty.
Result<ListenAddress> parse_listen(std::string_view text);

struct AgentConfig {
  std::string server;  ///< as configured, without a slash at its end; empty only with `once`
  std::string ca_file;
  std::string node_id;  ///< as configured, may be empty
  std::string cluster;
  std::string zone;
  std::string region;
  std::vector<std::pair<std::string, std::string>> labels;
  Milliseconds interval{1'000};
  Milliseconds beat{20'000};
  std::vector<SourceSpec> sources;
  Milliseconds source_deadline{5'000};
  AttributionSettings attribution;
  std::string host_root;  ///< empty = the agent sees the host's own /proc and /sys
  double speed = 1;
  std::string spool_folder;
  std::uint64_t spool_bytes = 0;
  Milliseconds spool_age{0};
  ListenAddress listen;
  bool relay = false;           ///< take other agents' beats and send them on
  std::string tls_certificate;  ///< of the listening side; empty = plain HTTP
  std::string tls_key;
  std::string log_level;
  bool once = false;
};

/// Reads the values, and adds the problems that the table alone can't see to `settings`.
AgentConfig config_from(config::Settings& settings);

}  // namespace tidewatt::agent
