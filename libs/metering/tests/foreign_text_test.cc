// What stands around a tool's output, lost bytes of it, and another tool's output: never a device more, never
// one less without a word.
#include "tool_text.h"

namespace tidewatt::metering {
namespace {

const std::string kTwoCards =
    "GPU: 0\n    POWER:\n        SOCKET_POWER: 11 W\n        GFX_VOLTAGE: 700 mV\n"
    "GPU: 1\n    POWER:\n        SOCKET_POWER: 17 W\n        GFX_VOLTAGE: 700 mV\n";

TEST(LostBytes, OfTheFirstLineLoseNoCard) {
  const auto nuls =
      "GPU:" + std::string(1, '\0') + kTwoCards.substr(5, 3) + std::string(3, '\0') + kTwoCards.substr(11);
  for (const auto& text : {"\f" + kTwoCards, "\v\f" + kTwoCards, nuls}) {
    const auto r = read("amd-smi", text);
    ASSERT_EQ(r.devices.size(), 2U);
    EXPECT_DOUBLE_EQ(r.total.value().value(), 28);
  }
  const std::string walk =
      "PowerNet-MIB::rPDU2DeviceStatusPower.1 = INTEGER: 125\nPowerNet-MIB::rPDU2DeviceStatusPower.2 = "
      "INTEGER: 98\n";
  EXPECT_DOUBLE_EQ(read("pdu", walk).total.value().value(), 2230);
  EXPECT_DOUBLE_EQ(read("pdu", "\f" + walk).total.value().value(), 2230);
  EXPECT_DOUBLE_EQ(read("pdu", replaced(walk, " =", std::string_view("\0=", 2))).total.value().value(), 2230);
}

TEST(LostHeading, AboveTheFirstDrawIsAnError) {
  const auto error = refusal("amd-smi", "x" + kTwoCards);
  EXPECT_EQ(error.message.find("amd-smi: line 3: unknown layout: expected a line that begins a device"), 0U)
      << error.message;
}

TEST(LostHeading, BetweenTwoDrawsLeavesNoNumberForEither) {
  const auto r = read("amd-smi", replaced(kTwoCards, "GPU: 1", "x: 1"));
  ASSERT_EQ(r.devices.size(), 1U);
  EXPECT_EQ(reason(r), "garbled: lines 3 and 7 both print 'SOCKET_POWER' below one heading");
  EXPECT_FALSE(r.total);
}

TEST(LostHeading, IsNotWhatALineThatIsPrintedTwiceMeans) {
  const std::string line = "        SOCKET_POWER: 11 W\n";
  EXPECT_DOUBLE_EQ(read("amd-smi", replaced(kTwoCards, line, line + line)).total.value().value(), 28);
}

TEST(LinesAroundTheOutput, AreNoChips) {
  const std::string power =
      "\tNPU ID                         : 3\n\tChip Count                     : 1\n\n"
      "\tNPU Real-time Power(W)         : 101.5\n\tChip ID                        : 0\n";
  const std::string common =
      "NPU ID : 3\nChip Count : 1\n\nChip ID : 0\nTemperature(C) : 46\n"
      "NPU Real-time Power(W) : 101.5\n";
  for (const std::string above :
       {"Every 2.0s: npu-smi info -t power -i 3   host: Mon Nov 30 16:00:00 2026\n\n",
        "root@host:~# npu-smi info -t power -i 3\n", "Failed to initialize logging: denied (limit 100 W)\n"})
    for (const auto& output : {power, common})
      for (std::size_t at = 0; at != std::string::npos; at = output.find('\n', at + 1)) {
        auto text = output;
        text.insert(at == 0 ? 0 : at + 1, above);
        const auto r = read("npu-smi", text);
        ASSERT_EQ(r.devices.size(), 1U) << text;
        EXPECT_EQ(index(r), 3) << text;
        EXPECT_EQ(part(r), 0) << text;
        EXPECT_DOUBLE_EQ(watts(r), 101.5) << text;
      }
}

TEST(NvidiaSmiQuery, TabsIndentAsBlanksDo) {
  const std::string log =
      "==============NVSMI LOG==============\n\nAttached GPUs                   : 1\nGPU 00000000:3B:00.0\n"
      "    Product Name                : X\n    GPU UUID                    : GPU-aaaa\n"
      "    GPU Part Number             : 900\n    GPU Virtualization Mode\n        Host VGPU Mode          : "
      "N/A\n"
      "    GPU Power Readings\n        Power Draw              : 112.50 W\n"
      "        Current Power Limit     : 355.00 W\n        Max Power Limit         : 360.00 W\n"
      "    GPU Memory Power Readings\n        Power Draw              : 44.00 W\n";
  for (const auto& text : {log, replaced(log, "  ", "\t"), replaced(log, "    ", "\t")}) {
    const auto r = read("nvidia-smi", text);
    ASSERT_EQ(r.devices.size(), 1U) << text;
    EXPECT_DOUBLE_EQ(watts(r), 112.5) << text;
    EXPECT_DOUBLE_EQ(limit(r), 355) << text;
    EXPECT_EQ(r.devices[0].uuid, "GPU-aaaa") << text;
  }
}

TEST(BoundsByName, AreNeverTheDraw) {
  for (const std::string_view bound :
       {"Power Capping",  "Power Capped",     "Power Ceil",        "Power Constraint",
        "Power Quota",    "Power Budgeted",   "Power Allowance",   "Sustained Power",
        "PPT Power",      "EDPp Power",       "Programmed Power",  "Configured Power",
        "Reserved Power", "Guaranteed Power", "Power Headroom",    "Remaining Power",
        "Power Loss",     "Power High",       "Power\u4E0A\u9650", "Power \u4E0A\u9650"}) {
    const auto r = parse_tool("generic", "generic", "GPU 0\n" + std::string{bound} + " : 500 W\n");
    EXPECT_TRUE(!r || !r->devices[0].power) << bound;
    const auto beside = read("generic", "GPU 0\n" + std::string{bound} + " : 500 W\nPower : 112 W\n");
    EXPECT_DOUBLE_EQ(watts(beside), 112) << bound;
  }
}

TEST(AnotherToolsOutput, IsAnUnknownLayout) {
  const std::string table =
      "+-----------+-----------+\n| NVIDIA-SMI 580.82.07   Driver Version: 580.82.07 "
      "|\n+-----------+-----------+\n"
      "| GPU  Name | Bus-Id |\n| Fan  Temp  Perf  Pwr:Usage/Cap | Memory-Usage |\n+===========+===========+\n"
      "| 0 X | 3B:00.0 |\n| N/A 35C P0 300W / 700W | 4 / 5 |\n+-----------+-----------+\n";
  EXPECT_DOUBLE_EQ(watts(read("nvidia-smi", table)), 300);
  EXPECT_DOUBLE_EQ(watts(read("generic", table)), 300);
  for (const std::string_view tool : {"amd-smi", "brsmi", "ixsmi", "mx-smi"})
    EXPECT_NE(refusal(tool, table).message.find("expected its own output, not that of nvidia-smi"),
              std::string::npos);
  EXPECT_NE(refusal("npu-smi",
                    "    Instantaneous power reading:                   195 Watts\n"
                    "    Power reading state is:                   activated\n")
                .message.find("not that of ipmi"),
            std::string::npos);
  refusal("npu-smi",
          "[\n    {\"gpu\": 0, \"power\": {\"socket_power\": {\"value\": 12, \"unit\": \"W\"}}}\n]\n");
}

TEST(JsonNumbers, HaveNoDigitsThatTheToolDidNotPrint) {
  const auto r = read("nvidia-smi", "index, power.draw [W]\n0, 426.46 W\n1, 426.46 W\n2, 426.47 W\n");
  EXPECT_NE(to_json(r).find("\"total_power_watts\":1279.39}"), std::string::npos) << to_json(r);
}

TEST(DeepJson, IsAnErrorForEveryTool) {
  std::string deep;
  for (int i = 0; i < 80'000; ++i) deep += "{\"a\":";
  deep += "1" + std::string(80'000, '}');
  for (const auto tool : known_tools()) {
    const auto parsed = parse_tool(tool, tool, deep);
    ASSERT_FALSE(parsed) << tool;
    EXPECT_NE(parsed.error().message.find("nested"), std::string::npos) << parsed.error().message;
  }
}

}  // namespace
}  // namespace tidewatt::metering
