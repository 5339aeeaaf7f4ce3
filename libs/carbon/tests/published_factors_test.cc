#include "tidewatt/carbon/published_factors.h"

#include <gtest/gtest.h>

namespace tidewatt::carbon {
namespace {

TEST(PublishedFactors, EachIsCitedAndPlausible) {
  ASSERT_FALSE(published_factors().empty());
  for (const auto& one : published_factors()) {
    EXPECT_FALSE(one.publisher.empty()) << one.region;
    EXPECT_FALSE(one.document.empty()) << one.region;
    EXPECT_GE(one.value.value(), 0) << one.region;
    EXPECT_LT(one.value, KilogramsPerKwh{2}) << one.region;
  }
}

TEST(PublishedFactors, ComplianceValueOfChinaIsNoAverage) {
  int averages = 0;
  int compliance = 0;
  for (const auto& one : published_factors()) {
    if (one.region != "CN" || one.year != 2022) continue;
    if (one.value == KilogramsPerKwh{0.5366}) averages += one.kind == FactorKind::average ? 1 : 100;
    if (one.value == KilogramsPerKwh{0.5703}) compliance += one.kind == FactorKind::ets_compliance ? 1 : 100;
  }
  EXPECT_EQ(averages, 1);
  EXPECT_EQ(compliance, 1);
  EXPECT_NE(use_of(FactorKind::average), use_of(FactorKind::ets_compliance));
}

}  // namespace
}  // namespace tidewatt::carbon
