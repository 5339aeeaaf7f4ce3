// The one thread that writes. Calls queue up; it takes all that wait (bounded), commits once and answers them
// all.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "db.h"
#include "fold.h"
#include "indexes.h"
#include "state.h"
#include "tidewatt/store/sqlite.h"

namespace tidewatt::store {

class Writer {
 public:
  /// A write that isn't an accrual, in the writer's transaction.
  using Direct = std::function<Status(Database&)>;
  using Outcomes = std::vector<ledger::AccrueOutcome>;

  Writer(Database db, State& state, const SqliteOptions& options);
  /// Nodes from the tables, then what a crash left in the journal.
  Status load();
  /// From here on calls are taken.
  void start();
  /// Finishes what is queued, folds the journal into the tables and ends the thread.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Waits for the commit. @error unavailable  the queue is full, or the disk
  Result<Outcomes> accrue(std::span<const ledger::Accrual> accruals);
  Status run(Direct direct);
  /// The same outside of any transaction, when nothing is in the journal that the tables don't have.
  Status run_settled(Direct direct);
  /// Folds the journal within a second or so. Thread-safe; doesn't wait.
  void fold_soon();

 private:
  struct Job {
    std::span<const ledger::Accrual> accruals;
    Direct direct;
    bool settled = false;
    Result<Outcomes> answer;
    std::promise<void> done;
    [[nodiscard]] std::size_t size() const { return accruals.empty() ? 1 : accruals.size(); }
  };

  Result<Outcomes> wait_for(Job& job);
  void loop();
  /// The next commit's jobs; empty when a checkpoint is due or the writer shall stop.
  std::vector<Job*> take();
  void commit(const std::vector<Job*>& jobs);
  Status write(const std::vector<Job*>& jobs);
  Status run_direct(Job& job);
  Status append_journal();
  /// Sooner after a failed one.
  [[nodiscard]] std::chrono::steady_clock::time_point next_checkpoint() const;
  [[nodiscard]] bool checkpoint_due() const;
  void fold_journal();
  void run_alone(Job& job);
  [[nodiscard]] UtcTime now() const;

  Database db_;
  State& state_;
  SqliteOptions options_;
  AccountIndex accounts_;
  NameIndex names_;
  Fold fold_;
  std::string journal_row_;
  bool checkpoint_failed_ = false;
  std::atomic<bool> fold_soon_{false};
  std::chrono::steady_clock::time_point last_checkpoint_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job*> queue_;
  std::size_t queued_ = 0;  ///< accruals and other writes in the queue
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace tidewatt::store
