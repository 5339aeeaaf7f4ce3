#include "server_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "input.h"
#include "server_flags.h"
#include "server_runtime.h"
#include "tidewatt/base/log.h"
#include "tidewatt/net/certificate.h"
#include "tidewatt/os/posix.h"
#include "tidewatt/store/postgres.h"

namespace tidewatt::cli {
namespace {

struct ServerOptions {
  ServerFlags flags;
  std::string config_file;
  std::string agent_token_copy;
  bool check_config = false;
  bool sample_config = false;
};

/// What a start would stumble over or silently live without.
std::vector<std::string> what_is_missing(const ServerArguments& arguments, const FileSystem& files) {
  std::vector<std::string> missing;
  for (const auto& [setting, path] :
       {std::pair{"tls.certificate", arguments.tls_certificate}, std::pair{"tls.key", arguments.tls_key}}) {
    if (path.empty()) continue;
    const auto pem = files.read_text(path);
    if (!pem) {
      missing.push_back(fmt::format("{}: {}", setting, pem.error().to_string()));
    } else if (path == arguments.tls_certificate) {
      const auto life = net::certificate_life(*pem);
      if (!life)
        missing.push_back(fmt::format("{}: {}: {}", setting, path, life.error().to_string()));
      else if (life->end <= os::SystemClock{}.utc_now())
        missing.push_back(
            fmt::format("{}: {} expired at {}: renew it", setting, path, format_rfc3339_short(life->end)));
    }
  }
  for (const char* name : {"ops.token", "agent.token"}) {
    const auto path = fmt::format("{}/{}", arguments.data_folder, name);
    const auto text = files.read_text(path);
    // The first start makes it.
    if (!text && text.error().code != ErrorCode::not_found)
      missing.push_back(fmt::format("data: {}", text.error().to_string()));
  }
  return missing;
}

/// @return the exit code: 2 when a start with these settings would not do what they say
int check_config(const LoadedServer& loaded, const FileSystem& files) {
  fmt::print("{}\n", loaded.effective);
  const auto& factor = loaded.arguments.api.factor;
  for (const auto& warning : factor.warnings)
    fmt::print(factor.value_ignored ? stderr : stdout, "{}warning: {}\n",
               factor.value_ignored ? "tidewatt server: " : "", warning);
  const auto missing = what_is_missing(loaded.arguments, files);
  for (const auto& problem : missing) fmt::print(stderr, "tidewatt server: {}\n", problem);
  return factor.value_ignored || !missing.empty() ? kUsage : kOk;
}

int run_server(const ServerOptions& options) {
  const auto files = os::make_file_system();
  if (options.sample_config) {
    fmt::print("{}", server_settings_table().sample_yaml());
    return kOk;
  }
  auto loaded = load_server_settings(options.config_file, options.flags.given(), *files);
  for (const auto& problem : loaded.problems) fmt::print(stderr, "tidewatt server: {}\n", problem);
  if (!loaded.problems.empty()) {
    if (options.check_config)
      for (const auto& problem : what_is_missing(loaded.arguments, *files))
        fmt::print(stderr, "tidewatt server: {}\n", problem);
    return kUsage;
  }
  if (options.check_config) return check_config(loaded, *files);
  loaded.arguments.agent_token_copy = options.agent_token_copy;
  block_stop_and_reload_signals();
  auto runtime = ServerRuntime::start(loaded.arguments, *files);
  if (!runtime) return report("server", runtime.error());
  for (const auto& warning : loaded.arguments.api.factor.warnings) log::warning(warning);
  const auto& folder = loaded.arguments.data_folder;
  fmt::print("Tidewatt {} serves on {}\n", loaded.arguments.api.version, (*runtime)->url());
  if (const auto url = (*runtime)->cluster_url(); !url.empty())
    fmt::print("  for a cluster's control plane, without sign-in: {}/k8s/\n", url);
  if (const auto port = (*runtime)->scaler_port())
    fmt::print("  KEDA's external scaler, without sign-in: port {}\n", *port);
  fmt::print("  sign in (once, within 15 minutes): {}\n", (*runtime)->login_link("/"));
  fmt::print("  ledger: {}\n", loaded.arguments.store == "memory" ? "in memory, lost at exit"
                               : store::is_postgres_url(loaded.arguments.store)
                                   ? store::without_password(loaded.arguments.store)
                                   : folder + "/tidewatt.db");
  fmt::print("  operator's token: {0}/ops.token   agents' token: {0}/agent.token\n", folder);
  std::fflush(stdout);
  while (wait_for_stop_or_reload() == Asked::reload) (*runtime)->reload_certificate();
  fmt::print("stopping: running requests end first\n");
  (*runtime)->stop();
  return kOk;
}

}  // namespace

void add_server_command(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("server", "Run the server: ledger, HTTP API and pages");
  auto options = std::make_shared<ServerOptions>();
  options->flags.add_to(*command);
  command->add_option("--config", options->config_file, "YAML file with settings")->type_name("FILE");
  command->add_flag("--check-config", options->check_config,
                    "Say what is wrong with the settings, or print them, and exit");
  command->add_flag("--sample-config", options->sample_config,
                    "Print a settings file with every setting and its default");
  command
      ->add_option("--print-agent-token", options->agent_token_copy,
                   "Also write the agents' token to this file (0600)")
      ->type_name("FILE");
  command->footer("Example: tidewatt server --data ./ledger --listen 127.0.0.1:7310");
  command->callback([options, &exit_code] { exit_code = run_server(*options); });
}

}  // namespace tidewatt::cli
