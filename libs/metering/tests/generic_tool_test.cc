// Text of unknown tools, and the rule about words that lets it be read at all.
#include "tool_text.h"

namespace tidewatt::metering {
namespace {

TEST(GenericTool, AnyLimitWordKeepsANumberFromBeingTheDraw) {
  for (const auto* word : {"Power Cap",
                           "Power Limit",
                           "PowerLimit",
                           "Max Power",
                           "maximum power",
                           "Power TDP",
                           "Rated Power",
                           "Default Power",
                           "Enforced Power",
                           "POWER_CAP",
                           "PwrCap",
                           "Min Power",
                           "power.limit",
                           "Current Power Limit",
                           "Average Power Cap",
                           "Peak Power",
                           "Requested Power Usage",
                           "TDP",
                           "Power Capacity",
                           "Power Threshold"}) {
    const auto alone = parse_tool("generic", "x", std::string{word} + ": 321 W\n");
    EXPECT_TRUE(!alone || !alone->devices[0].power) << word;
    const auto r = read("generic", std::string{word} + ": 321 W\nPower Draw: 41 W\n");
    EXPECT_DOUBLE_EQ(watts(r), 41) << word;
  }
}

TEST(GenericTool, ANameThatSaysDrawWinsWhereverItStands) {
  for (const auto* word : {"Power Draw", "Power Usage", "Current Power", "Average Power", "Avg Power",
                           "Instant Power Draw", "Power Consumption", "Real-time Power", "Cur Power"}) {
    const std::string line = std::string{word} + ": 41 W\n";
    EXPECT_DOUBLE_EQ(watts(read("generic", line + "Power: 99 W\n")), 41) << word;
    EXPECT_DOUBLE_EQ(watts(read("generic", "Power: 99 W\n" + line)), 41) << word;
  }
}

TEST(GenericTool, InstantaneousWinsOverAverageWhichIsKept) {
  const auto r = read("generic", "Average Power: 40 W\nInstantaneous Power: 44 W\n");
  EXPECT_DOUBLE_EQ(watts(r), 44);
  EXPECT_FALSE(r.devices[0].averaged);
  EXPECT_DOUBLE_EQ(r.devices[0].average->value(), 40);
}

TEST(GenericTool, NamesWithPowerThatAreNoPower) {
  for (const auto* line : {"Power State: 2 W", "Power Management: 5 W", "Energy Power: 5 W",
                           "Power Cable: 3 W", "Memory Power: 44 W", "Module Power: 900 W"})
    refusal("generic", std::string{line} + "\n");
}

TEST(GenericTool, UnitsComeFromTheNameOrTheValueAndAreNeeded) {
  EXPECT_DOUBLE_EQ(watts(read("generic", "Power Draw (mW): 41500\n")), 41.5);
  EXPECT_DOUBLE_EQ(watts(read("generic", "Power Draw: 41500000 uW\n")), 41.5);
  EXPECT_DOUBLE_EQ(watts(read("generic", "Power Draw: 41500000 \xC2\xB5W\n")), 41.5);
  EXPECT_DOUBLE_EQ(watts(read("generic", "Power Draw: 0.5 kW\n")), 500);
  EXPECT_EQ(reason(read("generic", "Power Draw: 41\n")), "tool_prints_41");
}

TEST(GenericTool, FullWidthColonsAreColons) {
  EXPECT_DOUBLE_EQ(watts(read("generic", "Power Draw\xEF\xBC\x9A 41 W\n")), 41);
}

TEST(GenericTool, DevicesWithHeadingsAreReadApart) {
  const auto r =
      read("generic", "Device 0\n  Power Limit : 300 W\n  Power Draw : 41 W\nDevice 1\n  Power Draw : N/A\n");
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_DOUBLE_EQ(watts(r), 41);
  EXPECT_DOUBLE_EQ(limit(r), 300);
  EXPECT_EQ(reason(r, 1), "tool_prints_N/A");
  EXPECT_EQ(r.unknown_devices, 1);
}

TEST(GenericTool, TwoEquallyGoodDrawsAreAnUnknownLayout) {
  EXPECT_NE(refusal("generic", "Power Draw: 41 W\nPower Draw: 42 W\n").message.find("line 2"),
            std::string::npos);
}

TEST(GenericTool, TablesCsvColumnsAndJsonByTheirNames) {
  EXPECT_DOUBLE_EQ(
      watts(read("generic",
                 "+----+\n| NPU  Name | Pwr:Usage/Cap |\n+====+\n| 0  X1     | 41W / 300W    |\n+----+\n")),
      41);
  EXPECT_DOUBLE_EQ(watts(read("generic", "card,power_cap_w,power.limit [W],power.draw [W]\n0,310,300,41\n")),
                   41);
  EXPECT_DOUBLE_EQ(watts(read("generic", "Card  PwrCap  Power\n0     300W    41W\n")), 41);
  const auto json =
      read("generic", R"({"cards":[{"id":3,"power":{"limit":"300 W","draw":{"value":41,"unit":"W"}}}]})");
  EXPECT_EQ(index(json), 3);
  EXPECT_DOUBLE_EQ(watts(json), 41);
  EXPECT_DOUBLE_EQ(limit(json), 300);
}

TEST(GenericTool, RowsOfSeveralTimesWithoutADeviceCantBeToldApart) {
  refusal("generic", "timestamp,power.draw [W]\n1,41\n2,42\n");
}

TEST(GenericTool, NothingAboutPowerIsAnUnknownLayout) {
  EXPECT_NE(
      refusal("generic", "Temperature: 41 C\nClock: 1 MHz\n").message.find("generic: line 1: unknown layout"),
      std::string::npos);
}

TEST(Generic, AWholeBesideItsPartsInJsonIsNotAddedToThem) {
  for (const char* whole : {"system0", "system", "total", "node1", "Chassis0", "host_0"}) {
    const auto text = std::string{R"({"card0":{"power [W]":112},"card1":{"power [W]":113},")"} + whole +
                      R"(":{"power [W]":999}})";
    const auto r = read("generic", text);
    EXPECT_EQ(r.devices.size(), 2U) << whole;
    EXPECT_DOUBLE_EQ(r.total->value(), 225) << whole;
  }
  const auto list = read(
      "generic", R"([{"id":0,"power [W]":112},{"id":1,"power [W]":113},{"name":"Total","power [W]":225}])");
  EXPECT_DOUBLE_EQ(list.total->value(), 225);
  // Alone it is the device.
  EXPECT_EQ(watts(read("generic", R"({"system0":{"power [W]":999}})")), 999);
}

TEST(Generic, DevicesOfSeveralKindsMakeNoTotal) {
  const auto r = read("generic", R"({"board0":{"power [W]":400},"chip0":{"power [W]":112}})");
  EXPECT_EQ(r.devices.size(), 2U);
  EXPECT_FALSE(r.total);
}

TEST(Generic, ALineForAllDevicesIsNotTheLastOnes) {
  const auto r = read(
      "generic", "Card 0\n    Power Draw : 112 W\nCard 1\n    Power Draw : N/A\nTotal Power Draw : 500 W\n");
  EXPECT_EQ(watts(r), 112);
  EXPECT_EQ(watts(r, 1), -1);
}

TEST(GenericTool, AUnitInAHeadersNameThatIsNoWattsKeepsItsNumbersFromBeingWatts) {
  for (const std::string name :
       {"power_usage_percent", "Power (VA)", "Power [kVA]", "Power (BTU/h)", "Power (%)", "power usage %",
        "power_dbm", "power level", "previous power (W)", "Power Draw (J)", "power_pct"}) {
    EXPECT_FALSE(parse_tool("generic", "generic", "gpu, " + name + "\n0, 42\n1, 43\n")) << name;
    const auto both = read("generic", "gpu, " + name + ", power draw (W)\n0, 42, 112\n");
    EXPECT_EQ(watts(both), 112) << name;
  }
  EXPECT_EQ(watts(read("generic", "gpu, Power (Avg) [W]\n0, 42\n")), 42);
}

}  // namespace
}  // namespace tidewatt::metering
