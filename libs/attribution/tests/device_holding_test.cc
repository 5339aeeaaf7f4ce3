#include "tidewatt/attribution/device_holding.h"

#include <gtest/gtest.h>

namespace tidewatt::attribution {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30U;

TEST(DeviceHolding, SeveralProcessesOfOneTaskAreOneHolder) {
  const auto holding =
      holding_of({{{"a", 10 * kGiB, {}, {}}, {"b", 20 * kGiB, {}, {}}, {"a", 30 * kGiB, {}, {}}}}, 80 * kGiB);
  ASSERT_EQ(holding.holders.size(), 2U);
  EXPECT_EQ(holding.holders[0].task_id, "a");
  EXPECT_DOUBLE_EQ(*holding.holders[0].memory_share, 0.5);
  EXPECT_DOUBLE_EQ(*holding.holders[1].memory_share, 0.25);
  EXPECT_FALSE(holding.holders[0].compute_share);
  EXPECT_FALSE(holding.unheld);
}

TEST(DeviceHolding, AllSharersAreListed) {
  EXPECT_EQ(holding_of({{{"a", 1, {}, {}}, {"b", 1, {}, {}}, {"c", 1, {}, {}}}}, 10).holders.size(), 3U);
}

TEST(DeviceHolding, ProcessOfUnknownOwnerKeepsItsPart) {
  const auto holding = holding_of({{{"a", 30 * kGiB, {}, {}}, {"", 10 * kGiB, {}, {}}}}, 80 * kGiB);
  ASSERT_EQ(holding.holders.size(), 1U);
  ASSERT_TRUE(holding.unheld);
  EXPECT_DOUBLE_EQ(*holding.unheld->memory_share, 0.125);
}

TEST(DeviceHolding, MemoryThatIsNotToldIsNotDeclared) {
  const auto holding = holding_of({{{"a", std::nullopt, {}, {}}, {"a", 5, {}, {}}, {"b", 5, {}, {}}}}, 10);
  EXPECT_FALSE(holding.holders[0].memory_share);
  EXPECT_DOUBLE_EQ(*holding.holders[1].memory_share, 0.5);
}

TEST(DeviceHolding, SharesNeverExceedTheDevice) {
  const auto holding = holding_of({{{"a", 30, {}, {}}, {"b", 30, {}, {}}}}, 10);
  EXPECT_DOUBLE_EQ(*holding.holders[0].memory_share, 0.5);
  EXPECT_DOUBLE_EQ(*holding_of({{{"a", 7, {}, {}}}}, std::nullopt).holders[0].memory_share, 1);
}

TEST(DeviceHolding, NoProcessIsNoHolder) {
  const auto holding = holding_of({}, 10);
  EXPECT_TRUE(holding.holders.empty());
  EXPECT_FALSE(holding.unheld);
}

TEST(DeviceHolding, MigInstancesWeighByTheirComputeSlices) {
  // 4g + 1g of seven slices: 50 W active are 40 and 10 W, whatever the names of the profiles say.
  const auto holding = holding_of({{{"a", 5, 4, 1}, {"b", 5, 1, 2}}}, 10);
  EXPECT_DOUBLE_EQ(*holding.holders[0].compute_share, 0.8);
  EXPECT_DOUBLE_EQ(*holding.holders[1].compute_share, 0.2);
}

TEST(DeviceHolding, ProcessesOfOneMigInstanceShareItsSlices) {
  const auto holding = holding_of({{{"a", 5, 4, 1}, {"b", 5, 4, 1}, {"a", 5, 4, 1}, {"c", 5, 4, 2}}}, 100);
  EXPECT_DOUBLE_EQ(*holding.holders[0].compute_share, 0.25);
  EXPECT_DOUBLE_EQ(*holding.holders[1].compute_share, 0.25);
  EXPECT_DOUBLE_EQ(*holding.holders[2].compute_share, 0.5);
}

TEST(DeviceHolding, OneProcessOutsideOfAnyInstanceMeansNoSlices) {
  EXPECT_FALSE(holding_of({{{"a", 5, 4, 1}, {"b", 5, {}, {}}}}, 10).holders[0].compute_share);
}

}  // namespace
}  // namespace tidewatt::attribution
