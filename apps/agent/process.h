#pragma once

#include <utility>

#include "tidewatt/units/time.h"

namespace tidewatt::app {

/// SIGTERM, SIGINT and SIGHUP as something to wait for. Make it before any thread, so that all inherit the
/// mask.
class StopSignal {
 public:
  StopSignal();
  /// @return true as soon as the process shall stop or read its settings again, false when the time is over
  bool wait(Milliseconds time);
  [[nodiscard]] bool asked() const { return asked_; }
  /// SIGHUP came. Asked once: the answer is then forgotten.
  [[nodiscard]] bool reload_asked() { return std::exchange(reload_, false); }

 private:
  bool asked_ = false;
  bool reload_ = false;
};

}  // namespace tidewatt::app
