#include "tidewatt/units/quantity.h"

#include <gtest/gtest.h>

#include <concepts>

namespace tidewatt {
namespace {

template <class A, class B>
concept CanAdd = requires(A a, B b) { a + b; };
template <class A>
concept TakesDoubleSilently = std::convertible_to<double, A>;

static_assert(!CanAdd<Watts, Joules>);
static_assert(CanAdd<Watts, Watts>);
static_assert(!TakesDoubleSilently<Watts>);

TEST(Quantity, PowerTimesTimeIsEnergy) { EXPECT_EQ(Watts{250} * Seconds{4}, Joules{1000}); }

TEST(Quantity, EnergyTimesIntensityIsCarbon) {
  EXPECT_DOUBLE_EQ((WattHours{412} * GramsPerKwh{1000}).value(), 412);
}

TEST(Quantity, JoulesAndWattHoursConvertBothWays) {
  EXPECT_EQ(to_watt_hours(Joules{18000}), WattHours{5});
  EXPECT_EQ(to_joules(WattHours{5}), Joules{18000});
}

}  // namespace
}  // namespace tidewatt
