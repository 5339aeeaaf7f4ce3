#pragma once

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

  WorkerPool(std::size_t threads, std::size_t max_queued);
  ~WorkerPool() { stop(); }
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// @return false when the queue is full or the pool stops: the job will not run
  bool submit(Job job);
  /// Ends after the running jobs; queued ones are dropped. Idempotent.
  void stop();

 private:
  void work();

  const std::size_t max_queued_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tidewatt::net
