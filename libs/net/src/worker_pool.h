#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tidewatt::net {

/// Threads that run jobs from a bounded queue.
class WorkerPool {
 public:
  using Job = std::function<void()>;

  WorkerPool(std::size_t threads, std::size_t max_queued, std::chrono::milliseconds longest_wait);
  ~WorkerPool() { stop(); }
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// @return false when the queue is full, its first job waits for too long, this one would (by the mean time
  ///         of the last jobs) or the pool stops: the job will not run
  bool submit(Job job);
  /// Ends after the running jobs; queued ones are dropped. Idempotent.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  void work();
  [[nodiscard]] Clock::duration expected_wait() const;

  struct Waiting {
    Job job;
    Clock::time_point since;
  };
  const std::size_t thread_count_;
  const std::size_t max_queued_;
  const std::chrono::milliseconds longest_wait_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> jobs_;
  Clock::duration pace_;  ///< mean time of a job, the last ones weighing most
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tidewatt::net
