#include "tidewatt/api/failed_attempts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidewatt::api {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr SteadyTime kStart{Milliseconds{5'000}};

TEST(FailedAttempts, NamesAnAddressOnceAndCountsTheRest) {
  FailedAttempts attempts;
  EXPECT_THAT(attempts.add("192.0.2.7", "wrong token", kStart), ElementsAre("192.0.2.7: wrong token"));
  for (int i = 0; i < 1000; ++i) EXPECT_THAT(attempts.add("192.0.2.7", "wrong token", kStart), IsEmpty());
  EXPECT_THAT(attempts.tell(kStart + FailedAttempts::kWindow - Milliseconds{1}), IsEmpty());
  EXPECT_THAT(attempts.tell(kStart + FailedAttempts::kWindow),
              ElementsAre("192.0.2.7: 1000 more in 10 minutes"));
  EXPECT_THAT(attempts.tell(kStart + 3 * FailedAttempts::kWindow), IsEmpty());
  EXPECT_EQ(attempts.total(), 1001U);
}

TEST(FailedAttempts, ManyAddressesMakeFewLines) {
  FailedAttempts attempts;
  std::size_t lines = 0;
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 5'000; ++i)
      lines += attempts.add("2001:db8::" + std::to_string(i), "wrong token", kStart).size();
  lines += attempts.tell_all().size();
  EXPECT_EQ(lines, 2 * FailedAttempts::kMostAddresses + 1);
}

TEST(FailedAttempts, TheNextWindowNamesTheAddressAgain) {
  FailedAttempts attempts;
  attempts.add("a", "wrong token", kStart);
  attempts.add("a", "wrong token", kStart);
  EXPECT_THAT(attempts.add("a", "used link", kStart + FailedAttempts::kWindow),
              ElementsAre("a: 1 more in 10 minutes", "a: used link"));
}

}  // namespace
}  // namespace tidewatt::api
