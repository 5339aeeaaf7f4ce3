#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "command.h"
#include "server_command.h"

int main(int argc, char** argv) {
  CLI::App app{"tidewatt: honest energy and carbon accounts for compute clusters"};
  app.name("tidewatt");
  app.set_version_flag("--version", TIDEWATT_VERSION);
  app.require_subcommand(1);
  app.footer("Every command has --help with an example. Docs: docs/README.md");
  app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
    return std::string("tidewatt: ") + error.what() + " (see " + failed->get_name() + " --help)\n";
  });

  int exit_code = tidewatt::cli::kOk;
  tidewatt::cli::add_server_command(app, exit_code);
  tidewatt::cli::add_demo_command(app, exit_code);
  tidewatt::cli::add_energy_command(app, exit_code);
  tidewatt::cli::add_power_command(app, exit_code);
  tidewatt::cli::add_ledger_command(app, exit_code);
  tidewatt::cli::add_doctor_command(app, exit_code);
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
