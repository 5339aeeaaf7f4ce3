// A text may hold several tables: what a loop printed, or what two commands did. Each header rules the rows
// below it, and rows that don't name their device are never added to those of an earlier snapshot.
#include "tool_text.h"

namespace tidewatt::metering {
namespace {

TEST(LaterHeader, ReordersColumnsFromItsLineOn) {
  const auto nvidia = read("nvidia-smi",
                           "index, uuid, power.draw [W], power.limit [W]\n0, GPU-aaaa, 300.00 W, 700 W\n"
                           "index, uuid, power.limit [W], power.draw [W]\n0, GPU-aaaa, 700 W, 310.00 W\n");
  ASSERT_EQ(nvidia.devices.size(), 1U);
  EXPECT_DOUBLE_EQ(watts(nvidia), 310);
  EXPECT_DOUBLE_EQ(limit(nvidia), 700);

  struct Case {
    std::string_view tool, text;
  };
  for (const auto& [tool, text] : {
           Case{"amd-smi", "gpu,power_usage,power_cap\n0,100,203\ngpu,power_cap,power_usage\n0,203,110\n"},
           Case{
               "rocm-smi",
               "device,Average Graphics Package Power (W),Max Graphics Package Power (W)\ncard0,100.0,203.0\n"
               "\ndevice,Max Graphics Package Power (W),Average Graphics Package Power (W)\n"
               "card0,203.0,110.0\n"},
           Case{"ixsmi",
                "index, gpu.power.draw [W], gpu.power.limit [W]\n0, 100 W, 203 W\n"
                "index, gpu.power.limit [W], gpu.power.draw [W]\n0, 203 W, 110 W\n"},
           Case{"generic",
                "gpu,power (W),power limit (W)\n0,100,203\ngpu,power limit (W),power (W)\n0,203,110\n"},
           Case{"rocm-smi",
                "GPU  Temp   AvgPwr  PwrCap\n0    35.0c  41.0W   203W\n"
                "GPU  Temp   PwrCap  AvgPwr\n0    35.0c  203W    110.0W\n"},
       }) {
    const auto r = read(tool, text);
    ASSERT_EQ(r.devices.size(), 1U) << text;
    EXPECT_DOUBLE_EQ(watts(r), 110) << text;
    EXPECT_DOUBLE_EQ(limit(r), 203) << text;
  }

  const auto dump =
      read("xpu-smi",
           "Timestamp, DeviceId, GPU Power (W), GPU Frequency (MHz)\n06:00:00.100, 0, 100.1, 1400\n"
           "Timestamp, DeviceId, GPU Frequency (MHz), GPU Power (W)\n06:00:01.100, 0, 1400, 110.1\n");
  ASSERT_EQ(dump.devices.size(), 1U);
  EXPECT_DOUBLE_EQ(watts(dump), 110.1);
}

TEST(LaterHeader, BringsItsOwnUnit) {
  EXPECT_DOUBLE_EQ(
      watts(read("nvidia-smi", "index, power.draw [W]\n0, 300\nindex, power.draw [mW]\n0, 310000\n")), 310);
  EXPECT_DOUBLE_EQ(watts(read("generic", "gpu,power (W)\n0,300\ngpu,power (mW)\n0,310000\n")), 310);
}

TEST(LaterHeader, OfOtherThingsSaysNothingOfTheDraw) {
  for (const std::string_view other :
       {"index, clocks.sm [MHz]\n0, 1410 MHz\n", "name, power.limit [W]\nH100, 700.00 W\n"}) {
    const auto r =
        read("nvidia-smi", std::string{"index, power.draw [W]\n0, 300.00 W\n"} + std::string{other});
    ASSERT_EQ(r.devices.size(), 1U) << other;
    EXPECT_DOUBLE_EQ(watts(r), 300) << other;
  }
  const auto csv = read("generic", "gpu,power (W)\n0,300\ngpu,clock (MHz)\n0,1500\n");
  ASSERT_EQ(csv.devices.size(), 1U);
  EXPECT_DOUBLE_EQ(watts(csv), 300);
  const auto columns = read("rocm-smi",
                            "GPU  Temp   Power(W)\n0    35.0c  41\nGPU  Temp   Clock\n0    35.0c  1500\n"
                            "1    35.0c  1500\n");
  ASSERT_EQ(columns.devices.size(), 2U);
  EXPECT_DOUBLE_EQ(watts(columns, 0), 41);
  EXPECT_EQ(reason(columns, 1), "no power column over this row");
}

TEST(LaterHeader, MayNameTheCardsOtherwise) {
  const auto r = read("nvidia-smi",
                      "index, uuid, power.draw [W]\n0, GPU-aaaaaaaa, 300 W\n1, GPU-bbbbbbbb, 301 W\n"
                      "uuid, power.draw [W]\nGPU-bbbbbbbb, 311 W\nGPU-aaaaaaaa, 310 W\n");
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_DOUBLE_EQ(watts(r, 0), 310);
  EXPECT_DOUBLE_EQ(watts(r, 1), 311);
}

TEST(LaterHeader, ShowsThatRowsWithoutAnIdentityAreTheNextSnapshot) {
  const auto nvidia =
      read("nvidia-smi", "name, power.draw [W]\nH100, 300.00 W\nname, power.draw [W]\nH100, 310.00 W\n");
  ASSERT_EQ(nvidia.devices.size(), 1U);
  EXPECT_DOUBLE_EQ(watts(nvidia), 310);
  EXPECT_DOUBLE_EQ(nvidia.total.value().value(), 310);
  const auto generic = read("generic", "name,power (W)\nX,300\nX,301\nname,power (W)\nX,310\nX,311\n");
  ASSERT_EQ(generic.devices.size(), 2U);
  EXPECT_DOUBLE_EQ(generic.total.value().value(), 621);
}

TEST(RowsOfSeveralTimes, WithoutAnIdentityAreRefused) {
  const auto error = refusal("nvidia-smi",
                             "timestamp, name, power.draw [W]\n2026/11/30 10:00:00.000, H100, 300.00 W\n"
                             "2026/11/30 10:00:01.000, H100, 310.00 W\n");
  EXPECT_NE(error.message.find("rows of several times can't be told apart"), std::string::npos);
  // One moment: two cards. An address tells them apart at any time.
  EXPECT_EQ(read("nvidia-smi", "timestamp, power.draw [W]\n10:00:00.000, 300 W\n10:00:00.000, 310 W\n")
                .devices.size(),
            2U);
  const auto addressed = read("nvidia-smi",
                              "timestamp, pci.bus_id, power.draw [W]\n10:00:00.000, 00000000:3B:00.0, 300 W\n"
                              "10:00:01.000, 00000000:3B:00.0, 310 W\n");
  ASSERT_EQ(addressed.devices.size(), 1U);
  EXPECT_DOUBLE_EQ(watts(addressed), 310);
}

TEST(DecimalCommas, MoveNoDevicesNumber) {
  const auto error = refusal("xpu-smi", "Timestamp, DeviceId, GPU Power (W)\n06:00:00,100, 0, 100,1\n");
  EXPECT_NE(error.message.find("expected 3 cells as the header names"), std::string::npos);
}

TEST(MigInstance, HasItsCardsPowerWhichCountsOnce) {
  const auto below = read("nvidia-smi",
                          "uuid, name, power.draw [W]\nGPU-aaaa, A30, 52.636 W\nMIG-2222, A30, 52.636 W\n"
                          "MIG-3333, A30, 52.636 W\n");
  ASSERT_EQ(below.devices.size(), 1U);
  EXPECT_DOUBLE_EQ(below.total.value().value(), 52.636);

  const auto numbered = read("nvidia-smi",
                             "index, uuid, power.draw [W]\n0, MIG-1111, 52.636 W\n0, MIG-2222, 52.636 W\n"
                             "1, GPU-bbbb, 60.000 W\n1, MIG-3333, [N/A]\n");
  ASSERT_EQ(numbered.devices.size(), 2U);
  EXPECT_DOUBLE_EQ(watts(numbered, 0), 52.636);
  EXPECT_DOUBLE_EQ(watts(numbered, 1), 60);

  const auto old =
      read("nvidia-smi", "uuid, power.draw [W]\nMIG-GPU-aaaa/1/0, 52.636 W\nMIG-GPU-aaaa/2/0, 52.636 W\n");
  ASSERT_EQ(old.devices.size(), 1U);
  EXPECT_EQ(old.devices[0].uuid, "GPU-aaaa");
  EXPECT_DOUBLE_EQ(watts(old), 52.636);
}

TEST(MigInstance, WhoseCardIsNotToldIsUnknown) {
  const auto r = read("nvidia-smi",
                      "uuid, name, power.draw [W]\nMIG-1111, A30, 52.636 W\nMIG-2222, A30, 52.636 W\n"
                      "MIG-3333, A30, 52.636 W\n");
  ASSERT_EQ(r.devices.size(), 1U);
  EXPECT_EQ(reason(r), "a MIG instance's power is its card's: ask for index or pci.bus_id too");
  EXPECT_FALSE(r.total);
}

}  // namespace
}  // namespace tidewatt::metering
