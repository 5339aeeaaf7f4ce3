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

TEST(Text, ControlCharactersAreThoseThatBreakOrReorderALine) {
  for (const std::string_view text :
       {"a\nb", "\x1b[31m", "tab\t", "\x7f", "\xc2\x85", "a\xc2\x9b", "\xe2\x80\xa8",
        "\xe2\x80\xae"
        "gnp",
        "\xe2\x81\xa6", "\xe2\x80\x8f"})
    EXPECT_TRUE(holds_control_characters(text)) << text;
  using namespace std::string_view_literals;
  EXPECT_TRUE(holds_control_characters("a\0b"sv));
  for (const std::string_view text : {"", "train-llm/7", "\xc3\xa9t\xc3\xa9", "\xe8\xae\xad\xe7\xbb\x83",
                                      "\xc2\xa0", "\xe2\x82\xac", "\xe2\x80\x93", "\xc2", "\xe2\x80"})
    EXPECT_FALSE(holds_control_characters(text)) << text;
}

}  // namespace
}  // namespace tidewatt
