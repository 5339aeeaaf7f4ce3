#include "worker_pool.h"

#include <algorithm>
#include <utility>

namespace tidewatt::net {
namespace {

/// Until a job was timed: a burst that comes first thing must not all be let in.
constexpr std::chrono::milliseconds kAssumedPace{5};
constexpr int kMemory = 16;  ///< jobs

}  // namespace

WorkerPool::WorkerPool(std::size_t threads, std::size_t max_queued, std::chrono::milliseconds longest_wait)
    : thread_count_(std::max<std::size_t>(threads, 1)),
      max_queued_(max_queued),
      longest_wait_(longest_wait),
      pace_(kAssumedPace) {
  for (std::size_t i = 0; i < thread_count_; ++i) threads_.emplace_back([this] { work(); });
}

WorkerPool::Clock::duration WorkerPool::expected_wait() const {
  return pace_ * static_cast<Clock::rep>(jobs_.size()) / static_cast<Clock::rep>(thread_count_);
}

bool WorkerPool::submit(Job job) {
  {
    const std::lock_guard lock{mutex_};
    const auto now = Clock::now();
    if (stopping_ || jobs_.size() >= max_queued_) return false;
    if (!jobs_.empty() && std::max(now - jobs_.front().since, expected_wait()) > longest_wait_) return false;
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
    const auto began = Clock::now();
    job();
    const auto took = Clock::now() - began;
    const std::lock_guard lock{mutex_};
    pace_ += (took - pace_) / kMemory;
  }
}

}  // namespace tidewatt::net
