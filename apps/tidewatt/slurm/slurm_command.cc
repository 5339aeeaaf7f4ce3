#include <CLI/CLI.hpp>

#include "../command.h"
#include "slurm_commands.h"

namespace tidewatt::cli {

void add_slurm_command(CLI::App& app, int& exit_code) {
  auto* group = app.add_subcommand("slurm", "Slurm: begin times in clean windows, and what jobs used");
  group->require_subcommand(1);
  group->footer("Example: tidewatt slurm sync --zone DE --once\nDocs: docs/operate/slurm.md");
  add_slurm_sync(*group, exit_code);
  add_slurm_controller(*group, exit_code);
  add_slurm_report(*group, exit_code);
}

}  // namespace tidewatt::cli
