// Two tools of one name: Intel's and Kunlunxin's xpu-smi.
#include "tool_text.h"

namespace tidewatt::metering {
namespace {

std::string stats(const std::string& power) {
  return "+----------------------+-----------------+\n| Device ID            | 1               |\n"
         "+----------------------+-----------------+\n| Energy Consumed (J)  | 999             |\n"
         "| Max Power Limit (W)  | 444             |\n| GPU Power (W)        | " +
         power +
         " |\n| GPU Frequency (MHz)  | 2050            |\n+----------------------+-----------------+\n";
}

TEST(XpuSmi, StatsPrintOneValueOrFour) {
  const auto plain = read("xpu-smi", stats("17"));
  EXPECT_EQ(index(plain), 1);
  EXPECT_DOUBLE_EQ(watts(plain), 17);
  const auto four = read("xpu-smi", stats("Tile 0: avg: 41, min: 40, max: 49, current: 45"));
  EXPECT_DOUBLE_EQ(watts(four), 45);
  EXPECT_FALSE(four.devices[0].sub_index);
  EXPECT_EQ(reason(read("xpu-smi", stats("avg: , min: , max: , current: "))), "tool_prints_nothing");
  EXPECT_EQ(reason(read("xpu-smi", stats(""))), "tool_prints_nothing");
}

TEST(XpuSmi, TilesHaveValuesOfTheirOwnUnlessATotalIsPrinted) {
  const auto tiles = read("xpu-smi", stats("Tile 0: current: 45 |\n|       | Tile 1: current: 47"));
  ASSERT_EQ(tiles.devices.size(), 2U);
  EXPECT_EQ(part(tiles, 1), 1);
  EXPECT_DOUBLE_EQ(tiles.total->value(), 92);
  const auto total = read("xpu-smi", stats("Tile 0: 45, Tile 1: 47, total: 99"));
  ASSERT_EQ(total.devices.size(), 1U);
  EXPECT_DOUBLE_EQ(watts(total), 99);
}

TEST(XpuSmi, DumpTakesTheLastRowOfEachDeviceAndTile) {
  const auto r = read(
      "xpu-smi",
      "Timestamp, DeviceId, GPU Energy Consumed (J), GPU Power (W)\n"
      "01:00:00.000,    0, 5.0, 31.25\n01:00:00.000,    1, 5.0, 33.25\n01:00:01.000,    0, 6.0, 32.25\n");
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_DOUBLE_EQ(watts(r), 32.25);
  EXPECT_DOUBLE_EQ(watts(r, 1), 33.25);
  const auto blank =
      read("xpu-smi", "Timestamp,DeviceId,TileId,GPU Power (W),GPU Frequency (MHz)\n1,00,0,    ,0300\n");
  EXPECT_EQ(part(blank), 0);
  EXPECT_EQ(reason(blank), "tool_prints_nothing");
}

TEST(XpuSmi, ConfigPrintsLimitsOnly) {
  const std::string text =
      "+------+-------+------+\n| Device Type | Device ID/Tile ID | Configuration "
      "|\n+------+-------+------+\n"
      "| GPU | 2 | Power Limit (w): 275.0 |\n|     |   |   Valid Range: 1 to 500 |\n| GPU | 2/0 | Power "
      "Limit (w): 9.0 |\n";
  const auto r = read("xpu-smi", text);
  ASSERT_EQ(r.devices.size(), 1U);
  EXPECT_EQ(index(r), 2);
  EXPECT_DOUBLE_EQ(limit(r), 275);
  EXPECT_EQ(reason(r), "no_power_reading_in_this_command");
  EXPECT_DOUBLE_EQ(limit(read("xpu-smi", replaced(text, "275.0", "0"))), -1);
}

TEST(XpuSmi, JsonPrefersTheDevicesOwnValue) {
  const auto r =
      read("xpu-smi", R"({"device_id":2,"device_level":[{"metrics_type":"XPUM_STATS_ENERGY","value":5},
      {"metrics_type":"XPUM_STATS_POWER","avg":50,"max":70,"min":40,"value":61.5}],
      "tile_level":[{"tile_id":0,"data_list":[{"metrics_type":"XPUM_STATS_POWER","value":30}]}]})");
  ASSERT_EQ(r.devices.size(), 1U);
  EXPECT_DOUBLE_EQ(watts(r), 61.5);
}

std::string kunlun(const std::string& power) {
  return "+-------------------------------------------------+\n| XPU-SMI      Driver Version: 9.9   XPU-RT "
         "Version: 9.9 |\n"
         "|-------------------------------+-----------------+\n| XPU  Name        Persistence-M| Bus-Id   "
         "Disp.A |\n"
         "| Fan  Temp  Perf  Pwr:Usage/Cap|    Memory-Usage |\n|                               |        "
         "L3-Usage |\n"
         "|===============================+=================|\n|   3  P999 OAM           N/A   | "
         "0000:52:00.0 N/A|\n"
         "| N/A   38C  N/A   " +
         power +
         " |    0MiB / 98MiB |\n|                               |    0MiB / 96MiB |\n"
         "+-------------------------------+-----------------+\n";
}

TEST(KunlunxinXpuSmi, ThreeLinesACardAndThePairOnTheSecond) {
  const auto r = read("kunlunxin-xpu-smi", kunlun("82W / 401W"));
  EXPECT_EQ(index(r), 3);
  EXPECT_EQ(r.devices[0].name, "P999 OAM");
  EXPECT_DOUBLE_EQ(watts(r), 82);
  EXPECT_DOUBLE_EQ(limit(r), 401);
}

std::string devices(const std::string& column, const std::string& value) {
  return "Runtime Version: 9\n  DEVICES\n------------------------------\n| DevID | Model |    Memory    |" +
         column + " Freq(MHz) |\n------------------------------\n|     0 | R999  | 0 / 16384 MB |" + value +
         "      1300 |\n|     1 | R999  | 0 / 16384 MB |" + value +
         "      1300 |\n------------------------------\n  PROCESSES\n| DevID | PID | Memory |\n";
}

TEST(KunlunxinXpuSmi, TheOlderTableHasNoCapAndSometimesNoPower) {
  const auto r = read("kunlunxin-xpu-smi", devices(" Power(W) |", "      27  |"));
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_EQ(index(r, 1), 1);
  EXPECT_DOUBLE_EQ(watts(r), 27);
  EXPECT_DOUBLE_EQ(r.total->value(), 54);
  const auto none = read("kunlunxin-xpu-smi", devices("", ""));
  EXPECT_EQ(reason(none), "no_power_column_in_this_layout");
  EXPECT_EQ(reason(read("kunlunxin-xpu-smi", devices(" Power(W) |", "     N/A  |"))), "tool_prints_N/A");
}

TEST(KunlunxinXpuSmi, AListWithoutNamesIsAnUnknownLayout) {
  refusal("kunlunxin-xpu-smi", "0000:52:00.0 0 P999 02K 38 0 0 0 82 401 98304\n", "xpu-smi -m");
}

TEST(XpuSmi, TheLabelsUnitCountsInStats) {
  const auto stats = [](const std::string& label, const std::string& value) {
    return watts(read("xpu-smi", "+--+--+\n| Device ID | 0 |\n+--+--+\n| GPU Power (" + label + ") | " +
                                     value + " |\n+--+--+\n"));
  };
  EXPECT_DOUBLE_EQ(stats("W", "119.5"), 119.5);
  EXPECT_DOUBLE_EQ(stats("mW", "119500"), 119.5);
  EXPECT_DOUBLE_EQ(stats("kW", "0.1195"), 119.5);
  EXPECT_DOUBLE_EQ(stats("kW", "avg: 0.1, min: 0.1, max: 0.2, current: 0.1195"), 119.5);
  EXPECT_DOUBLE_EQ(stats("mW", "Tile 0: avg: 100, min: 1, max: 2000, current: 119500"), 119.5);
}

TEST(XpuSmi, ADevicesOwnRowOfADumpWinsOverItsTiles) {
  const std::string head = "Timestamp, DeviceId, TileId, GPU Power (W)\n";
  const auto both =
      read("xpu-smi", head + "1, 0, , 200.50\n1, 0, 0, 99.25\n1, 0, 1, 101.25\n1, 1, 0, 50.00\n");
  EXPECT_DOUBLE_EQ(both.total->value(), 250.5);
  ASSERT_EQ(both.devices.size(), 2U);
  EXPECT_FALSE(both.devices[0].sub_index);
  EXPECT_EQ(part(both, 1), 0);
  const auto turned = read("xpu-smi", head + "1, 0, 0, 99.25\n1, 0, 1, 101.25\n1, 0, N/A, 200.50\n");
  EXPECT_DOUBLE_EQ(turned.total->value(), 200.5);
  const auto tiles = read("xpu-smi", head + "1, 0, , N/A\n1, 0, 0, 99.25\n1, 0, 1, 101.25\n");
  EXPECT_DOUBLE_EQ(tiles.total->value(), 200.5);
  EXPECT_EQ(tiles.unknown_devices, 0);
}

/// Only Kunlunxin's prints a title.
TEST(XpuSmi, RefusesWhatKunlunxinsToolOfTheSameNamePrints) {
  const auto foreign = [](const std::string& tool, const std::string& text) {
    const auto parsed = parse_tool(tool, tool, text);
    return parsed ? std::string{"accepted"} : parsed.error().hint;
  };
  EXPECT_NE(foreign("xpu-smi", kunlun("82W / 401W")).find("--tool kunlunxin-xpu-smi"), std::string::npos);
}

}  // namespace
}  // namespace tidewatt::metering
