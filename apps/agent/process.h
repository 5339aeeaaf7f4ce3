#pragma once

#include "tidewatt/units/time.h"

namespace tidewatt::app {

/// SIGTERM and SIGINT as something to wait for. Make it before any thread, so that all inherit the mask.
class StopSignal {
 public:
  StopSignal();
  /// @return true as soon as the process shall stop, false when the time is over
  bool wait(Milliseconds time);
  [[nodiscard]] bool asked() const { return asked_; }

 private:
  bool asked_ = false;
};

}  // namespace tidewatt::app
