#include "process.h"

#include <signal.h>
#include <time.h>

#include <algorithm>

namespace tidewatt::app {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGINT);
  ::sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

StopSignal::StopSignal() {
  const sigset_t set = stop_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);  // a peer that closes is an error to handle, not a reason to die
}

bool StopSignal::wait(Milliseconds time) {
  if (asked_) return true;
  const sigset_t set = stop_signals();
  const auto ms = std::max<std::int64_t>(time.count(), 0);
  const timespec left{.tv_sec = static_cast<time_t>(ms / 1000),
                      .tv_nsec = static_cast<long>(ms % 1000 * 1'000'000)};
  const int signal = ::sigtimedwait(&set, nullptr, &left);
  if (signal == SIGHUP) reload_ = true;
  asked_ = signal > 0 && signal != SIGHUP;
  return asked_ || reload_;
}

}  // namespace tidewatt::app
