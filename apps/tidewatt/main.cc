#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "command.h"
#include "help/command_tree.h"
#include "library_look.h"
#include "run/run_keeper.h"
#include "server_command.h"
#include "tidewatt/config/suggest.h"

namespace {

/// The first word that names no command where one is due: "tidewatt: "frob" is no command (...)".
std::string unknown_command(const CLI::App& app, int argc, const char* const* argv) {
  const CLI::App* at = &app;
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
    const auto commands = at->get_subcommands([](const CLI::App*) { return true; });
    if (commands.empty()) return {};
    const CLI::App* next = nullptr;
    for (const auto* command : commands)
      if (command->check_name(argv[i])) next = command;
    if (next == nullptr) {
      std::vector<std::string> names;
      std::string known;
      for (const auto* command : commands) {
        names.push_back(command->get_name());
        known += (known.empty() ? "" : ", ") + names.back();
      }
      const auto near = tidewatt::config::nearest(argv[i], names);
      return at->get_name() + ": \"" + argv[i] + "\" is no command (there are: " + known + ")" +
             (near.empty() ? "" : ". Did you mean \"" + near + "\"?");
    }
    at = next;
  }
  return {};
}

/// " Did you mean --json?" where an option is unknown and one of the command's is near.
std::string did_you_mean(const CLI::App& command, const CLI::Error& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return {};
  const std::string told = error.what();
  const auto begin = told.find(" -");
  if (begin == std::string::npos) return {};
  const auto near =
      tidewatt::cli::nearest_option(command, told.substr(begin + 1, told.find(' ', begin + 1) - begin - 1));
  return near.empty() ? "" : ". Did you mean " + near + "?";
}

}  // namespace

int main(int argc, char** argv) {
  // How `power detect` and `doctor` open a vendor's library; no command for people.
  if (argc == 4 && std::string_view{argv[1]} == "sensor") tidewatt::cli::run_library_look(argv[2], argv[3]);
  // The process behind `tidewatt run` that looks after its command.
  if (argc == 3 && std::string_view{argv[1]} == tidewatt::cli::kKeeperWord)
    return tidewatt::cli::keep_run(argv[2]);
  CLI::App app{"tidewatt: honest energy and carbon accounts for compute clusters"};
  app.name("tidewatt");
  app.set_version_flag("--version", TIDEWATT_VERSION);
  app.require_subcommand(1);
  app.footer("Every command has --help with an example. Docs: docs/README.md");
  app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
    std::string command = failed->get_name();
    for (auto parsed = failed->get_subcommands(); !parsed.empty(); parsed = failed->get_subcommands()) {
      failed = parsed.front();
      command += " " + failed->get_name();
    }
    return "tidewatt: " + std::string(error.what()) + did_you_mean(*failed, error) + " (see " + command +
           " --help)\n";
  });

  int exit_code = tidewatt::cli::kOk;
  tidewatt::cli::add_server_command(app, exit_code);
  tidewatt::cli::add_demo_command(app, exit_code);
  tidewatt::cli::add_energy_command(app, exit_code);
  tidewatt::cli::add_power_command(app, exit_code);
  tidewatt::cli::add_forecast_command(app, exit_code);
  tidewatt::cli::add_predict_command(app, exit_code);
  tidewatt::cli::add_ledger_command(app, exit_code);
  tidewatt::cli::add_carbon_command(app, exit_code);
  tidewatt::cli::add_k8s_command(app, exit_code);
  tidewatt::cli::add_plan_command(app, exit_code);
  tidewatt::cli::add_quota_command(app, exit_code);
  tidewatt::cli::add_market_command(app, exit_code);
  tidewatt::cli::add_run_command(app, exit_code);
  tidewatt::cli::add_slurm_command(app, exit_code);
  tidewatt::cli::add_study_command(app, exit_code);
  tidewatt::cli::add_aif_command(app, exit_code);
  tidewatt::cli::add_continuum_command(app, exit_code);
  tidewatt::cli::add_report_command(app, exit_code);
  tidewatt::cli::add_token_command(app, exit_code);
  tidewatt::cli::add_backup_commands(app, exit_code);
  tidewatt::cli::add_doctor_command(app, exit_code);
  tidewatt::cli::add_help_commands(app, exit_code);
  if (argc == 1) {
    std::fprintf(stderr, "%s", app.help().c_str());
    return tidewatt::cli::kUsage;
  }
  if (const auto unknown = unknown_command(app, argc, argv); !unknown.empty()) {
    std::fprintf(stderr, "%s\n", unknown.c_str());
    return tidewatt::cli::kUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? tidewatt::cli::kOk : tidewatt::cli::kUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tidewatt: internal error: %s\n", error.what());
    return tidewatt::cli::kFailed;
  }
  return exit_code;
}
