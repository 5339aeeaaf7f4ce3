#include "tidewatt/api/rate_limit.h"

#include <gtest/gtest.h>

namespace tidewatt::api {
namespace {

constexpr SteadyTime kStart{Milliseconds{1'000'000}};

TEST(RateLimiter, LetsABurstThroughThenSaysHowLongToWait) {
  RateLimiter limiter;
  const RateLimit limit{2, 3};
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(limiter.take("a", limit, kStart));
  EXPECT_EQ(limiter.take("a", limit, kStart), Milliseconds{500});
  EXPECT_FALSE(limiter.take("a", limit, kStart + Milliseconds{500}));
}

TEST(RateLimiter, KeepsABucketPerKey) {
  RateLimiter limiter;
  const RateLimit limit{1, 1};
  EXPECT_FALSE(limiter.take("a", limit, kStart));
  EXPECT_FALSE(limiter.take("b", limit, kStart));
  EXPECT_TRUE(limiter.take("a", limit, kStart));
}

TEST(RateLimiter, ZeroIsNoLimit) {
  RateLimiter limiter;
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(limiter.take("a", RateLimit{}, kStart));
}

TEST(RateLimiter, NeverSavesMoreThanTheBurst) {
  RateLimiter limiter;
  const RateLimit limit{1, 2};
  EXPECT_FALSE(limiter.take("a", limit, kStart));
  const auto later = kStart + Milliseconds{3'600'000};
  EXPECT_FALSE(limiter.take("a", limit, later));
  EXPECT_FALSE(limiter.take("a", limit, later));
  EXPECT_TRUE(limiter.take("a", limit, later));
}

}  // namespace
}  // namespace tidewatt::api
