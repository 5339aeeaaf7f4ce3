// Again, a little later each time, with jitter, until a time limit.
#pragma once

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "tidewatt/units/time.h"

namespace tidewatt::store::pg {

class Retry {
 public:
  explicit Retry(Milliseconds limit, int tries = 20)
      : until_(std::chrono::steady_clock::now() + limit), tries_(tries) {}

  /// Waits and says true; false at once when tries or time are used up.
  bool again() {
    static thread_local std::minstd_rand random{std::random_device{}()};
    if (--tries_ <= 0) return false;
    const auto pause = Milliseconds{std::uniform_int_distribution<int>(pause_ / 2, pause_)(random)};
    pause_ = std::min(pause_ * 2, 1'000);
    if (std::chrono::steady_clock::now() + pause >= until_) return false;
    std::this_thread::sleep_for(pause);
    return true;
  }

 private:
  std::chrono::steady_clock::time_point until_;
  int tries_;
  int pause_ = 20;
};

}  // namespace tidewatt::store::pg
