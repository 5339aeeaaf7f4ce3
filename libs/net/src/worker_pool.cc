#include "worker_pool.h"

#include <algorithm>
#include <utility>

namespace tidewatt::net {

WorkerPool::WorkerPool(std::size_t threads, std::size_t max_queued, std::chrono::milliseconds longest_wait)
    : max_queued_(max_queued), longest_wait_(longest_wait) {
  for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i)
    threads_.emplace_back([this] { work(); });
}

bool WorkerPool::submit(Job job) {
  {
    const std::lock_guard lock{mutex_};
    const auto now = std::chrono::steady_clock::now();
    if (stopping_ || jobs_.size() >= max_queued_) return false;
    if (!jobs_.empty() && now - jobs_.front().since > longest_wait_) return false;
    jobs_.push_back({std::move(job), now});
  }
  changed_.notify_one();
  return true;
}

void WorkerPool::stop() {
  std::deque<Waiting> dropped;
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
    dropped.swap(jobs_);
  }
  changed_.notify_all();
  for (auto& thread : threads_)
    if (thread.joinable()) thread.join();
}

void WorkerPool::work() {
  for (;;) {
    Job job;
    {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      job = std::move(jobs_.front().job);
      jobs_.pop_front();
    }
    job();
  }
}

}  // namespace tidewatt::net
