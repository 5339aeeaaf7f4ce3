#include "tidewatt/units/text.h"

#include <gtest/gtest.h>

namespace tidewatt {
namespace {

TEST(ParseDouble, TakesOneFiniteNumberOnly) {
  EXPECT_EQ(parse_double("412.5"), 412.5);
  EXPECT_EQ(parse_double("-1e3"), -1000);
  for (const char* bad : {"", " 1", "1 ", "1 W", "nan", "inf", "-inf", "1,5", "0x10", "N/A", "1e999"})
    EXPECT_EQ(parse_double(bad), std::nullopt) << bad;
}

TEST(ParseInt, RefusesOverflowAndJunk) {
  EXPECT_EQ(parse_int64("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(parse_int64("9223372036854775808"), std::nullopt);
  EXPECT_EQ(parse_uint64("-1"), std::nullopt);
  EXPECT_EQ(parse_int64("12x"), std::nullopt);
}

TEST(Trim, TakesBlanksOffBothEnds) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim("  "), "");
}

}  // namespace
}  // namespace tidewatt
