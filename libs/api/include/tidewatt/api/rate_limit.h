#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tidewatt/units/time.h"

namespace tidewatt::api {

/// `per_second` requests on average, `burst` at once. per_second 0 = no limit.
struct RateLimit {
  double per_second = 0;
  double burst = 0;
};

/// One token bucket per key. Thread-safe; full buckets are forgotten, so memory is bounded by the keys in
/// use.
class RateLimiter {
 public:
  /// Takes one request from the key's bucket. @return nullopt = allowed, else how long to wait
  std::optional<Milliseconds> take(std::string_view key, const RateLimit& limit, SteadyTime now);

 private:
  struct Bucket {
    double left = 0;
    SteadyTime at{};
    SteadyTime full_at{};
  };
  static constexpr std::size_t kSweepAt = 10'000;
  std::mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace tidewatt::api
