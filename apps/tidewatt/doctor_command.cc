// tidewatt doctor: looks at an installation and says what to do, on one screen.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.h"
#include "server_access.h"
#include "tidewatt/os/posix.h"
#include "tidewatt/sensors/detect.h"

namespace tidewatt::cli {
namespace {

using Json = nlohmann::json;

enum class Health { ok, warning, failed };

struct Finding {
  Health health = Health::ok;
  std::string subject;
  std::string text;
  std::string todo;
};

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

void check_server(const ServerAccess& access, std::vector<Finding>& findings) {
  const auto ready = get_any(access, "/readyz");
  if (!ready) {
    findings.push_back({Health::failed, "server", ready.error().message,
                        "start one: tidewatt server (or give --server URL)"});
    return;
  }
  if (ready->status != 200) {
    findings.push_back({Health::failed, "server",
                        fmt::format("{} answers but its store isn't ready ({})", access.url, ready->status),
                        "look at the server's log"});
    return;
  }
  findings.push_back({Health::ok, "server", access.url + " is ready", ""});

  const auto session = get_any(access, "/api/v1/session");
  if (!session || session->status != 200) {
    findings.push_back(
        {Health::failed, "token", "the server doesn't take this token, or none was found",
         "give --token-file, or set TIDEWATT_TOKEN; the server names its token files when it starts"});
    return;
  }
  const auto who = Json::parse(session->body, nullptr, false);
  findings.push_back({Health::ok, "token", fmt::format("role {}", who.value("role", "?")), ""});
  if (!who.value("factor_configured", false))
    findings.push_back({Health::warning, "factor",
                        "no emission factor is configured: carbon is a placeholder, and hidden from tenants",
                        "set energy.emission_factor_kgco2_per_kwh and energy.emission_source"});

  const auto nodes = get(access, "/api/v1/nodes?range=1h&limit=1000");
  if (!nodes) {
    findings.push_back({Health::warning, "nodes", nodes.error().message, ""});
    return;
  }
  const auto list = Json::parse(*nodes, nullptr, false);
  const auto rows = list.is_object() && list.contains("nodes") ? list["nodes"] : Json::array();
  if (rows.empty()) {
    findings.push_back({Health::warning, "nodes", "no node has reported yet",
                        "run on each node: tidewatt-agent --server URL --token-file FILE"});
    return;
  }
  const auto silent =
      std::count_if(rows.begin(), rows.end(), [](const Json& n) { return n.value("state", "") == "silent"; });
  const auto dark = std::count_if(rows.begin(), rows.end(), [](const Json& n) {
    return n.contains("power_watts") && n["power_watts"].is_null();
  });
  findings.push_back(
      {silent == 0 ? Health::ok : Health::warning, "nodes",
       fmt::format("{} known, {} silent", rows.size(), silent),
       silent == 0 ? "" : "see Nodes in the UI; on the node: systemctl status tidewatt-agent"});
  if (dark > 0)
    findings.push_back({Health::warning, "power", fmt::format("{} nodes tell no power now", dark),
                        "on the node: tidewatt power detect"});
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
  } else if (health->status != 200) {
    findings.push_back({Health::failed, "agent", fmt::format("unhealthy: {}", health->body.substr(0, 120)),
                        "tidewatt power detect"});
  } else {
    findings.push_back({Health::ok, "agent", "healthy on " + url, ""});
  }
}

void check_sources(std::vector<Finding>& findings) {
  const auto files = os::make_file_system();
  const auto processes = os::make_process_runner();
  const os::SystemClock clock;
  const auto found = sensors::detect(*files, *processes, clock);
  const auto usable = std::count_if(found.begin(), found.end(), [](const auto& d) { return d.usable; });
  if (usable == 0)
    findings.push_back({Health::warning, "sources", "this machine has no power source that we can read",
                        "see why: tidewatt power detect (virtual machines usually have none)"});
  for (const auto& source : found)
    if (source.usable) findings.push_back({Health::ok, "source", source.source + ": " + source.summary, ""});
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
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Example: tidewatt doctor --server https://tidewatt.example:7310 --token-file ops.token");
  command->callback([options, &exit_code] {
    std::vector<Finding> findings;
    check_server(options->access, findings);
    check_agent(options->access, options->agent, findings);
    check_sources(findings);
    exit_code = print(findings, options->json);
  });
}

}  // namespace tidewatt::cli
