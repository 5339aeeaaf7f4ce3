#include "tidewatt/k8s/name_table.h"

#include <gtest/gtest.h>

namespace tidewatt::k8s {
namespace {

TEST(NameTable, EachNameHasTheNumberOfItsAdding) {
  NameTable names;
  EXPECT_EQ(names.find("a"), std::nullopt);
  EXPECT_EQ(names.add("a"), 0U);
  EXPECT_EQ(names.add("b"), 1U);
  EXPECT_EQ(names.add("a"), 0U);
  EXPECT_EQ(names.add(""), 2U);
  EXPECT_EQ(names.size(), 3U);
  EXPECT_EQ(names.find("b"), 1U);
  EXPECT_EQ(names.find(""), 2U);
  EXPECT_EQ(names.find("ab"), std::nullopt);
}

TEST(NameTable, ManyNamesAreAllFoundAndNoOther) {
  NameTable names;
  constexpr std::size_t kMany = 20'000;
  for (std::size_t i = 0; i < kMany; ++i) EXPECT_EQ(names.add("node-" + std::to_string(i)), i);
  for (std::size_t i = 0; i < kMany; ++i) EXPECT_EQ(names.find("node-" + std::to_string(i)), i);
  for (std::size_t i = kMany; i < 2 * kMany; ++i)
    EXPECT_EQ(names.find("node-" + std::to_string(i)), std::nullopt);
}

}  // namespace
}  // namespace tidewatt::k8s
