// amd-smi, rocm-smi and hy-smi.
#include "tool_text.h"

namespace tidewatt::metering {
namespace {

TEST(AmdSmi, TheSectionDecidesWhatSocketPowerIs) {
  const auto draw =
      read("amd-smi", "GPU: 2\n    POWER:\n        SOCKET_POWER: 13 W\n        GFX_VOLTAGE: 700 mV\n");
  EXPECT_EQ(index(draw), 2);
  EXPECT_DOUBLE_EQ(watts(draw), 13);
  const auto bound = read(
      "amd-smi",
      "GPU: 2\n    LIMIT:\n        MAX_POWER: 303 W\n        MIN_POWER: 0 W\n        SOCKET_POWER: 213 W\n");
  EXPECT_DOUBLE_EQ(watts(bound), -1);
  EXPECT_DOUBLE_EQ(limit(bound), 213);
  EXPECT_EQ(reason(bound), "no_power_reading_in_this_command");
}

TEST(AmdSmi, ALimitPartedFromItsSectionIsStillALimit) {
  const std::string max = "        MAX_POWER: 203 W\n";
  const std::string socket = "        SOCKET_POWER: 193 W\n";
  for (const std::string& body : {"    LIMIT:\nWARNING: AMD-SMI is older than the driver\n" + max + socket,
                                  " LIMIT:\n MAX_POWER: 203 W\n SOCKET_POWER: 193 W\n" + std::string{},
                                  "LIMIT:\nSOCKET_POWER: 193 W\n" + std::string{}, max + socket,
                                  socket + "        SLOWDOWN_EDGE_TEMPERATURE: 100 C\n"})
    for (const std::string_view command : {"amd-smi", "amd-smi static --limit"}) {
      const auto r = read("amd-smi", "GPU: 0\n" + body, command);
      ASSERT_EQ(r.devices.size(), 1U) << body;
      EXPECT_FALSE(r.devices[0].power) << body;
      EXPECT_DOUBLE_EQ(limit(r), 193) << body;
    }
  for (const std::string_view command :
       {"amd-smi static --limit", "amd-smi static -l -g 0", "amd-smi static"})
    EXPECT_EQ(reason(read("amd-smi", "GPU: 0\n" + socket, command)), "no_power_reading_in_this_command");
}

TEST(AmdSmi, ADrawPartedFromItsSectionIsStillADraw) {
  EXPECT_DOUBLE_EQ(watts(read("amd-smi", "GPU: 0\n    POWER:\nWARNING: old\n        SOCKET_POWER: 13 W\n",
                              "amd-smi metric --power")),
                   13);
  const auto both = read("amd-smi",
                         "GPU: 0\n    LIMIT:\n        MAX_POWER: 203 W\n        SOCKET_POWER: 193 W\n"
                         "    POWER:\n        SOCKET_POWER: 13 W\n");
  EXPECT_DOUBLE_EQ(watts(both), 13);
  EXPECT_DOUBLE_EQ(limit(both), 193);
}

TEST(AmdSmi, LimitsOfSeveralTrackersAreTheFirstOnes) {
  const auto r =
      read("amd-smi",
           "GPU: 0\n    LIMIT:\n        PPT0:\n            MAX_POWER_LIMIT: 310 W\n            "
           "MIN_POWER_LIMIT: 210 W\n"
           "            SOCKET_POWER_LIMIT: 290 W\n        PPT1:\n            SOCKET_POWER_LIMIT: N/A\n");
  EXPECT_DOUBLE_EQ(limit(r), 290);
  EXPECT_FALSE(r.devices[0].power);
}

TEST(AmdSmi, ABaseboardIsNoCard) {
  const auto r =
      read("amd-smi", "GPU: 0\n    POWER:\n        UBB_POWER: 5100 W\n        SOCKET_POWER: N/A\n");
  EXPECT_EQ(reason(r), "tool_prints_N/A");
}

TEST(AmdSmi, AWholeSectionMayBeUnknown) {
  EXPECT_EQ(reason(read("amd-smi", "GPU: 0\n    USAGE: N/A\n    POWER: N/A\n")), "tool_prints_N/A");
}

TEST(AmdSmi, CpuSocketsPrintMilliwattsAndLimitsFirst) {
  const auto r = read("amd-smi",
                      "CPU: 1\n    POWER_METRICS:\n        SOCKET POWER LIMIT: 500000 mW\n        SOCKET MAX "
                      "POWER LIMIT: 550000 mW\n"
                      "        SOCKET POWER: 120500 mW\n");
  EXPECT_EQ(index(r), 1);
  EXPECT_DOUBLE_EQ(watts(r), 120.5);
  EXPECT_DOUBLE_EQ(limit(r), 500);
}

TEST(AmdSmi, TheMetricsTableHasEnergiesAndLimitsBesideTheDraw) {
  const auto r =
      read("amd-smi",
           "    METRICS_TABLE:\n        RESPONSE:\n            MTBL_MAX_SOCKET_POWER_LIMIT: 560.0 W\n"
           "            MTBL_SOCKET_POWER_LIMIT: 540.0 W\n            MTBL_SOCKET_POWER: 99.5 W\n"
           "            MTBL_SOCKET_ENERGY_ACC: 12.5 kJ\n");
  EXPECT_DOUBLE_EQ(watts(r), 99.5);
  EXPECT_DOUBLE_EQ(limit(r), 540);
}

TEST(AmdSmi, JsonValuesHaveUnitsOrAreOldPlainNumbers) {
  EXPECT_DOUBLE_EQ(
      watts(
          read("amd-smi", R"([{"gpu":1,"power":{"socket_power":{"value":12,"unit":"W"},"ubb_power":900}}])")),
      12);
  EXPECT_DOUBLE_EQ(
      watts(read("amd-smi", R"([{"gpu":1,"power":{"socket_power":{"value":12500,"unit":"mW"}}}])")), 12.5);
  EXPECT_DOUBLE_EQ(
      watts(read("amd-smi", R"([{"gpu":1,"power":{"average_socket_power":14,"power_limit":200}}])")), 14);
  EXPECT_TRUE(read("amd-smi", R"([{"gpu":1,"power":{"average_socket_power":14}}])").devices[0].averaged);
  const auto wrapped = read(
      "amd-smi",
      R"({"gpu_data":[{"gpu":0,"power":{"socket_power":"N/A"}},{"gpu":1,"power":{"socket_power":{"value":15,"unit":"W"}}}]})");
  EXPECT_EQ(reason(wrapped), "tool_prints_N/A");
  EXPECT_DOUBLE_EQ(watts(wrapped, 1), 15);
  EXPECT_EQ(wrapped.unknown_devices, 1);
}

TEST(AmdSmi, JsonLimitsAreLimits) {
  const auto r = read(
      "amd-smi",
      R"([{"gpu":0,"limit":{"max_power":{"value":300,"unit":"W"},"socket_power":{"value":250,"unit":"W"}}}])");
  EXPECT_FALSE(r.devices[0].power);
  EXPECT_DOUBLE_EQ(limit(r), 250);
  const auto nested = read(
      "amd-smi",
      R"([{"gpu":0,"limit":{"ppt0":{"max_power_limit":{"value":300,"unit":"W"},"socket_power_limit":{"value":240,"unit":"W"}}}}])");
  EXPECT_DOUBLE_EQ(limit(nested), 240);
}

TEST(AmdSmi, CsvSocketPowerBesideLimitsIsALimit) {
  EXPECT_DOUBLE_EQ(watts(read("amd-smi", "gpu,socket_power,gfx_voltage\n0,17,700\n")), 17);
  const auto r = read("amd-smi", "gpu,max_power,min_power,socket_power\n0,300,0,250\n");
  EXPECT_FALSE(r.devices[0].power);
  EXPECT_DOUBLE_EQ(limit(r), 250);
}

std::string amd_table(const std::string& power) {
  return "+--------------------------------+-----------------------------------+\n"
         "| AMD-SMI 99.0    amdgpu version: 9.9   ROCm version: 9.9            |\n"
         "|--------------------------------+-----------------------------------|\n"
         "| BDF                   GPU-Name | Mem-Uti   Temp   UEC  Power-Usage |\n"
         "| GPU  HIP-ID    Partition-Mode  | GFX-Uti    Fan          Mem-Usage |\n"
         "|================================+===================================|\n"
         "| 0000:0c:00.0  AMD Example 9 X  | 13 %   60 \xC2\xB0"
         "C   0   " +
         power +
         " |\n"
         "|   4       0        SPX/NPS1    | 98 %       N/A      4976/19659 MB |\n"
         "|--------------------------------+-----------------------------------|\n";
}

TEST(AmdSmi, TheDefaultTableSharesOneUnitBetweenUsageAndCap) {
  const auto r = read("amd-smi", amd_table("623/750 W"));
  EXPECT_EQ(index(r), 4);
  EXPECT_EQ(r.devices[0].name, "AMD Example 9 X");
  EXPECT_DOUBLE_EQ(watts(r), 623);
  EXPECT_DOUBLE_EQ(limit(r), 750);
  const auto unknown = read("amd-smi", amd_table("N/A/750 W"));
  EXPECT_EQ(reason(unknown), "tool_prints_N/A");
  EXPECT_DOUBLE_EQ(limit(unknown), 750);
  EXPECT_EQ(reason(read("amd-smi", amd_table("N/A"))), "tool_prints_N/A");
}

TEST(AmdSmi, MonitorColumnsAreFoundByName) {
  const auto r = read("amd-smi",
                      "GPU  XCP  POWER   GPU_T   GFX_CLK   GFX%      VRAM_USAGE\n"
                      "  0    0   33 W   58 \xC2\xB0"
                      "C  1115 MHz    6 %    2.9/ 15.9 GB\n"
                      "  1    0    N/A   58 \xC2\xB0"
                      "C  1115 MHz    6 %    2.9/ 15.9 GB\n");
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_DOUBLE_EQ(watts(r), 33);
  EXPECT_EQ(reason(r, 1), "tool_prints_N/A");
}

TEST(AmdSmi, MonitorsPowerCapIsNeverTheDraw) {
  const std::string head = "TIMESTAMP  GPU  XCP  POWER  PWR_CAP\n";
  const auto r =
      read("amd-smi", head + "1786038263    5    0  123 W    750 W\n1786038264    5    0  125 W    750 W\n");
  ASSERT_EQ(r.devices.size(), 1U);
  EXPECT_EQ(index(r), 5);
  EXPECT_DOUBLE_EQ(watts(r), 125);
  EXPECT_DOUBLE_EQ(limit(r), 750);
  const auto swapped =
      read("amd-smi", "TIMESTAMP  GPU  XCP  PWR_CAP  POWER\n1786038263    5    0  750 W    123 W\n");
  EXPECT_DOUBLE_EQ(watts(swapped), 123);
  EXPECT_EQ(reason(read("amd-smi", head + "1786038263    5    0  N/A    750 W\n")), "tool_prints_N/A");
}

TEST(RocmSmi, TheMaximumThatPrecedesTheDrawIsTheCap) {
  const auto r = read(
      "rocm-smi",
      R"j({"card3":{"Max Graphics Package Power (W)":"290.0","Average Graphics Package Power (W)":"41.0"},"system":{"Driver version":"1"}})j");
  ASSERT_EQ(r.devices.size(), 1U);
  EXPECT_EQ(index(r), 3);
  EXPECT_DOUBLE_EQ(watts(r), 41);
  EXPECT_DOUBLE_EQ(limit(r), 290);
  EXPECT_TRUE(r.devices[0].averaged);
}

TEST(RocmSmi, CurrentSocketPowerWinsOverTheAverage) {
  const auto r = read(
      "rocm-smi",
      R"j({"card0":{"Average Graphics Package Power (W)":"41.0","Current Socket Graphics Package Power (W)":"47.0"}})j");
  EXPECT_DOUBLE_EQ(watts(r), 47);
  EXPECT_FALSE(r.devices[0].averaged);
}

TEST(RocmSmi, ASecondaryDieHasNoValueOfItsOwn) {
  const auto r = read(
      "rocm-smi",
      R"j({"card0":{"Average Graphics Package Power (W)":"N/A (Secondary die)","Max Graphics Package Power (W)":"0.0"}})j");
  EXPECT_EQ(reason(r), "tool_prints_N/A (Secondary die)");
  EXPECT_FALSE(r.devices[0].power_limit);
}

TEST(RocmSmi, OnlyLimitsAskedForIsNoReading) {
  const auto r = read("rocm-smi", R"j({"card0":{"Max Graphics Package Power (W)":"290.0"}})j",
                      "rocm-smi --showmaxpower --json");
  EXPECT_EQ(reason(r), "no_power_reading_in_this_command");
  EXPECT_DOUBLE_EQ(limit(r), 290);
  refusal("rocm-smi", R"j({"card0":{"Temperature (Sensor edge) (C)":"41.0"}})j");
}

TEST(RocmSmi, WarningsBeforeTheJsonDontMatter) {
  EXPECT_DOUBLE_EQ(watts(read("rocm-smi",
                              "WARNING: AMD GPU device(s) is/are in a low-power "
                              "state.\n\n{\"card0\":{\"Average Graphics Package Power (W)\":\"9.0\"}}\n")),
                   9);
}

TEST(RocmSmi, TableColumnsWithBlanksInOtherCells) {
  const auto r =
      read("rocm-smi",
           "=========== ROCm System Management Interface ===========\n"
           "Device  Node  IDs              Temp        Power     Partitions          SCLK  PwrCap  GPU%\n"
           "              (DID,     GUID)  (Junction)  (Socket)  (Mem, Compute, ID)\n"
           "=========================================================\n"
           "1       3     0x74a0,   32223  32.0\xC2\xB0"
           "C      127.0W    NPS1, SPX, 0        None  555.0W  0%\n"
           "2       4     0x74a0,   32223  32.0\xC2\xB0"
           "C      N/A       NPS1, SPX, 0        None  555.0W  0%\n"
           "=========================================================\n");
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_EQ(index(r), 1);
  EXPECT_DOUBLE_EQ(watts(r), 127);
  EXPECT_DOUBLE_EQ(limit(r), 555);
  EXPECT_FALSE(r.devices[0].averaged);
  EXPECT_EQ(reason(r, 1), "tool_prints_N/A");
}

TEST(RocmSmi, RowsOfTwoLinesAreOneDevice) {
  const auto r =
      read("rocm-smi",
           "Device  [Model : Revision]    Temp    Power  Partitions      SCLK     PwrCap  GPU%\n"
           "        Name (20 chars)       (Edge)  (Avg)  (Mem, Compute)\n"
           "====================================================================================\n"
           "0       [0x0c34 : 0x01]       34.0\xC2\xB0"
           "C  38.0W  N/A, N/A        300Mhz   290.0W  0%\n"
           "        7900 Example\n"
           "====================================================================================\n");
  ASSERT_EQ(r.devices.size(), 1U);
  EXPECT_DOUBLE_EQ(watts(r), 38);
  EXPECT_DOUBLE_EQ(limit(r), 290);
  EXPECT_TRUE(r.devices[0].averaged);
}

TEST(RocmSmi, OldTablesHaveAvgPwrAndANameOfTwoWords) {
  const auto r = read("rocm-smi",
                      "GPU  Temp (DieEdge)  AvgPwr  SCLK    MCLK    Fan   Perf  PwrCap  VRAM%  GPU%\n"
                      "0    41.0c           21.0W   808Mhz  350Mhz  0%    auto  220.0W  14%    3%\n");
  EXPECT_DOUBLE_EQ(watts(r), 21);
  EXPECT_DOUBLE_EQ(limit(r), 220);
}

TEST(RocmSmi, ShowpowerLinesAndCsv) {
  const auto text =
      read("rocm-smi",
           "===== Power Consumption =====\nGPU[0]\t\t: Max Graphics Package Power (W): 290.0\n"
           "GPU[0]\t\t: Average Graphics Package Power (W): 36.0\nGPU[1]\t\t: Average Graphics Package "
           "Power (W): N/A (Secondary die)\n==================\n===== End of ROCm SMI Log =====\n");
  ASSERT_EQ(text.devices.size(), 2U);
  EXPECT_DOUBLE_EQ(watts(text), 36);
  EXPECT_DOUBLE_EQ(limit(text), 290);
  EXPECT_FALSE(text.devices[1].power);
  const auto csv = read("rocm-smi",
                        "device,Average Graphics Package Power (W),Max Graphics Package Power "
                        "(W)\ncard0,36.0,290.0\ncard1,37.0,290.0\n\n");
  ASSERT_EQ(csv.devices.size(), 2U);
  EXPECT_DOUBLE_EQ(watts(csv, 1), 37);
  EXPECT_DOUBLE_EQ(limit(csv, 1), 290);
}

TEST(HySmi, AvgPwrIsTheDrawWhereverTheCapStands) {
  const std::string rows[] = {
      "HCU  Temp  AvgPwr  Perf  PwrCap  VRAM%\n6    40.0C  151.0W  high  810.0W  0%\n",
      "DCU  Temp   AvgPwr  Fan   Perf  PwrCap  VRAM%  DCU%\n6    30.0c  151.0W   0.0%  auto  810.0W    0%  "
      " 0%\n",
      "DCU  PwrCap  Temp  AvgPwr\n6    810.0W  30.0c  151.0W\n"};
  for (const auto& text : rows) {
    const auto r = read("hy-smi", "====== System Management Interface ======\n" + text + "=====\n");
    EXPECT_EQ(index(r), 6) << text;
    EXPECT_DOUBLE_EQ(watts(r), 151) << text;
    EXPECT_DOUBLE_EQ(limit(r), 810) << text;
    EXPECT_TRUE(r.devices[0].averaged);
  }
}

TEST(HySmi, ARowThatLostACellIsReadOnlyWhereItCantBeMistaken) {
  const auto r = read(
      "hy-smi",
      "HCU     Temp     AvgPwr     Perf     PwrCap     VRAM%\n0       40.0C    N/A        800.0W     0%\n");
  EXPECT_FALSE(r.devices[0].power);
}

TEST(RocmSmi, ALoneValueOfDrawAndCapIsNeither) {
  for (const auto* tool : {"rocm-smi", "hy-smi"}) {
    const auto r = read(tool, "GPU  Temp   AvgPwr  PwrCap  VRAM%\n0    25.0C  300.0W  0%\n");
    ASSERT_EQ(r.devices.size(), 1U);
    EXPECT_FALSE(r.devices[0].power) << tool << ": the cap may have moved under the draw's name";
  }
}

TEST(EveryToolOfCards, ACardToldTwiceIsOneAsToldLast) {
  const auto r = read(
      "amd-smi",
      R"([{"gpu":0,"power":{"socket_power":{"value":90,"unit":"W"}}},{"gpu":0,"power":{"socket_power":{"value":100,"unit":"W"}}}])");
  ASSERT_EQ(r.devices.size(), 1U);
  EXPECT_EQ(r.devices[0].power, Watts{100});
  EXPECT_EQ(r.total, Watts{100});
}

}  // namespace
}  // namespace tidewatt::metering
