// The subcommands of `tidewatt`, one file each: options, then what they do. They leave their exit code
// behind.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace tidewatt::cli {

inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;

/// Ends parsing as a wrong use of `option` does: one line on stderr, exit 2.
[[noreturn]] void usage_error(const std::string& option, const std::string& what);

void add_aif_command(CLI::App& app, int& exit_code);
void add_ledger_command(CLI::App& app, int& exit_code);
void add_power_command(CLI::App& app, int& exit_code);
void add_energy_command(CLI::App& app, int& exit_code);
void add_backup_commands(CLI::App& app, int& exit_code);
void add_carbon_command(CLI::App& app, int& exit_code);
void add_continuum_command(CLI::App& app, int& exit_code);
void add_k8s_command(CLI::App& app, int& exit_code);
void add_market_command(CLI::App& app, int& exit_code);
void add_quota_command(CLI::App& app, int& exit_code);
void add_plan_command(CLI::App& app, int& exit_code);
void add_doctor_command(CLI::App& app, int& exit_code);
void add_forecast_command(CLI::App& app, int& exit_code);
void add_help_commands(CLI::App& app, int& exit_code);
void add_run_command(CLI::App& app, int& exit_code);
void add_predict_command(CLI::App& app, int& exit_code);
void add_report_command(CLI::App& app, int& exit_code);
void add_slurm_command(CLI::App& app, int& exit_code);
void add_study_command(CLI::App& app, int& exit_code);
void add_token_command(CLI::App& app, int& exit_code);

}  // namespace tidewatt::cli
