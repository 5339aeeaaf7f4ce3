// gc-info, tt-smi, and what is said about tools as a whole.
#include <algorithm>

#include "tool_text.h"

namespace tidewatt::metering {
namespace {

TEST(GcInfo, PowerIsReadWithItsUnitOrUnknownWithItsToken) {
  const std::string text =
      "Device Info:\n  id: 4\n  target: PCIe\n  average die temp: 23.1 C\n  ipu power: 81.5W\n";
  const auto r = read("gc-info", text, "gc-info -i -d 4");
  EXPECT_EQ(index(r), 4);
  EXPECT_DOUBLE_EQ(watts(r), 81.5);
  EXPECT_EQ(reason(read("gc-info", replaced(text, "81.5W", "N/A"))), "tool_prints_N/A");
  EXPECT_EQ(reason(read("gc-info", replaced(text, "81.5W", "81.5"))), "tool_prints_81.5");
  refusal("gc-info", replaced(text, "ipu power", "ipu clock"));
}

TEST(TtSmi, TheObjectDecidesNotTheWord) {
  const auto r = read("tt-smi", R"({"device_info":[{"board_info":{"board_type":"p9","bus_id":"0000:01:00.0"},
      "limits":{"tdp_limit":"155","power":"999"},"telemetry":{"power":" 39.0","aiclk":" 800"}}]})");
  EXPECT_EQ(r.devices[0].name, "p9");
  EXPECT_DOUBLE_EQ(watts(r), 39);
  EXPECT_DOUBLE_EQ(limit(r), 155);
}

TEST(TtSmi, TheBoardStandsInWhereTheChipIsUnknown) {
  EXPECT_DOUBLE_EQ(
      watts(read("tt-smi", R"({"device_info":[{"telemetry":{"power":null,"board_power":"51.0"}}]})")), 51);
  EXPECT_DOUBLE_EQ(
      watts(read("tt-smi", R"({"device_info":[{"telemetry":{"power":"31.0","board_power":"N/A"}}]})")), 31);
  EXPECT_EQ(reason(read("tt-smi", R"({"device_info":[{"telemetry":{"power":"N/A"}}]})")), "tool_prints_N/A");
}

TEST(TtSmi, OtherAndBrokenJsonNamesTheLine) {
  EXPECT_NE(
      refusal("tt-smi", "{\n \"device_info\": [\n  {\"telemetry\": }\n]}\n").message.find("tt-smi: line 3"),
      std::string::npos);
  refusal("tt-smi", R"({"devices":[]})");
  refusal("tt-smi", R"({"device_info":[{"limits":{"tdp_limit":"150"}}]})");
}

TEST(ToolCoverage, EveryToolHasRowsAndToolsWithoutWattsAreNamed) {
  const auto rows = tool_coverage();
  for (const auto name : known_tools())
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const ToolCoverage& row) {
      return row.tool == name;
    })) << name;
  for (const auto* vendor : {"AWS", "Google", "Rockchip"})
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const ToolCoverage& row) {
      return row.vendor == vendor && row.state == CoverageState::no_sample &&
             row.note.starts_with("no channel");
    })) << vendor;
  EXPECT_EQ(to_string(CoverageState::adapted), "adapted");
}

TEST(ToolText, KnownToolsAreSorted) {
  const auto names = known_tools();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

TEST(ToolText, MoreThanAnyToolPrintsIsRefusedUnread) {
  const std::string text((std::size_t{16} << 20U) + 1, 'x');
  EXPECT_NE(refusal("generic", text).message.find("bytes of output"), std::string::npos);
}

}  // namespace
}  // namespace tidewatt::metering
