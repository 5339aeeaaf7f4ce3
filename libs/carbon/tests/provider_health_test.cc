#include "tidewatt/carbon/provider_health.h"

#include <gtest/gtest.h>

namespace tidewatt::carbon {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime kStart{1'000'000ms};

TEST(ProviderHealth, OpensAfterThreeFailuresAndPausesTwiceAsLongEachTime) {
  ProviderHealth health;
  EXPECT_TRUE(health.may_ask(kStart));
  health.failed(FetchFailure::timed_out, kStart);
  health.failed(FetchFailure::server_error, kStart);
  EXPECT_TRUE(health.may_ask(kStart));
  health.failed(FetchFailure::timed_out, kStart);
  EXPECT_TRUE(health.open(kStart));
  EXPECT_FALSE(health.may_ask(kStart + 29s));
  EXPECT_TRUE(health.may_ask(kStart + 30s));
  health.failed(FetchFailure::timed_out, kStart + 30s);
  EXPECT_FALSE(health.may_ask(kStart + 89s));
  EXPECT_TRUE(health.may_ask(kStart + 90s));
  for (int i = 0; i < 50; ++i) health.failed(FetchFailure::timed_out, kStart);
  EXPECT_TRUE(health.may_ask(kStart + ProviderHealth::kLongestPause));
  health.succeeded();
  EXPECT_TRUE(health.may_ask(kStart));
  EXPECT_FALSE(health.last_failure());
}

TEST(ProviderHealth, RetryAfterIsRespectedAndBounded) {
  ProviderHealth health;
  health.failed(FetchFailure::rate_limited, kStart, 120s);
  EXPECT_FALSE(health.may_ask(kStart + 119s));
  EXPECT_TRUE(health.may_ask(kStart + 120s));
  health.succeeded();
  health.failed(FetchFailure::rate_limited, kStart, 24h * 300);
  EXPECT_TRUE(health.may_ask(kStart + ProviderHealth::kLongestRetryAfter));
  health.succeeded();
  health.failed(FetchFailure::rate_limited, kStart);
  EXPECT_FALSE(health.may_ask(kStart + 59s));
  EXPECT_TRUE(health.may_ask(kStart + 60s));
}

TEST(ProviderHealth, ARefusalIsNotAskedAgainAtOnce) {
  for (const auto refusal : {FetchFailure::unauthorised, FetchFailure::forbidden}) {
    ProviderHealth health;
    health.failed(refusal, kStart);
    EXPECT_FALSE(health.may_ask(kStart + 14min));
    EXPECT_TRUE(health.may_ask(kStart + 15min));
  }
}

TEST(RetryAfter, OnlyPlainSecondsAreTold) {
  EXPECT_EQ(parse_retry_after(" 30 "), 30s);
  for (const char* text : {"", "-1", "soon", "1e3", "99999999999999999999", "Wed, 21 Oct 2026 07:28:00 GMT"})
    EXPECT_FALSE(parse_retry_after(text)) << text;
}

TEST(FetchGate, LetsOneInUntilItIsDoneAndThenWhenItIsDue) {
  FetchGate gate;
  const UtcTime now{5'000'000ms};
  EXPECT_TRUE(gate.claim(now));
  EXPECT_FALSE(gate.claim(now));
  gate.done(now + 1min);
  EXPECT_FALSE(gate.claim(now + 59s));
  EXPECT_TRUE(gate.claim(now + 60s));
}

TEST(FailureOfStatus, TellsTheKindsApart) {
  EXPECT_FALSE(failure_of_status(200));
  EXPECT_EQ(failure_of_status(401), FetchFailure::unauthorised);
  EXPECT_EQ(failure_of_status(403), FetchFailure::forbidden);
  EXPECT_EQ(failure_of_status(404), FetchFailure::refused);
  EXPECT_EQ(failure_of_status(429), FetchFailure::rate_limited);
  EXPECT_EQ(failure_of_status(503), FetchFailure::server_error);
  EXPECT_EQ(failure_of_status(301), FetchFailure::refused);
}

}  // namespace
}  // namespace tidewatt::carbon
