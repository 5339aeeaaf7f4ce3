// The threads that commit. Calls queue up; each thread takes what waits (bounded), commits once and answers.
// Two threads never hold the same node.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "../journal/changes.h"
#include "commit_line.h"
#include "nodes.h"
#include "numbers.h"
#include "tidewatt/ledger/store.h"

namespace tidewatt::store::pg {

class Writers {
 public:
  using Outcomes = std::vector<ledger::AccrueOutcome>;
  /// @param committed  told the size of each journal row, in the committing thread
  Writers(const Target& target, Nodes& nodes, Accounts& accounts, Names& names,
          std::function<void(std::size_t)> committed);
  void start();
  /// Finishes what is queued and ends the threads.
  ~Writers();
  Writers(const Writers&) = delete;
  Writers& operator=(const Writers&) = delete;

  /// Waits for the commit. @error unavailable  the queue is full, the journal is, or the database doesn't
  /// answer
  Result<Outcomes> accrue(std::span<const ledger::Accrual> accruals);
  /// The journal's size as last seen: beyond four times fold_bytes (256 MiB at least) nothing is booked until
  /// it is folded.
  void set_journal_bytes(std::size_t bytes) { journal_bytes_ = bytes; }

 private:
  struct Job {
    std::span<const ledger::Accrual> accruals;
    std::vector<Node*> nodes;  ///< of each accrual
    Result<Outcomes> answer;
    std::promise<void> done;
  };
  /// One node's accruals in a commit, one after the other.
  struct Chain {
    Node* node = nullptr;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::vector<const ledger::Accrual*> accruals;
    std::vector<ledger::AccrueOutcome*> outcomes;
    std::string encoded;  ///< the cursor at `to`
  };
  /// A thread's own.
  struct Bench {
    explicit Bench(const Target& target) : line(target) {}
    CommitLine line;
    std::unordered_map<std::string, std::int64_t, KeyHash, std::equal_to<>> names;
    Changes changes;
    std::string scratch;
    CommitBatch batch;
  };

  void loop();
  std::vector<Job*> take();
  void release(const std::vector<Job*>& jobs);
  void commit(Bench& bench, const std::vector<Job*>& jobs);
  Status write(Bench& bench, const std::vector<Job*>& jobs);
  std::vector<Chain> decide(const std::vector<Job*>& jobs);
  Status number_all(Connection& db, Bench& bench, std::vector<Chain>& chains);
  Status encode_all(Bench& bench, std::vector<Chain>& chains);
  void settle(std::vector<Chain>& chains, const std::optional<std::vector<std::int64_t>>& moved);

  const Target& target_;
  Nodes& nodes_;
  Accounts& accounts_;
  Names& names_;
  std::function<void(std::size_t)> committed_;
  std::atomic<std::size_t> journal_bytes_{0};
  std::atomic<bool> failing_{false};

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job*> queue_;
  std::size_t queued_ = 0;  ///< accruals in the queue
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tidewatt::store::pg
