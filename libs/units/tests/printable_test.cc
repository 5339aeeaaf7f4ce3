#include "tidewatt/units/printable.h"

#include <gtest/gtest.h>

namespace tidewatt {
namespace {

TEST(Printable, WholeTextStaysAsItIs) {
  EXPECT_EQ(printable("unit/\u8bad\u7ec3@1.service", 256), "unit/\u8bad\u7ec3@1.service");
}

TEST(Printable, BytesThatAreNoTextAreMarked) {
  EXPECT_EQ(printable("a\xff\xc0\x80z\n\x7f", 256), "a???z??");
  EXPECT_EQ(printable("\xed\xa0\x80", 256), "???") << "a surrogate";
  EXPECT_EQ(printable("\xe8\xae", 256), "??") << "cut off";
}

TEST(Printable, NoCharacterIsCutInTwo) {
  EXPECT_EQ(printable("ab\u8bad", 4), "ab");
  EXPECT_EQ(printable("ab\u8bad", 5), "ab\u8bad");
  EXPECT_EQ(printable(std::string(1000, 'x'), 10).size(), 10U);
}

TEST(Printable, IsPrintableSaysWhetherAnythingWouldBeMarked) {
  EXPECT_TRUE(is_printable("gpu-a01 \u8bad"));
  EXPECT_TRUE(is_printable(""));
  for (const auto* text : {"a\nb", "\x01", "a\xff", "\xe8\xae"}) EXPECT_FALSE(is_printable(text));
}

}  // namespace
}  // namespace tidewatt
