#include "tidewatt/tasks/receipt.h"

#include <gtest/gtest.h>

namespace tidewatt::tasks {
namespace {

JobReceipt receipt(double watt_hours, std::optional<double> grams, std::optional<double> run_now) {
  JobReceipt out;
  out.energy = to_joules(WattHours{watt_hours});
  if (grams) out.carbon = GramsCo2{*grams};
  if (run_now) out.run_now = GramsCo2{*run_now};
  return out;
}

TEST(Receipt, SaysEnergyCarbonAndHowFarUnderRunNow) {
  // 900 g where 1046.5 g would have been: 14 % under.
  EXPECT_EQ(receipt_text(receipt(2400, 900, 1046.5)), "2.4 kWh, 900 g, 14 % under run-now");
  EXPECT_EQ(receipt_text(receipt(2400, 1200, 1000)), "2.4 kWh, 1.2 kg, 20 % over run-now");
  EXPECT_EQ(receipt_text(receipt(2400, 1000, 1001)), "2.4 kWh, 1 kg, as run-now");
}

TEST(Receipt, UnknownIsSaidNeverZero) {
  EXPECT_EQ(receipt_text({}), "energy unknown");
  EXPECT_EQ(receipt_text(receipt(12, std::nullopt, 5)), "12 Wh, carbon unknown");
  EXPECT_EQ(receipt_text(receipt(12, 4, std::nullopt)), "12 Wh, 4 g");
  EXPECT_EQ(receipt_text(receipt(12, 4, 0)), "12 Wh, 4 g");
}

TEST(Receipt, UnitsFollowTheSize) {
  EXPECT_EQ(receipt_text(receipt(0, 0, std::nullopt)), "0 Wh, 0 g");
  EXPECT_EQ(receipt_text(receipt(0.0123, 0.5, std::nullopt)), "0.012 Wh, 0.5 g");
  EXPECT_EQ(receipt_text(receipt(999.6, 999.4, std::nullopt)), "1 kWh, 999 g");
  EXPECT_EQ(receipt_text(receipt(24.4e6, 7.25e6, std::nullopt)), "24 MWh, 7.2 t");
}

TEST(Receipt, EstimatesAndGapsAreNamed) {
  auto one = receipt(2400, 900, 1000);
  one.estimated = true;
  one.coverage = 0.879;
  EXPECT_EQ(receipt_text(one), "2.4 kWh (estimated), 900 g, 10 % under run-now; 87 % of its time measured");
}

}  // namespace
}  // namespace tidewatt::tasks
