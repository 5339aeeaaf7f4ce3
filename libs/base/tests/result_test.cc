#include "tidewatt/base/result.h"

#include <gtest/gtest.h>

namespace tidewatt {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return fail(ErrorCode::invalid_input, "7 is odd", "give an even number");
  return n / 2;
}

Result<int> quarter(int n) {
  TW_TRY(const int h, half(n));
  return half(h);
}

TEST(Result, TryPassesTheErrorOn) {
  EXPECT_EQ(quarter(8), 2);
  const auto bad = quarter(7);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ErrorCode::invalid_input);
  EXPECT_EQ(bad.error().to_string(), "7 is odd (give an even number)");
  EXPECT_EQ(bad.error().with_context("f").message, "f: 7 is odd");
}

}  // namespace
}  // namespace tidewatt
