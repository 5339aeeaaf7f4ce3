// When a provider may be asked: a circuit breaker that respects Retry-After and refusals. Pure: time comes
// in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tidewatt/units/time.h"

namespace tidewatt::carbon {

enum class FetchFailure : std::uint8_t {
  timed_out,
  unreachable,
  unauthorised,  ///< 401: token missing, bad, or the plan doesn't cover this zone
  forbidden,     ///< 403
  rate_limited,  ///< 429
  refused,       ///< another 4xx
  server_error,  ///< 5xx
  malformed,     ///< not the provider's format, cut off, or an error in a 200
  empty,         ///< nothing usable in it
  wrong_zone,    ///< an answer for another zone than asked
  other_series,  ///< of another kind, boundary or basis than configured
  stale,         ///< its newest value is hours old
};
std::string_view to_string(FetchFailure failure);

/// What a status and the parser's word mean; nullopt = an answer to use.
std::optional<FetchFailure> failure_of_status(int status);

/// Seconds or an HTTP date are common; only seconds are told here. nullopt for anything else.
std::optional<Milliseconds> parse_retry_after(std::string_view text);

/// closed = asked normally; open = left alone until a time; half open = that time has come, one try decides.
class ProviderHealth {
 public:
  static constexpr int kFailuresToOpen = 3;
  static constexpr Milliseconds kFirstPause{30'000};
  static constexpr Milliseconds kLongestPause{15LL * 60 * 1000};
  static constexpr Milliseconds kRefusedPause{15LL * 60 *
                                              1000};      ///< 401 and 403: asking again changes little
  static constexpr Milliseconds kRateLimitPause{60'000};  ///< 429 without Retry-After
  static constexpr Milliseconds kLongestRetryAfter{6LL * 3600 * 1000};

  [[nodiscard]] bool may_ask(SteadyTime now) const { return now >= not_before_; }
  [[nodiscard]] SteadyTime not_before() const { return not_before_; }
  [[nodiscard]] bool open(SteadyTime now) const { return failures_ >= kFailuresToOpen && now < not_before_; }
  [[nodiscard]] int failures_in_a_row() const { return failures_; }
  [[nodiscard]] std::optional<FetchFailure> last_failure() const { return last_; }

  void succeeded();
  void failed(FetchFailure failure, SteadyTime now, std::optional<Milliseconds> retry_after = std::nullopt);

 private:
  SteadyTime not_before_{SteadyTime::min()};
  int failures_ = 0;
  std::optional<FetchFailure> last_;
};

/// Lets one of many callers fetch; the others live on what is there.
class FetchGate {
 public:
  /// True for the one that shall fetch now; it must call done().
  [[nodiscard]] bool claim(UtcTime now);
  void done(UtcTime next);
  [[nodiscard]] bool in_flight() const { return in_flight_; }
  [[nodiscard]] UtcTime due() const { return due_; }

 private:
  UtcTime due_{};
  bool in_flight_ = false;
};

}  // namespace tidewatt::carbon
