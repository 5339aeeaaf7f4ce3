#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "doctor_finding.h"
#include "tidewatt/units/text.h"

namespace tidewatt::cli {
namespace {

using sensors::Detection;

/// What only the machine itself has, not a guest on it.
constexpr std::array<std::string_view, 3> kHostsOwn{"rapl", "hwmon", "ipmi"};

bool is_hosts_own(const Detection& source) {
  return std::find(kHostsOwn.begin(), kHostsOwn.end(), source.source) != kHostsOwn.end();
}

std::string todo_of(const Detection& source, const Machine& machine) {
  if (source.usable && source.unknown == 0) return source.todo;
  if (source.source == "rapl" && source.forbidden) {
    const auto program =
        machine.agent_program.empty() ? "/usr/local/bin/tidewatt-agent" : machine.agent_program;
    return fmt::format(
        "setcap cap_dac_read_search+ep {} (as a service: AmbientCapabilities=CAP_DAC_READ_SEARCH, as in "
        "tidewatt-agent.service); here: sudo tidewatt doctor",
        program);
  }
  if (source.source == "rapl" && source.usable)
    return "look at the zones named: tidewatt power detect; their part of the CPU energy is unknown";
  if (source.source == "rapl")
    return "modprobe intel_rapl_msr (Intel and AMD); without it CPU energy is unknown";
  if (source.source == "ipmi" && source.summary.find("/dev/ipmi0") != std::string::npos) {
    if (source.forbidden)
      return "give the agent's group the device: KERNEL==\"ipmi*\", GROUP=\"tidewatt\", MODE=\"0660\" in a "
             "udev rule";
    return "modprobe ipmi_si ipmi_devintf; a machine without a BMC has none";
  }
  if (source.source == "ipmi") return "apt-get install ipmitool, or read the BMC by redfish:URL";
  if (source.source == "nvml" && !source.devices.empty())
    return "install NVIDIA's driver; in a container use its runtime, or mount libnvidia-ml.so.1";
  if (source.source == "hwmon") return "nothing, where the board has no power sensor; most have none";
  if (!source.todo.empty()) return source.todo;
  if (source.broken)
    return fmt::format("run {} by hand and look at what it says; until it answers, its devices are unknown",
                       source.source);
  if (source.forbidden) return "run it as the agent does, or as root; see docs/operate/permissions.md";
  return {};
}

/// The text up to where a hint or a list of places begins: a line must fit a screen.
std::string brief(const Detection& source) {
  constexpr std::size_t kLongest = 200;
  auto text = source.summary;
  // What to do has a line of its own.
  const auto hint = fmt::format(" ({})", source.todo);
  if (const auto at = text.find(hint); !source.todo.empty() && at != std::string::npos)
    text.erase(at, hint.size());
  if (text.size() <= kLongest) return text;
  auto cut = text.rfind(' ', kLongest);
  if (cut == std::string::npos || cut < kLongest / 2) cut = kLongest;
  return text.substr(0, cut) + " ...";
}

/// The value of the first line of a family; nullopt when there is none.
std::optional<double> value_of(std::string_view metrics, std::string_view name) {
  while (!metrics.empty()) {
    const auto end = std::min(metrics.find('\n'), metrics.size());
    const auto line = metrics.substr(0, end);
    metrics.remove_prefix(std::min(end + 1, metrics.size()));
    if (!line.starts_with(name) || line.size() == name.size()) continue;
    const char next = line[name.size()];
    if (next == ' ' || next == '{') return parse_double(line.substr(line.rfind(' ') + 1));
  }
  return std::nullopt;
}

/// The label of each line of a family: value of `label` where the family begins so.
std::vector<std::string> labels_of(std::string_view metrics, std::string_view family,
                                   std::string_view label) {
  std::vector<std::string> values;
  const std::string start = fmt::format("{}{{", family);
  const std::string key = fmt::format("{}=\"", label);
  while (!metrics.empty()) {
    const auto end = std::min(metrics.find('\n'), metrics.size());
    const auto line = metrics.substr(0, end);
    metrics.remove_prefix(std::min(end + 1, metrics.size()));
    if (!line.starts_with(start)) continue;
    const auto at = line.find(key);
    if (at == std::string_view::npos) continue;
    const auto value = line.substr(at + key.size());
    values.emplace_back(value.substr(0, value.find('"')));
  }
  return values;
}

/// What the running agent can't tell: one look from here doesn't see a counter that stands still.
void add_source_findings(std::string_view metrics, std::vector<Finding>& findings) {
  constexpr std::string_view kTodo =
      "the node's page and the agent's log say why: journalctl -u tidewatt-agent";
  const auto states = labels_of(metrics, "tidewatt_agent_source_up", "state");
  const auto names = labels_of(metrics, "tidewatt_agent_source_up", "source");
  for (std::size_t i = 0; i < std::min(names.size(), states.size()); ++i) {
    const auto unknown =
        value_of(metrics, fmt::format("tidewatt_agent_source_unknown_devices{{source=\"{}\"}}", names[i]))
            .value_or(0);
    if (states[i] == "failing" || states[i] == "hanging")
      findings.push_back({Health::warning, "agent",
                          fmt::format("its source {} is {}: nothing of it is known", names[i], states[i]),
                          std::string{kTodo}});
    else if (unknown > 0)
      findings.push_back({Health::warning, "agent",
                          fmt::format("{:.0f} of the devices of {} are unknown", unknown, names[i]),
                          std::string{kTodo}});
  }
}

Finding link_finding(const std::string& state) {
  if (state == "unauthorised")
    return {Health::failed, "agent", "the server refuses this agent's token; its beats wait in the spool",
            "put the server's agent.token into token_file; which one is read: tidewatt-agent --config "
            "/etc/tidewatt/agent.yaml --check-config"};
  if (state == "misdirected")
    return {Health::failed, "agent", "what answers at its server's address is no Tidewatt server",
            "correct server: in /etc/tidewatt/agent.yaml"};
  if (state == "unreachable")
    return {Health::failed, "agent", "it can't reach its server; its beats wait in the spool",
            "its log names the reason: journalctl -u tidewatt-agent -n 20"};
  if (state == "unknown")
    return {Health::warning, "agent", "it has sent nothing yet", "wait for one beat (20 s)"};
  return {Health::ok, "agent", "its beats are delivered", ""};
}

}  // namespace

std::vector<Finding> source_findings(const std::vector<Detection>& found, const Machine& machine) {
  std::vector<Finding> findings;
  std::vector<std::string> hosts;
  bool any = false;
  for (const auto& source : found) {
    any = any || source.usable;
    if (source.usable) {
      // A part that can't be read is missing from every total.
      findings.push_back({source.unknown > 0 ? Health::warning : Health::ok, "source",
                          fmt::format("{}: {}", source.source, brief(source)), todo_of(source, machine)});
    } else if (!machine.hypervisor.empty() && is_hosts_own(source) && !source.forbidden) {
      hosts.push_back(source.source);
    } else {
      // A vendor's card that isn't here is no fault.
      const bool fault = source.forbidden || source.broken || !source.devices.empty() || is_hosts_own(source);
      findings.push_back({fault ? Health::warning : Health::ok, "source",
                          fmt::format("{}: not read: {}", source.source, brief(source)),
                          todo_of(source, machine)});
    }
  }
  if (!hosts.empty())
    findings.push_back(
        {Health::warning, "machine",
         fmt::format("virtual ({}): it has no {} of its own, those are its host's", machine.hypervisor,
                     fmt::join(hosts, ", ")),
         "run the agent on the host; a guest can have passed-through cards, redfish: of the host's "
         "BMC, or snmp: of its PDU"});
  if (!any)
    findings.push_back(
        {Health::warning, "sources", "this machine has no power source that we can read",
         "meters from outside: redfish: of its BMC or snmp: of its PDU; see docs/operate/agent.md"});
  return findings;
}

AgentsNode node_of(const std::string& metrics) {
  const auto nodes = labels_of(metrics, "tidewatt_agent_info", "node_id");
  const auto clusters = labels_of(metrics, "tidewatt_agent_info", "cluster");
  return {clusters.empty() ? std::string{} : clusters.front(), nodes.empty() ? std::string{} : nodes.front()};
}

std::vector<Finding> agent_findings(const std::string& metrics) {
  std::vector<Finding> findings;
  if (const auto link = labels_of(metrics, "tidewatt_agent_link", "state"); !link.empty())
    findings.push_back(link_finding(link.front()));
  add_source_findings(metrics, findings);
  if (const auto waiting = value_of(metrics, "tidewatt_agent_spool_waiting_beats")) {
    const auto bytes = value_of(metrics, "tidewatt_agent_spool_bytes").value_or(0);
    const bool degraded = value_of(metrics, "tidewatt_agent_spool_degraded").value_or(0) > 0;
    const auto dropped =
        value_of(metrics, "tidewatt_agent_beats_dropped_total{reason=\"spool_full\"}").value_or(0) +
        value_of(metrics, "tidewatt_agent_beats_dropped_total{reason=\"spool_age\"}").value_or(0);
    const auto gone =
        value_of(metrics, "tidewatt_agent_beats_dropped_total{reason=\"memory_full\"}").value_or(0) +
        value_of(metrics, "tidewatt_agent_beats_dropped_total{reason=\"spool_hole\"}").value_or(0);
    const bool lost = degraded || dropped > 0 || gone > 0;
    constexpr double kFew = 10;
    findings.push_back(
        {lost              ? Health::failed
         : *waiting > kFew ? Health::warning
                           : Health::ok,
         "spool",
         fmt::format(
             "{:.0f} beats wait, {:.1f} MiB{}{}{}", *waiting, bytes / (1024 * 1024),
             degraded ? "; its disk takes nothing, they are in memory only" : "",
             dropped > 0 ? fmt::format("; {:.0f} were dropped, it was full or they were too old", dropped)
                         : "",
             gone > 0 ? fmt::format("; {:.0f} are lost, its disk took nothing or lost them", gone) : ""),
         degraded      ? "free the disk of spool.dir"
         : dropped > 0 ? "give spool.max_bytes and spool.max_age more room"
                       : ""});
  }
  if (const auto refused =
          value_of(metrics, "tidewatt_agent_beats_dropped_total{reason=\"rejected\"}").value_or(0);
      refused > 0)
    findings.push_back({Health::failed, "agent",
                        fmt::format("the server refused {:.0f} beats for good", refused),
                        "its log names the reason: journalctl -u tidewatt-agent | grep refuses"});
  if (const auto relayed = value_of(metrics, "tidewatt_agent_beats_relayed_total"))
    findings.push_back(
        {Health::ok, "relay", fmt::format("{:.0f} beats of other agents taken", *relayed), ""});
  return findings;
}

}  // namespace tidewatt::cli
