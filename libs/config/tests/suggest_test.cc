#include "tidewatt/config/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace tidewatt::config {
namespace {

const std::vector<std::string> kKnown{"server", "spool.max_age", "spool.max_bytes", "zone"};

TEST(Nearest, FindsASwapAMissingAndAWrongLetter) {
  EXPECT_EQ(nearest("sevrer", kKnown), "server");
  EXPECT_EQ(nearest("spool.max_ag", kKnown), "spool.max_age");
  EXPECT_EQ(nearest("zune", kKnown), "zone");
}

TEST(Nearest, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest("emission_factor", kKnown), "");
  EXPECT_EQ(nearest("", kKnown), "");
  EXPECT_EQ(nearest(std::string(100'000, 'x'), kKnown), "");
}

}  // namespace
}  // namespace tidewatt::config
