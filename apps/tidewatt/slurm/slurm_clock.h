// The clock and the signal that the commands of Slurm share, a trial's faster one included.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../run/run_signal.h"
#include "../server_access.h"
#include "tidewatt/slurm/table.h"

namespace tidewatt::cli {

struct SlurmSignal {
  ServerAccess access;
  std::string zone;
  std::string file;
  std::string column = "gco2_per_kwh";
  std::string trial;
  std::string trial_since;

  void add_options(CLI::App& command);
  /// Ends the parsing as a wrong use where both or none are named.
  void check(bool needed) const;
  /// What is to come.
  [[nodiscard]] ReadSignal forecast() const;
  /// What was; nullopt where no signal is named.
  [[nodiscard]] std::optional<ReadSignal> history() const;
  /// From a trial's time to Slurm's; the identity outside of trials.
  [[nodiscard]] slurm::RealTime time() const;
};

/// True once SIGINT or SIGTERM came; the first call begins to listen.
bool stop_asked();
/// Sleeps so long, or until stop_asked.
void sleep_until_stopped(Milliseconds length);
/// Ends the parsing as a wrong use of `option` where the text is no length.
Milliseconds length_of(const std::string& option, const std::string& text);

}  // namespace tidewatt::cli
