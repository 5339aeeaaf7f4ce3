#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "tidewatt/agent/sender.h"
#include "tidewatt/net/client.h"

namespace tidewatt::agent {

/// Runs a Sender on a thread of its own, so that a slow server never delays a beat.
class DeliveryThread {
 public:
  /// @param last_client  with a short deadline, for the one try when the process ends
  DeliveryThread(Sender& sender, const Clock& clock, std::unique_ptr<net::HttpClient> client,
                 std::unique_ptr<net::HttpClient> last_client);
  /// Stops without a last try if stop() wasn't called.
  ~DeliveryThread();
  DeliveryThread(const DeliveryThread&) = delete;
  DeliveryThread& operator=(const DeliveryThread&) = delete;

  /// There is a new beat.
  void wake();
  /// One last try, then the end. @return false when it isn't over after `patience`: leave the process then,
  /// the beats are on disk
  bool stop(Milliseconds patience);

 private:
  void run();

  Sender& sender_;
  const Clock& clock_;
  std::unique_ptr<net::HttpClient> client_;
  std::unique_ptr<net::HttpClient> last_client_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  bool stop_ = false;
  bool last_try_ = false;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace tidewatt::agent
