// A tool in a loop prints sample after sample; what it prints beside them is no device.
#include <chrono>
#include <string>
#include <vector>

#include "tool_text.h"

namespace tidewatt::metering {
namespace {

std::string box(const std::string& tool, const std::string& label, const std::vector<int>& powers) {
  std::string text = "+------------------------+------------+\n| " + tool +
                     " 9.9              Driver: 9.9 |\n+------------------------+------------+\n| " + label +
                     "  Name            | Bus-Id     |\n| Fan  Temp  Perf  Pwr:Usage/Cap| Memory |\n"
                     "|========================+============|\n";
  for (std::size_t i = 0; i < powers.size(); ++i)
    text += "| " + std::to_string(i) + "    X 9         | 0000:" + std::to_string(i) +
            ":0   |\n| N/A  35C  P0  " + std::to_string(powers[i]) +
            "W / 355W | 1MiB / 2MiB |\n+------------------------+------------+\n";
  return text;
}

std::string concise(int first, int second) {
  return "=================== System Management Interface ===================\n"
         "GPU  Temp   AvgPwr  Perf  PwrCap\n0    30.0c  " +
         std::to_string(first) + ".0W  auto  355.0W\n1    31.0c  " + std::to_string(second) +
         ".0W  auto  355.0W\n====================================================================\n";
}

struct Loop {
  std::string tool, first, second;
};

std::vector<Loop> loops() {
  std::vector<Loop> all;
  for (const auto& [tool, label] :
       std::vector<std::pair<std::string, std::string>>{{"nvidia-smi", "GPU"},
                                                        {"hl-smi", "AIP"},
                                                        {"brsmi", "GPU"},
                                                        {"ixsmi", "GPU"},
                                                        {"mx-smi", "GPU"},
                                                        {"cnmon", "Card"},
                                                        {"efsmi", "DEV"},
                                                        {"kunlunxin-xpu-smi", "XPU"},
                                                        {"xpu-smi", "GPU"}}) {
    const std::string title = tool == "xpu-smi" ? "Intel XPU-SMI" : "ANY-SMI";
    for (const std::string gap : {"", "\n", "Mon Jan  1 00:00:00 2026\n"})
      all.push_back({tool, box(title, label, {101, 102}) + gap, box(title, label, {111, 112})});
  }
  for (const std::string tool : {"rocm-smi", "hy-smi"}) {
    all.push_back({tool, concise(101, 102), concise(111, 112)});
    all.push_back({tool,
                   "{\"card0\": {\"Average Graphics Package Power (W)\": \"101\"}, \"card1\": {\"Average "
                   "Graphics Package Power (W)\": \"102\"}}\n",
                   "{\"card0\": {\"Average Graphics Package Power (W)\": \"111\"},\n \"card1\": {\"Average "
                   "Graphics Package Power (W)\": \"112\"}}\n"});
    all.push_back({tool,
                   "GPU[0]\t: Average Graphics Package Power (W): 101\nGPU[1]\t: Average Graphics Package "
                   "Power (W): 102\n",
                   "GPU[0]\t: Average Graphics Package Power (W): 111\nGPU[1]\t: Average Graphics Package "
                   "Power (W): 112\n"});
  }
  all.push_back(
      {"amd-smi",
       "[{\"gpu\":0,\"power\":{\"socket_power\":101}},{\"gpu\":1,\"power\":{\"socket_power\":102}}]\n",
       "[{\"gpu\":0,\"power\":{\"socket_power\":111}},{\"gpu\":1,\"power\":{\"socket_power\":112}}]\n"});
  const auto xml = [](const std::string& a, const std::string& b) {
    const auto gpu = [](const std::string& id, const std::string& power) {
      return "<gpu id=\"" + id + "\"><uuid>GPU-" + id + "</uuid><power_readings><power_draw>" + power +
             " W</power_draw></power_readings></gpu>";
    };
    return "<?xml version=\"1.0\" ?>\n<nvidia_smi_log>" + gpu("0000:1:0", a) + gpu("0000:2:0", b) +
           "</nvidia_smi_log>\n";
  };
  all.push_back({"nvidia-smi", xml("101", "102"), xml("111", "112")});
  const auto sensors = [](const std::string& a, const std::string& b) {
    return "meter-acpi-0\nAdapter: X\npower1:  " + a +
           ".00 W  (interval = 1.00 s)\n\nother-pci-0100\nPPT:  " + b + ".00 W\n\n";
  };
  all.push_back({"sensors", sensors("101", "102"), sensors("111", "112")});
  const auto npu = [](const std::string& a, const std::string& b) {
    return "+------+-------+------------------+\n| npu-smi 9.9       Version: 9.9  |\n"
           "+------+-------+------------------+\n| NPU   Name | Health | Power(W)  Temp(C) |\n"
           "| Chip  | Bus-Id | AICore(%) Memory-Usage(MB) |\n+======+=======+==================+\n"
           "| 0   X 9  | OK     | " +
           a +
           ".0    35      |\n| 0    | 0:0 | 40  1 / 2 |\n"
           "+======+=======+==================+\n| 1   X 9  | OK     | " +
           b +
           ".0    35      |\n| 0    | 0:1 | 50  1 / 2 |\n+======+=======+==================+\n"
           "| NPU  Chip  | Process id | Process name |\n+======+=======+==================+\n";
  };
  all.push_back({"npu-smi", npu("101", "102"), npu("111", "112")});
  return all;
}

TEST(ToolLoops, TheLastSampleCountsAndNoneIsAdded) {
  for (const auto& loop : loops()) {
    const auto r = read(loop.tool, loop.first + loop.second);
    SCOPED_TRACE(loop.tool + "\n" + loop.first + loop.second);
    ASSERT_EQ(r.devices.size(), 2U);
    EXPECT_DOUBLE_EQ(watts(r, 0), 111);
    EXPECT_DOUBLE_EQ(watts(r, 1), 112);
    if (loop.tool != "sensors") {
      EXPECT_EQ(r.total, Watts{223});
    }
  }
}

TEST(ToolLoops, AnEndThatIsCutOffNeverGivesLessThanAWholeSample) {
  for (const auto& loop : loops()) {
    const auto whole = loop.first + loop.second;
    for (auto length = loop.first.size(); length < whole.size(); ++length) {
      const auto r = parse_tool(loop.tool, loop.tool, whole.substr(0, length));
      if (!r || !r->total) continue;
      EXPECT_TRUE(*r->total == Watts{203} || *r->total == Watts{213} || *r->total == Watts{223})
          << loop.tool << ": " << r->total->value() << "\n"
          << whole.substr(0, length);
    }
  }
}

TEST(ToolLoops, ADeviceMissingFromTheLastSampleIsUnknown) {
  const auto r = read("hl-smi", box("ANY-SMI", "AIP", {101, 102}) + "\n" + box("ANY-SMI", "AIP", {111}));
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_DOUBLE_EQ(watts(r, 0), 111);
  EXPECT_DOUBLE_EQ(watts(r, 1), -1);
  EXPECT_EQ(r.unknown_devices, 1);
  EXPECT_FALSE(r.total);
}

TEST(ToolLoops, RemarksAroundDocumentsAreNoPartOfThem) {
  const auto r = read("rocm-smi",
                      "WARNING: low-power state\n\n{\"card0\": {\"Average Graphics Package Power "
                      "(W)\": \"9.5\"}}\nsaved to /tmp/x\n");
  EXPECT_DOUBLE_EQ(watts(r), 9.5);
  EXPECT_DOUBLE_EQ(watts(read("nvidia-smi",
                              "WARNING: infoROM is corrupted\n<nvidia_smi_log><gpu id=\"1\">"
                              "<power_readings><power_draw>55 W</power_draw></power_readings>"
                              "</gpu></nvidia_smi_log>\nDone.\n")),
                   55);
  EXPECT_DOUBLE_EQ(
      watts(read("nvidia-smi", "\x1b[1mindex, power.draw [W]\x1b[0m\n0, \x1b[32m55.10 W\x1b[0m\n")), 55.1);
  EXPECT_DOUBLE_EQ(watts(read("nvidia-smi", "#gpu, pwr, gtemp\n#Idx, W, C\n0, 68, 35\n")), 68);
}

TEST(ToolSockets, ASocketIsNoCard) {
  const std::string json =
      "{\"gpu_data\":[{\"gpu\":0,\"power\":{\"socket_power\":31}}],\"cpu_data\":"
      "[{\"cpu\":0,\"power_metrics\":{\"socket power\":\"151 W\"}}]}\n";
  const std::string plain =
      "GPU: 0\n    POWER:\n        SOCKET_POWER: 31 W\nCPU: 0\n    POWER_METRICS:\n"
      "        SOCKET_POWER: 151 W\n        SOCKET_POWER_LIMIT: 400 W\n";
  for (const auto& text : {json, plain}) {
    const auto r = read("amd-smi", text);
    ASSERT_EQ(r.devices.size(), 2U) << text;
    EXPECT_DOUBLE_EQ(watts(r, 0), 31);
    EXPECT_EQ(r.devices[0].domain, "");
    EXPECT_DOUBLE_EQ(watts(r, 1), 151);
    EXPECT_EQ(r.devices[1].domain, "cpu_package");
    EXPECT_FALSE(r.total) << "which contains which isn't said";
  }
}

TEST(ToolNumbers, APartOfANumberIsNone) {
  for (const std::string value : {"14,5", "1.234,5", "1 234", "max 15"}) {
    EXPECT_DOUBLE_EQ(
        watts(read("xpu-smi", "+--+\n| Device ID | 0 |\n+--+\n| GPU Power (W) | " + value + " |\n+--+\n")),
        -1)
        << value;
    EXPECT_DOUBLE_EQ(watts(read("hl-smi", replaced(box("X", "AIP", {101}), "101W", value + "W"))), -1)
        << value;
    EXPECT_DOUBLE_EQ(watts(read("rocm-smi", replaced(concise(101, 102), "101.0W", value + "W"))), -1)
        << value;
    EXPECT_DOUBLE_EQ(watts(read("pdu", "SNMPv2-SMI::enterprises.318.1.1.12.1.16.0 = INTEGER: " + value + "\n",
                                "snmpwalk")),
                     -1)
        << value;
    EXPECT_DOUBLE_EQ(watts(read("ipmi", "Pwr | 77h | ok | 7.1 | " + value + " Watts\n")), -1) << value;
  }
}

TEST(ToolNumbers, AnEmptyFieldIsNotTheEntityBesideIt) {
  EXPECT_EQ(
      reason(read("ipmi", "Pwr Use | 5Ah | ok  |  9.1 | Watts\nOther | 5Bh | ok | 9.1 | 5 degrees C\n")),
      "tool_prints_nothing");
}

TEST(ToolNumbers, AWordUnderTheCapLeavesTheDrawAsItIs) {
  const std::string names =
      "===\nDevice  Node  Temp    Power     SCLK  MCLK     Perf  PwrCap       GPU%\n===\n";
  for (const std::string cap : {"Unsupported", "N/A        "})
    EXPECT_DOUBLE_EQ(watts(read("rocm-smi", names + "0       1     45.0C   18.250W   None  2 400Mhz  auto  " +
                                                cap + "  3%\n===\n")),
                     18.25)
        << cap;
}

TEST(ToolNumbers, AllOnesAreNone) {
  for (const std::string raw : {"65535", "2147483647", "4294967295"}) {
    EXPECT_DOUBLE_EQ(watts(read("tegrastats", "RAM 1/2MB VDD_IN " + raw + "mW/5000mW\n")), -1) << raw;
    EXPECT_DOUBLE_EQ(watts(read("powermetrics", "Combined Power (CPU + GPU + ANE): " + raw + " mW\n")), -1)
        << raw;
    EXPECT_DOUBLE_EQ(
        watts(
            read("pdu", "SNMPv2-SMI::enterprises.318.1.1.26.4.3.1.5.1 = Gauge32: " + raw + "\n", "snmpwalk")),
        -1)
        << raw;
  }
  const auto meter = read("sensors", "meter-acpi-0\npower1:  4.29 MW  (interval = 1.00 s)\n");
  EXPECT_EQ(reason(meter), "implausible: 4290000 W");
}

TEST(ToolNumbers, TheUnitMayEndTheName) {
  EXPECT_DOUBLE_EQ(watts(read("generic", "index,power_cap_mw,power_usage_mw\n0,310000,56000\n")), 56);
  EXPECT_DOUBLE_EQ(watts(read("generic", "index,power_kw\n0,0.25\n")), 250);
  EXPECT_DOUBLE_EQ(watts(read("generic", "GPU  Temp  Power(W)\n0    40    57.5\n")), 57.5);
}

TEST(ToolNumbers, TheAscend310PrintsItsRatedPower) {
  const auto card = [](const std::string& name) {
    return "+------+-------+------+\n| NPU   Name | Health | Power(W)  Temp(C) |\n| Chip  | Bus-Id | "
           "AICore(%) |\n"
           "+======+=======+======+\n| 0   " +
           name +
           "  | OK     | 12.5    35      |\n| 0    | 0:0 | 40 |\n"
           "+======+=======+======+\n";
  };
  EXPECT_EQ(reason(read("npu-smi", card("310"))), "rated_power_not_a_draw: 12.5 W");
  EXPECT_DOUBLE_EQ(watts(read("npu-smi", card("310P3"))), 12.5);
  EXPECT_DOUBLE_EQ(watts(read("npu-smi", card("310B4"))), 12.5);
}

TEST(ToolTotals, APartitionThatRepeatsItsCardIsCountedOnce) {
  const auto r = read("rocm-smi",
                      "===\nDevice  Node  Temp   Power   Partitions     PwrCap\n===\n"
                      "0       1     39.0C  181.0W  NPS1, CPX, 0   750.0W\n"
                      "1       2     39.0C  181.0W  NPS1, CPX, 1   750.0W\n===\n");
  EXPECT_EQ(r.total, Watts{181});
  EXPECT_EQ(r.unknown_devices, 0);
}

TEST(ToolTotals, WhatASupplyGivesOutIsNotTheNodesInput) {
  EXPECT_FALSE(
      read("redfish", "{\"PowerSupplies\":[{\"MemberId\":\"0\",\"LastPowerOutputWatts\":141}]}").total);
}

TEST(ToolSize, LongTextsAreReadInATimeThatGrowsWithThemAndTooManyDevicesAreRefused) {
  const auto begin = std::chrono::steady_clock::now();
  std::string rows = "index, uuid, power.draw [W]\n";
  std::string list;
  std::string documents;
  for (int i = 0; i < 20'000; ++i) {
    const auto n = std::to_string(i);
    rows += n + ", GPU-" + n + ", 50.5 W\n";
    list += "P" + n + " | 12 Watts | ok\n";
    documents += "[{\"gpu\":" + n + ",\"power\":{\"socket_power\":12}}]\n";
  }
  for (const auto& [tool, text] :
       {std::pair<std::string, std::string>{"nvidia-smi", rows}, {"ipmi", list}, {"amd-smi", documents}})
    EXPECT_NE(refusal(tool, text).message.find("devices, more than the 4096"), std::string::npos) << tool;
  std::string row = "===\nGPU  Temp   AvgPwr  Perf  PwrCap\n0 ";
  for (int i = 0; i < 30'000; ++i) row += "30.0c ";
  EXPECT_TRUE(parse_tool("rocm-smi", "rocm-smi", row + "112.0W auto 355.0W\n===\n"));
  // Far above what it takes, far below what a square of it would.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{30});
}

}  // namespace
}  // namespace tidewatt::metering
