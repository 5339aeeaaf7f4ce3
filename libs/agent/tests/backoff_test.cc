#include "tidewatt/agent/backoff.h"

#include <gtest/gtest.h>

#include "fixed_rng.h"

namespace tidewatt::agent {
namespace {

constexpr UtcTime kNow{std::chrono::seconds{784'111'777}};  // 1994-11-06T08:49:37Z

TEST(BackOff, WindowDoublesFromTheFirstToTheMost) {
  FixedRng rng{0.5};
  BackOff back_off{Milliseconds{1'000}, Milliseconds{60'000}};
  for (const int expected : {500, 1'000, 2'000, 4'000, 8'000, 16'000, 30'000, 30'000}) {
    EXPECT_EQ(back_off.next(rng), Milliseconds{expected});
  }
}

TEST(BackOff, IsJitteredOverTheWholeWindow) {
  FixedRng low{0.0};
  FixedRng high{0.999};
  BackOff a;
  BackOff b;
  EXPECT_EQ(a.next(low), Milliseconds{0});
  EXPECT_EQ(b.next(high), Milliseconds{999});
}

TEST(BackOff, BeginsAnewAfterASuccess) {
  FixedRng rng{0.5};
  BackOff back_off;
  for (int i = 0; i < 5; ++i) back_off.next(rng);
  back_off.reset();
  EXPECT_EQ(back_off.next(rng), Milliseconds{500});
}

TEST(BackOff, NeverExceedsTheMostHoweverManyFailures) {
  FixedRng rng{0.9999999};
  BackOff back_off;
  for (int i = 0; i < 10'000; ++i) EXPECT_LT(back_off.next(rng), Milliseconds{60'000});
}

TEST(RetryAfter, TakesSecondsAndDates) {
  EXPECT_EQ(parse_retry_after("7", kNow), Milliseconds{7'000});
  EXPECT_EQ(parse_retry_after(" 0 ", kNow), Milliseconds{0});
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:50:07 GMT", kNow), Milliseconds{30'000});
}

TEST(RetryAfter, IsNeverNegativeNorBeyondTenMinutes) {
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:00:00 GMT", kNow), Milliseconds{0});
  EXPECT_EQ(parse_retry_after("86400", kNow), Milliseconds{600'000});
  EXPECT_EQ(parse_retry_after("18446744073709551615", kNow), Milliseconds{600'000});
}

TEST(RetryAfter, NonsenseIsUnknown) {
  for (const char* text :
       {"", "soon", "-5", "1.5", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 99 Nov 1994 08:49:37 GMT"}) {
    EXPECT_EQ(parse_retry_after(text, kNow), std::nullopt) << text;
  }
}

TEST(NextDue, CountsFromThePreviousDeadlineSoThatLatenessDoesNotAddUp) {
  const SteadyTime zero{};
  EXPECT_EQ(next_due(zero, Milliseconds{1000}, zero + Milliseconds{37}), zero + Milliseconds{1000});
  EXPECT_EQ(next_due(zero + Milliseconds{1000}, Milliseconds{1000}, zero + Milliseconds{1700}),
            zero + Milliseconds{2000});
}

TEST(NextDue, SkipsMissedTurnsInsteadOfBursting) {
  const SteadyTime zero{};
  EXPECT_EQ(next_due(zero, Milliseconds{1000}, zero + Milliseconds{5'400}), zero + Milliseconds{6'000});
  EXPECT_EQ(next_due(zero, Milliseconds{1000}, zero + Milliseconds{5'000}), zero + Milliseconds{6'000});
}

}  // namespace
}  // namespace tidewatt::agent
