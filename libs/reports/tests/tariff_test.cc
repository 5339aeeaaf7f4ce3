#include "tidewatt/reports/tariff.h"

#include <gtest/gtest.h>

namespace tidewatt::reports {
namespace {

TEST(Tariff, IsFlatOrByWeekdayAndHour) {
  EXPECT_EQ(Tariff::parse("0.18")->price({0, 3}), 0.18);
  EXPECT_TRUE(Tariff::parse(" 0.18 ")->flat());
  const auto tariff = Tariff::parse("0.14; mon-fri 8-20 0.24; sat 10:00-14:00 0.18; 22-6 -0.02");
  ASSERT_TRUE(tariff) << tariff.error().to_string();
  EXPECT_EQ(tariff->price({0, 8}), 0.24);
  EXPECT_EQ(tariff->price({4, 19}), 0.24);
  EXPECT_EQ(tariff->price({4, 20}), 0.14);
  EXPECT_EQ(tariff->price({5, 12}), 0.18);
  EXPECT_EQ(tariff->price({6, 12}), 0.14);
  // Over midnight, on all days; negative prices are prices.
  EXPECT_EQ(tariff->price({6, 23}), -0.02);
  EXPECT_EQ(tariff->price({0, 5}), -0.02);
  EXPECT_EQ(tariff->price({0, 6}), 0.14);
}

TEST(Tariff, WeeksGoRound) {
  const auto tariff = Tariff::parse("1; sat-mon 0-24 2");
  ASSERT_TRUE(tariff);
  EXPECT_EQ(tariff->price({6, 1}), 2);
  EXPECT_EQ(tariff->price({0, 1}), 2);
  EXPECT_EQ(tariff->price({1, 1}), 1);
}

TEST(Tariff, WhatCantBeReadIsNamed) {
  for (const auto* text : {"", "cheap", "0.1; mon 0.2", "0.1; xyz 8-20 0.2", "0.1; 8-25 0.2", "0.1; 8 0.2",
                           "0.1; mon-fri 8-20 nan", "inf", "1e9", "0.1 EUR"})
    EXPECT_FALSE(Tariff::parse(text)) << text;
  EXPECT_EQ(Tariff::parse("0.1; mon\n8-20 \x1b[31m").error().to_string().find_first_of("\n\x1b"),
            std::string::npos);
  EXPECT_NE(Tariff::parse("0.1; xyz 8-20 0.2").error().to_string().find("xyz 8-20 0.2"), std::string::npos);
}

}  // namespace
}  // namespace tidewatt::reports
