#include "tidewatt/carbon/cpu_estimate.h"

#include <gtest/gtest.h>

#include <limits>

namespace tidewatt::carbon {
namespace {

TEST(CpuPowerModel, NeedsBothEndsInOrder) {
  EXPECT_FALSE(cpu_power_model(std::nullopt, Watts{300}));
  EXPECT_FALSE(cpu_power_model(Watts{50}, std::nullopt));
  EXPECT_FALSE(cpu_power_model(Watts{300}, Watts{50}));
  EXPECT_FALSE(cpu_power_model(Watts{-1}, Watts{50}));
  EXPECT_FALSE(cpu_power_model(Watts{std::numeric_limits<double>::quiet_NaN()}, Watts{50}));
  EXPECT_TRUE(cpu_power_model(Watts{50}, Watts{300}));
}

TEST(EstimateCpuPower, IsALineFromIdleToMax) {
  const CpuPowerModel model{Watts{50}, Watts{300}};
  EXPECT_EQ(estimate_cpu_power(model, 0.0), Watts{50});
  EXPECT_EQ(estimate_cpu_power(model, 0.5), Watts{175});
  EXPECT_EQ(estimate_cpu_power(model, 1.0), Watts{300});
}

TEST(EstimateCpuPower, IsUnknownWithoutASaneUtilisation) {
  const CpuPowerModel model{Watts{50}, Watts{300}};
  EXPECT_FALSE(estimate_cpu_power(model, std::nullopt));
  EXPECT_FALSE(estimate_cpu_power(model, 1.01));
  EXPECT_FALSE(estimate_cpu_power(model, -0.01));
  EXPECT_FALSE(estimate_cpu_power(model, std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace
}  // namespace tidewatt::carbon
