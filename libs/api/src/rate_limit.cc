#include "tidewatt/api/rate_limit.h"

#include <algorithm>
#include <cmath>

namespace tidewatt::api {

std::optional<Milliseconds> RateLimiter::take(std::string_view key, const RateLimit& limit, SteadyTime now) {
  if (limit.per_second <= 0) return std::nullopt;
  const double per_ms = limit.per_second / 1000.0;
  const std::scoped_lock lock{mutex_};
  if (buckets_.size() >= kSweepAt)
    std::erase_if(buckets_, [now](const auto& entry) { return entry.second.full_at <= now; });
  const auto [place, is_new] = buckets_.try_emplace(std::string{key});
  Bucket& bucket = place->second;
  if (is_new) {
    bucket.left = limit.burst;
  } else {
    bucket.left =
        std::min(limit.burst, bucket.left + per_ms * static_cast<double>((now - bucket.at).count()));
  }
  bucket.at = now;
  std::optional<Milliseconds> wait;
  if (bucket.left >= 1) {
    bucket.left -= 1;
  } else {
    wait = Milliseconds{static_cast<std::int64_t>(std::ceil((1 - bucket.left) / per_ms))};
  }
  bucket.full_at =
      now + Milliseconds{static_cast<std::int64_t>(std::ceil((limit.burst - bucket.left) / per_ms))};
  return wait;
}

}  // namespace tidewatt::api
