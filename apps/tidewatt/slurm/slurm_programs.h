// squeue, scontrol and sacct, called without a shell, with time-outs and bounded output.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tidewatt/base/process.h"
#include "tidewatt/base/result.h"
#include "tidewatt/base/rng.h"
#include "tidewatt/slurm/accounting.h"
#include "tidewatt/slurm/controller.h"
#include "tidewatt/slurm/queue.h"

namespace CLI {
class App;
}

namespace tidewatt::cli {

struct SlurmPlace {
  std::string programs;  ///< folder of squeue and scontrol; empty: the usual ones
  std::string config;    ///< SLURM_CONF; empty: theirs
  void add_options(CLI::App& command);
};

class SlurmPrograms {
 public:
  explicit SlurmPrograms(SlurmPlace place);
  /// Jobs that wait or run, of all users and partitions.
  Result<slurm::Queue> queue();
  /// @param after  how long after now a begin time lies, as Slurm's clock counts; not used by other acts
  Status carry_out(const slurm::Action& action, Milliseconds after);
  /// Jobs that had any state in the range; from slurmdbd.
  Result<slurm::Accounting> accounting(UtcRange range);

 private:
  Result<std::string> run(const std::string& program, std::vector<std::string> arguments);
  std::string new_mark();

  SlurmPlace place_;
  std::unique_ptr<ProcessRunner> runner_;
  std::unique_ptr<Rng> rng_;
};

}  // namespace tidewatt::cli
