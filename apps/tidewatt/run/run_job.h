// The command of a run as processes: started, told, stopped, and known again after whoever started it died.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "run_folder.h"
#include "tidewatt/runner/order.h"

namespace tidewatt::cli {

class RunJob {
 public:
  RunJob(const RunFolder& folder, const runner::Order& order);

  /// Takes up the command that an earlier keeper started. @return false when none runs
  bool adopt();
  /// Whether one was ever started, by whomever.
  [[nodiscard]] bool was_started() const;
  /// Starts it in a session, and so a process group, of its own. It begins only after its identity is on
  /// disk, so that no death of ours makes it run unknown.
  /// @error what the system says; nothing runs then
  Status start();

  [[nodiscard]] bool runs() const { return pid_ > 0; }
  /// Its exit code, or 128 + the signal, once it ended; nullopt while it runs. -1: it ended, and wasn't ours
  /// to be told how.
  std::optional<int> ended();

  void send(int signal) const;
  Status pause() const;
  Status resume() const;
  /// Of a command that ran: everything in its group and cgroup is killed.
  void kill_all() const;
  /// Removes its cgroup, unless processes that it left behind are in there.
  void leave_cgroup() const;

 private:
  [[nodiscard]] Status freeze(bool frozen) const;
  void enter_cgroup();

  const RunFolder& folder_;
  const runner::Order& order_;
  pid_t pid_ = 0;
  bool ours_ = false;   ///< our child: we are told how it ends
  std::string cgroup_;  ///< of its own; empty = it has none
};

/// Why a command can't be frozen here; empty when it can.
std::string freeze_problem(const FileSystem& files);

}  // namespace tidewatt::cli
