#include "tidewatt/agent/delivery_thread.h"

#include <exception>

#include "tidewatt/base/log.h"

namespace tidewatt::agent {

DeliveryThread::DeliveryThread(Sender& sender, const Clock& clock, std::unique_ptr<net::HttpClient> client,
                               std::unique_ptr<net::HttpClient> last_client)
    : sender_(sender), clock_(clock), client_(std::move(client)), last_client_(std::move(last_client)) {
  thread_ = std::thread([this] { run(); });
}

DeliveryThread::~DeliveryThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void DeliveryThread::wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  changed_.notify_all();
}

bool DeliveryThread::stop(Milliseconds patience) {
  std::unique_lock lock(mutex_);
  stop_ = true;
  last_try_ = true;
  changed_.notify_all();
  return changed_.wait_for(lock, patience, [this] { return ended_; });
}

void DeliveryThread::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    woken_ = false;
    lock.unlock();
    std::optional<SteadyTime> next;
    try {
      next = sender_.step(*client_);
    } catch (const std::exception& error) {
      log::error("sending failed in an unexpected way; tried again later", {{"error", error.what()}});
      next = clock_.mono_now() + std::chrono::minutes{1};
    }
    lock.lock();
    if (stop_) break;
    if (!next) {
      changed_.wait(lock, [this] { return woken_ || stop_; });
    } else if (const Milliseconds wait = *next - clock_.mono_now(); wait > Milliseconds{0}) {
      // A new beat doesn't cut a back-off short.
      changed_.wait_for(lock, wait, [this] { return stop_; });
    }
  }
  if (last_try_) {
    lock.unlock();
    try {
      sender_.last_attempt(*last_client_);
    } catch (const std::exception& error) {
      log::error("the last try failed in an unexpected way", {{"error", error.what()}});
    }
    lock.lock();
  }
  ended_ = true;
  changed_.notify_all();
}

}  // namespace tidewatt::agent
