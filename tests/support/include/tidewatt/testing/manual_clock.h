#pragma once

#include "tidewatt/base/clock.h"

namespace tidewatt::testing {

/// advance() moves both clocks; jump() only the wall clock.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(UtcTime start, SteadyTime mono = SteadyTime{Milliseconds{1'000'000}})
      : utc_(start), mono_(mono) {}
  [[nodiscard]] UtcTime utc_now() const override { return utc_; }
  [[nodiscard]] SteadyTime mono_now() const override { return mono_; }
  void advance(Milliseconds by) {
    utc_ += by;
    mono_ += by;
  }
  void jump(Milliseconds by) { utc_ += by; }

 private:
  UtcTime utc_;
  SteadyTime mono_;
};

}  // namespace tidewatt::testing
