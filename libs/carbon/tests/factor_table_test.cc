#include "tidewatt/carbon/factor_table.h"

#include <gtest/gtest.h>

namespace tidewatt::carbon {
namespace {

TEST(FactorTable, AnEntryHasZoneYearValueAndSource) {
  FactorTable table;
  ASSERT_TRUE(table.add("DE 2025 0.363 co2 average direct: UBA, Climate Change 2026: table 3"));
  ASSERT_TRUE(table.add("DE 2024 0.39: UBA"));
  const auto* factor = table.find("DE", 2025);
  ASSERT_NE(factor, nullptr);
  EXPECT_DOUBLE_EQ(factor->value.value(), 0.363);
  EXPECT_EQ(factor->gas, Gas::co2);
  EXPECT_EQ(factor->boundary, SignalBoundary::direct);
  EXPECT_EQ(factor->source, "UBA, Climate Change 2026: table 3");
  EXPECT_TRUE(factor->configured);
  EXPECT_EQ(table.find("DE", 2024)->gas, Gas::co2e);
}

TEST(FactorTable, AYearsFactorEndsWithTheYear) {
  FactorTable table;
  ASSERT_TRUE(table.add("DE 2025 0.363: UBA"));
  EXPECT_EQ(table.find("DE", 2026), nullptr);
  EXPECT_TRUE(table.names("DE")) << "so the general factor isn't taken for it";
  EXPECT_FALSE(table.names("FR"));
}

TEST(FactorTable, ControlCharactersAreRefusedInOneLine) {
  FactorTable table;
  const auto added = table.add("DE 2025 0.3\n: x\x1b[31m");
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().to_string().find_first_of("\n\x1b"), std::string::npos);
  EXPECT_TRUE(table.empty());
}

TEST(FactorTable, WhatCannotBeAFactorIsRefusedWithTheForm) {
  FactorTable table;
  ASSERT_TRUE(table.add("FR 2025 0.02: RTE"));
  for (const auto& [entry, why] : std::vector<std::pair<std::string, std::string>>{
           {"DE 2025 0.363", "no source"},
           {"DE 2025 0.363: ", "no source"},
           {"DE 0.363: UBA", "needed"},
           {"DE 25 0.363: UBA", "no year"},
           {"DE 2025 363: UBA", "in g/kWh"},
           {"DE 2025 nan: UBA", "no number"},
           {"DE 2025 -0.1: UBA", "no number"},
           {"DE 2025 0.363 dirct: UBA", "no gas, kind or boundary"},
           {"FR 2025 0.03: RTE", "there already"}}) {
    const auto added = table.add(entry);
    ASSERT_FALSE(added) << entry;
    EXPECT_NE(added.error().message.find(why), std::string::npos) << added.error().message;
  }
}

}  // namespace
}  // namespace tidewatt::carbon
