// tidewatt doctor: looks at an installation and says what to do, on one screen.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.h"
#include "doctor_finding.h"
#include "library_look.h"
#include "server_access.h"
#include "tidewatt/os/posix.h"
#include "tidewatt/sensors/detect.h"

namespace tidewatt::cli {
namespace {

using Json = nlohmann::json;

std::string_view word(Health health) {
  switch (health) {
    case Health::ok:
      return "ok";
    case Health::warning:
      return "warn";
    case Health::failed:
      return "FAIL";
  }
  return "FAIL";
}

std::string whose_token(const ServerAccess& access) {
  return access.token_file.empty() ? std::string{"the token found"} : access.token_file;
}

/// @return whether the server knows the token and lets it read
bool check_token(const ServerAccess& access, std::vector<Finding>& findings) {
  if (const auto readable = token_is_readable(access); !readable) {
    findings.push_back({Health::failed, "token", readable.error().message, readable.error().hint});
    return false;
  }
  const auto session = get_any(access, "/api/v1/session");
  if (session && session->status == 200) return true;
  if (session && session->status == 403) {
    findings.push_back(
        {Health::warning, "token",
         fmt::format("{} is an agent's: it posts beats and may read nothing", whose_token(access)),
         "right for the agent; for this check give an operator's or viewer's: --token-file ops.token"});
    return false;
  }
  findings.push_back(
      {Health::failed, "token",
       access.token_file.empty() ? "no token was found that the server takes"
                                 : fmt::format("the server doesn't take the token of {}", access.token_file),
       "give --token-file, or set TIDEWATT_TOKEN; the server names its token files when it starts"});
  return false;
}

std::string_view todo_of_alert(std::string_view kind) {
  if (kind == "clock_offset" || kind == "beats_stale") return "on the node: chronyc tracking, or timedatectl";
  if (kind == "coverage_low") return "its page shows the gaps; on the node: systemctl status tidewatt-agent";
  if (kind == "counter_apart") return "compare on the node: tidewatt power detect";
  if (kind == "conservation") return "tidewatt ledger verify names the rows";
  if (kind == "certificate_ends") return "put renewed files where tls.certificate and tls.key are";
  if (kind.starts_with("carbon"))
    return "check carbon.zones and the providers' tokens: tidewatt server --check-config";
  return "see Dashboard in the UI";
}

/// What the server itself worries about. Silent nodes are counted below, with the others.
void check_alerts(const ServerAccess& access, std::vector<Finding>& findings) {
  constexpr std::size_t kMostShown = 5;
  const auto body = get(access, "/api/v1/dashboard/stats?range=1h");
  if (!body) return;
  const auto stats = Json::parse(*body, nullptr, false);
  if (!stats.is_object() || !stats.contains("alerts")) return;
  std::size_t count = 0;
  for (const auto& alert : stats["alerts"]) {
    const auto kind = alert.value("kind", "");
    if (kind == "agent_silent" || kind == "ledger_damaged" || ++count > kMostShown) continue;
    findings.push_back({Health::warning, "alert", alert.value("subject", "") + ": " + alert.value("text", ""),
                        std::string{todo_of_alert(kind)}});
  }
  if (count > kMostShown)
    findings.push_back(
        {Health::warning, "alert", fmt::format("{} more", count - kMostShown), "see the dashboard"});
}

/// "a01, a02, a03 and 9 more"; empty when there is none.
std::string names_of(const Json& rows, const std::function<bool(const Json&)>& wanted) {
  constexpr std::size_t kMostNamed = 5;
  std::string names;
  std::size_t count = 0;
  for (const auto& row : rows) {
    if (!wanted(row) || ++count > kMostNamed) continue;
    names += (names.empty() ? "" : ", ") + row.value("node_id", "?");
  }
  return count > kMostNamed ? fmt::format("{} and {} more", names, count - kMostNamed) : names;
}

void check_server(const ServerAccess& access, std::vector<Finding>& findings) {
  ServerAccess anybody = access;
  anybody.anonymous = true;
  const auto ready = get_any(anybody, "/readyz");
  if (!ready) {
    findings.push_back({Health::failed, "server", ready.error().message,
                        ready.error().hint.empty() ? "start one: tidewatt server (or give --server URL)"
                                                   : ready.error().hint});
    return;
  }
  if (ready->status != 200) {
    findings.push_back({Health::failed, "server",
                        fmt::format("{} answers but its store isn't ready ({})", access.url, ready->status),
                        "look at the server's log"});
    return;
  }
  if (ready->body.find("\ndamaged") == std::string::npos)
    findings.push_back({Health::ok, "server", access.url + " is ready", ""});
  else
    findings.push_back(
        {Health::failed, "ledger",
         access.url + " is ready, but found at a start that acknowledged beats are lost",
         "the server's log says which file it kept (grep damaged); check disk and memory, restore a newer "
         "backup if there is one, then move that file away"});
  if (!check_token(access, findings)) return;
  const auto session = get_any(access, "/api/v1/session");
  if (!session) return;
  const auto who = Json::parse(session->body, nullptr, false);
  if (!who.is_object()) {
    findings.push_back({Health::failed, "server", "what answers at " + access.url + " is no Tidewatt server",
                        "give its URL with --server"});
    return;
  }
  findings.push_back({Health::ok, "token", fmt::format("role {}", who.value("role", "?")), ""});
  if (!who.value("factor_configured", false))
    findings.push_back({Health::warning, "factor",
                        "no emission factor is configured: carbon is a placeholder, and hidden from tenants",
                        "set energy.emission_factor_kgco2_per_kwh and energy.emission_source"});

  check_alerts(access, findings);
  const auto nodes = get(access, "/api/v1/nodes?range=1h&limit=1000");
  if (!nodes) {
    findings.push_back({Health::warning, "nodes", nodes.error().message,
                        nodes.error().hint.empty() ? "look at the server's log" : nodes.error().hint});
    return;
  }
  const auto list = Json::parse(*nodes, nullptr, false);
  const auto rows = list.is_object() && list.contains("nodes") ? list["nodes"] : Json::array();
  if (rows.empty()) {
    findings.push_back({Health::warning, "nodes", "no node has reported yet",
                        "run on each node: tidewatt-agent --server URL --token-file FILE"});
    return;
  }
  const auto silent = names_of(rows, [](const Json& n) { return n.value("state", "") == "silent"; });
  const auto dark = names_of(rows, [](const Json& n) {
    return n.value("state", "") != "silent" && n.contains("power_watts") && n["power_watts"].is_null();
  });
  findings.push_back(
      {silent.empty() ? Health::ok : Health::warning, "nodes",
       silent.empty() ? fmt::format("{} known, none silent", rows.size())
                      : fmt::format("{} known, silent: {}", rows.size(), silent),
       silent.empty() ? "" : "see Nodes in the UI; on the node: systemctl status tidewatt-agent"});
  if (!dark.empty())
    findings.push_back(
        {Health::warning, "power", "no power is known now of " + dark, "on the node: tidewatt power detect"});
}

/// What the server knows of the sources of this machine's node that give nothing.
void check_node(const ServerAccess& access, const AgentsNode& which, std::vector<Finding>& findings) {
  const auto& node = which.node_id;
  auto query = "/api/v1/nodes/" + encode_component(node) + "?range=1h";
  if (!which.cluster.empty()) query += "&cluster=" + encode_component(which.cluster);
  const auto body = get(access, query);
  if (!body) return;
  const auto answer = Json::parse(*body, nullptr, false);
  if (!answer.is_object() || !answer.contains("source_states")) return;
  std::string failed;
  for (const auto& source : answer["source_states"])
    if (source.value("state", "") == "failed")
      failed += (failed.empty() ? "" : ", ") + source.value("source", "?");
  const auto known = answer.value("devices_known", 0);
  const auto total = answer.value("devices_total", 0);
  findings.push_back({known > 0 ? Health::ok : Health::warning, "node",
                      fmt::format("{}: {} of {} devices known{}", node, known, total,
                                  failed.empty() ? "" : "; its agent gets nothing from " + failed),
                      known > 0 ? ""
                      : failed.empty()
                          ? "wait for two beats; then tidewatt power detect says what this machine has"
                          : "the node's page has each reason; below is what this user sees"});
}

void check_agent(const ServerAccess& server, const std::string& url, std::vector<Finding>& findings) {
  ServerAccess agent;
  agent.url = url;
  agent.ca_file = server.ca_file;
  agent.anonymous = true;  // its health is open, and our token is none of its business
  const auto health = get_any(agent, "/healthz");
  if (!health) {
    findings.push_back({Health::warning, "agent", "no agent answers on " + url,
                        "if this machine is a node: tidewatt-agent --server URL --token-file FILE"});
    return;
  }
  const auto metrics = get_any(agent, "/metrics");
  const auto node = metrics && metrics->status == 200 ? node_of(metrics->body) : AgentsNode{};
  if (health->status == 200 && node.node_id.empty()) {
    findings.push_back({Health::failed, "agent", "what answers on " + url + " is no agent",
                        "give the agent's own address with --agent: it listens on 127.0.0.1:7311"});
    return;
  }
  if (health->status != 200) {
    // The reasons of the sources follow below, one by one.
    findings.push_back(
        {Health::failed, "agent",
         "it reads nothing: " + health->body.substr(0, health->body.find_first_of(";\n")),
         "each source's reason stands below; which are tried: sources: in /etc/tidewatt/agent.yaml"});
  } else {
    findings.push_back({Health::ok, "agent", "healthy on " + url, ""});
  }
  if (!metrics || metrics->status != 200) return;
  for (auto& finding : agent_findings(metrics->body)) findings.push_back(std::move(finding));
  if (!node.node_id.empty()) check_node(server, node, findings);
}

/// Beside this program, else where packages put it.
std::string agent_program(const FileSystem& files) {
  std::string own = files.read_link("/proc/self/exe").value_or("");
  own = own.substr(0, own.rfind('/') + 1) + "tidewatt-agent";
  for (const std::string& path :
       {own, std::string{"/usr/bin/tidewatt-agent"}, std::string{"/usr/local/bin/tidewatt-agent"}})
    if (files.exists(path)) return path;
  return {};
}

void check_sources(const std::string& host_root, std::vector<Finding>& findings) {
  const auto own = os::make_file_system();
  const auto files = os::with_host_root(os::make_file_system(), host_root);
  const auto processes = os::make_process_runner();
  const os::SystemClock clock;
  const Machine machine{agent_program(*own), sensors::hypervisor(*files)};
  for (auto& finding :
       source_findings(sensors::detect(*files, *processes, clock, library_look(host_root)), machine))
    findings.push_back(std::move(finding));
}

int print(const std::vector<Finding>& findings, bool json) {
  const bool failed =
      std::any_of(findings.begin(), findings.end(), [](const auto& f) { return f.health == Health::failed; });
  if (json) {
    auto all = Json::array();
    for (const auto& f : findings)
      all.push_back({{"state", word(f.health)}, {"subject", f.subject}, {"text", f.text}, {"todo", f.todo}});
    fmt::print("{}\n",
               Json{{"findings", all}, {"ok", !failed}}.dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    for (const auto& f : findings) {
      fmt::print("{:<5} {:<8} {}\n", word(f.health), f.subject, f.text);
      if (!f.todo.empty()) fmt::print("{:<15}→ {}\n", "", f.todo);
    }
  }
  return failed ? kFailed : kOk;
}

struct DoctorOptions {
  ServerAccess access;
  std::string agent = "http://127.0.0.1:7311";
  std::string host_root;
  bool json = false;
};

}  // namespace

void add_doctor_command(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("doctor", "Check an installation and say what to do");
  const auto options = std::make_shared<DoctorOptions>();
  options->access.add_options(*command);
  command->add_option("--agent", options->agent, "URL of this machine's agent")
      ->capture_default_str()
      ->check(url_problem);
  command->add_option("--host-root", options->host_root,
                      "Where the node's /proc and /sys are, such as /host in a container");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Example: tidewatt doctor --server https://tidewatt.example:7310 --token-file ops.token");
  command->callback([options, &exit_code] {
    std::vector<Finding> findings;
    check_server(options->access, findings);
    check_agent(options->access, options->agent, findings);
    need_host_root(options->host_root);
    check_sources(options->host_root, findings);
    exit_code = print(findings, options->json);
  });
}

}  // namespace tidewatt::cli
