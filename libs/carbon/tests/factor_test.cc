#include "tidewatt/carbon/factor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidewatt::carbon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(FactorInForce, EnvironmentWithSourceWinsWithoutWarning) {
  FactorSettings settings;
  settings.env_value = " 0.5366 ";
  settings.env_source = "MEE 2022";
  settings.config_value = KilogramsPerKwh{0.4};
  settings.config_source = "other";
  const auto result = factor_in_force(settings);
  EXPECT_EQ(result.factor.value, KilogramsPerKwh{0.5366});
  EXPECT_EQ(result.factor.source, "MEE 2022");
  EXPECT_TRUE(result.factor.configured);
  EXPECT_THAT(result.warnings, IsEmpty());
}

TEST(FactorInForce, EnvironmentWithoutSourceSaysSoAndWarns) {
  FactorSettings settings;
  settings.env_value = "0.5366";
  const auto result = factor_in_force(settings);
  EXPECT_EQ(result.factor.source, "env, no source stated");
  EXPECT_TRUE(result.factor.configured);
  EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("ENERGY_GRID_EMISSION_SOURCE")));
}

TEST(FactorInForce, AnInvalidEnvironmentWarnsAndFallsToTheConfiguration) {
  for (const char* text : {"abc", "-1", "0", "nan", "inf", "0.5 kg", "0,5", "550"}) {
    FactorSettings settings;
    settings.env_value = text;
    settings.config_value = KilogramsPerKwh{0.4};
    settings.config_source = "utility 2025";
    const auto result = factor_in_force(settings);
    EXPECT_EQ(result.factor.value, KilogramsPerKwh{0.4}) << text;
    EXPECT_EQ(result.factor.source, "utility 2025") << text;
    EXPECT_TRUE(result.factor.configured) << text;
    EXPECT_THAT(result.warnings, ElementsAre(HasSubstr(std::string{"ENERGY_GRID_EMISSION_FACTOR="} + text)))
        << text;
  }
}

TEST(FactorInForce, AnInvalidEnvironmentWithoutConfigurationFallsToThePlaceholder) {
  FactorSettings settings;
  settings.env_value = "abc";
  const auto result = factor_in_force(settings);
  EXPECT_EQ(result.factor.value, kPlaceholder);
  EXPECT_FALSE(result.factor.configured);
  EXPECT_EQ(result.warnings.size(), 2U);
}

TEST(FactorInForce, ConfigurationWithoutSourceSaysSoAndWarns) {
  FactorSettings settings;
  settings.config_value = KilogramsPerKwh{0.4};
  const auto result = factor_in_force(settings);
  EXPECT_EQ(result.factor.source, "config, no source stated");
  EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("energy.emission_source")));
}

TEST(FactorInForce, AnInvalidConfigurationWarnsAndFallsToThePlaceholder) {
  for (const double value : {0.0, -0.1, 536.6}) {
    FactorSettings settings;
    settings.config_value = KilogramsPerKwh{value};
    const auto result = factor_in_force(settings);
    EXPECT_EQ(result.factor.value, kPlaceholder);
    EXPECT_FALSE(result.factor.configured);
    EXPECT_THAT(result.warnings.at(0), HasSubstr("energy.emission_factor_kgco2_per_kwh"));
  }
}

TEST(FactorInForce, NothingGivenIsThePlaceholderWithAWarning) {
  for (const auto& blank : {std::optional<std::string>{}, std::optional<std::string>{" "}}) {
    FactorSettings settings;
    settings.env_value = blank;
    settings.env_source = blank;
    const auto result = factor_in_force(settings);
    EXPECT_EQ(result.factor.value, KilogramsPerKwh{0.55});
    EXPECT_FALSE(result.factor.configured);
    EXPECT_EQ(result.factor.source, "placeholder, not published by any agency");
    EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("placeholder")));
  }
}

TEST(FactorInForce, ASourceWithoutAValueIsMarkedAsStillThePlaceholder) {
  FactorSettings by_env;
  by_env.env_source = "MEE 2022";
  FactorSettings by_config;
  by_config.config_source = "MEE 2022";
  for (const auto& settings : {by_env, by_config}) {
    const auto result = factor_in_force(settings);
    EXPECT_EQ(result.factor.source, "MEE 2022 (warning: the value is still the placeholder 0.55)");
    EXPECT_FALSE(result.factor.configured);
    EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("MEE 2022")));
  }
}

TEST(FactorInForce, AnEnvironmentSourceNeverLabelsTheConfiguredValue) {
  FactorSettings settings;
  settings.env_source = "MEE 2022";
  settings.config_value = KilogramsPerKwh{0.4};
  settings.config_source = "utility 2025";
  const auto result = factor_in_force(settings);
  EXPECT_EQ(result.factor.source, "utility 2025");
  EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("is ignored")));
}

TEST(Factor, UnitFollowsTheGas) {
  EXPECT_EQ(unit_of(Gas::co2), "kgCO2/kWh");
  EXPECT_EQ(unit_of(Gas::co2e), "kgCO2e/kWh");
}

TEST(CarbonOf, IsEnergyTimesFactor) {
  Factor factor;
  factor.value = KilogramsPerKwh{0.5};
  EXPECT_EQ(carbon_of(WattHours{2000}, factor), GramsCo2{1000});
}

}  // namespace
}  // namespace tidewatt::carbon
