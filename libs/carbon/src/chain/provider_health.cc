#include "tidewatt/carbon/provider_health.h"

#include <algorithm>

#include "tidewatt/units/text.h"

namespace tidewatt::carbon {

std::string_view to_string(FetchFailure failure) {
  switch (failure) {
    case FetchFailure::timed_out:
      return "timed_out";
    case FetchFailure::unreachable:
      return "unreachable";
    case FetchFailure::unauthorised:
      return "unauthorised";
    case FetchFailure::forbidden:
      return "forbidden";
    case FetchFailure::rate_limited:
      return "rate_limited";
    case FetchFailure::refused:
      return "refused";
    case FetchFailure::server_error:
      return "server_error";
    case FetchFailure::malformed:
      return "malformed";
    case FetchFailure::empty:
      return "empty";
    case FetchFailure::wrong_zone:
      return "wrong_zone";
    case FetchFailure::other_series:
      return "other_series";
    case FetchFailure::stale:
      break;
  }
  return "stale";
}

std::optional<FetchFailure> failure_of_status(int status) {
  if (status >= 200 && status < 300) return std::nullopt;
  if (status == 401) return FetchFailure::unauthorised;
  if (status == 403) return FetchFailure::forbidden;
  if (status == 429) return FetchFailure::rate_limited;
  return status >= 500 ? FetchFailure::server_error : FetchFailure::refused;
}

std::optional<Milliseconds> parse_retry_after(std::string_view text) {
  const auto seconds = parse_uint64(trim(text));
  if (!seconds || *seconds > 1'000'000) return std::nullopt;
  return Milliseconds{static_cast<std::int64_t>(*seconds) * 1000};
}

void ProviderHealth::succeeded() {
  failures_ = 0;
  last_.reset();
  not_before_ = SteadyTime::min();
}

void ProviderHealth::failed(FetchFailure failure, SteadyTime now, std::optional<Milliseconds> retry_after) {
  ++failures_;
  last_ = failure;
  Milliseconds pause{0};
  if (retry_after)
    pause = std::clamp(*retry_after, Milliseconds{1'000}, kLongestRetryAfter);
  else if (failure == FetchFailure::rate_limited)
    pause = kRateLimitPause;
  else if (failure == FetchFailure::unauthorised || failure == FetchFailure::forbidden)
    pause = kRefusedPause;
  if (failures_ >= kFailuresToOpen) {
    const int doublings = std::min(failures_ - kFailuresToOpen, 10);
    pause = std::max(pause, std::min(kFirstPause * (std::int64_t{1} << doublings), kLongestPause));
  }
  not_before_ = now + pause;
}

bool FetchGate::claim(UtcTime now) {
  if (in_flight_ || now < due_) return false;
  in_flight_ = true;
  return true;
}

void FetchGate::done(UtcTime next) {
  in_flight_ = false;
  due_ = next;
}

}  // namespace tidewatt::carbon
