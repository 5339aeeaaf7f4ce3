#pragma once

#include <optional>
#include <string_view>

#include "tidewatt/base/rng.h"
#include "tidewatt/units/time.h"

namespace tidewatt::agent {

/// How long to wait after the n-th failure in a row: uniform in [0, first x 2^(n-1)), at most `most` ("full
/// jitter": thousands of agents that lost the same server don't come back at once).
class BackOff {
 public:
  explicit BackOff(Milliseconds first = Milliseconds{1'000}, Milliseconds most = Milliseconds{60'000})
      : first_(first), most_(most) {}
  /// The wait after one more failure.
  Milliseconds next(Rng& rng);
  void reset() { failures_ = 0; }
  [[nodiscard]] int failures() const { return failures_; }

 private:
  Milliseconds first_;
  Milliseconds most_;
  int failures_ = 0;
};

/// The Retry-After header: seconds or an HTTP date. nullopt when it is neither. Never negative; at most ten
/// minutes, since a wrong clock or a typing mistake elsewhere mustn't silence a node for days.
std::optional<Milliseconds> parse_retry_after(std::string_view header, UtcTime now);

/// The next due time of something periodic: counted from the previous one, so that it doesn't drift; turns
/// that were missed are skipped, so that nothing bursts after a pause.
constexpr SteadyTime next_due(SteadyTime previous, Milliseconds period, SteadyTime now) {
  const SteadyTime due = previous + period;
  if (due > now) return due;
  return due + period * ((now - due) / period + 1);
}

}  // namespace tidewatt::agent
