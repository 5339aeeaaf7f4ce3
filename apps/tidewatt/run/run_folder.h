// A run's folder: its files, who holds it, and the clock that all its processes share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/base/clock.h"
#include "tidewatt/base/file_system.h"
#include "tidewatt/base/result.h"
#include "tidewatt/runner/order.h"
#include "tidewatt/runner/plan.h"

namespace tidewatt::cli {

/// An exclusive lock on a file; given back on destruction and by the death of the process.
class FolderLock {
 public:
  /// nullopt while another process holds it.
  static std::optional<FolderLock> take(const std::string& path);
  static bool is_taken(const std::string& path);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

/// A clock for trials: it shows `begin` at `origin` and runs `speed` times as fast.
struct TrialClock {
  UtcTime begin;
  SteadyTime origin;
  double speed = 1;
};

class RunFolder {
 public:
  /// @param path  an existing folder
  RunFolder(std::shared_ptr<FileSystem> files, std::string path);

  /// Makes the folder of a new run below `base`, and what every process of the run needs to find in it.
  static Result<RunFolder> create(std::shared_ptr<FileSystem> files, const std::string& base,
                                  const runner::Order& order, const runner::Plan& plan,
                                  const std::optional<TrialClock>& trial);
  static Result<RunFolder> open(std::shared_ptr<FileSystem> files, const std::string& base,
                                const std::string& id);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Result<runner::Order> order() const;
  [[nodiscard]] Result<runner::Plan> plan() const;
  [[nodiscard]] Result<runner::Record> record() const;
  Status put(const runner::Plan& plan) const;
  Status put(const runner::Record& record) const;
  /// The run's clock: the system's, or a trial's.
  [[nodiscard]] Result<std::shared_ptr<Clock>> clock() const;

  /// Who was started for the command; see run_job.h.
  [[nodiscard]] std::string job_file() const { return path_ + "/job.json"; }
  /// Touched by the command when its state is saved.
  [[nodiscard]] std::string checkpoint_file() const { return path_ + "/checkpoint.done"; }
  [[nodiscard]] std::string keeper_lock() const { return path_ + "/keeper.lock"; }
  [[nodiscard]] std::string front_lock() const { return path_ + "/front.lock"; }
  /// Why the keeper couldn't go on.
  [[nodiscard]] std::string keeper_log() const { return path_ + "/keeper.log"; }
  [[nodiscard]] FileSystem& files() const { return *files_; }

 private:
  std::shared_ptr<FileSystem> files_;
  std::string path_;
};

/// Where this user's runs lie: $XDG_STATE_HOME/tidewatt/runs, else ~/.local/state/tidewatt/runs.
std::string default_runs_folder();
/// Their ids, oldest first.
std::vector<std::string> run_ids(const FileSystem& files, const std::string& base);
/// Removes the oldest ended runs beyond the last 200.
void forget_old_runs(const std::shared_ptr<FileSystem>& files, const std::string& base);
/// The median time of runs of the same command that ended well.
std::optional<Milliseconds> usual_duration(const std::shared_ptr<FileSystem>& files, const std::string& base,
                                           const std::vector<std::string>& argv);

}  // namespace tidewatt::cli
