// tidewatt slurm sync|controller|report, one file each.
#pragma once

namespace CLI {
class App;
}

namespace tidewatt::cli {

inline constexpr const char* kSlurmFolder = "/var/lib/tidewatt-slurm";

void add_slurm_sync(CLI::App& group, int& exit_code);
void add_slurm_controller(CLI::App& group, int& exit_code);
void add_slurm_report(CLI::App& group, int& exit_code);

}  // namespace tidewatt::cli
