// A text that was cut off says so, or says nothing: it never passes for a node with fewer cards.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tool_text.h"

namespace tidewatt::metering {
namespace {

struct Cuttable {
  std::string name;
  std::string tool;
  std::string text;  ///< several devices with a total
  /// Why a cut at the end of a line can't be told from a node with fewer devices; empty = it can.
  std::string no_end = {};
  std::string command = {};
};

constexpr auto kSameRules = "the rules between the cards are the one that closes the table";
constexpr auto kRows = "rows without a closing line: a cut at a line's end is a shorter list";
constexpr auto kBlocks = "blocks without a closing line: a cut before the next one is a shorter list";

std::string box(const std::string& label, const std::string& first, const std::string& second) {
  const std::string rule = "+------------------------+------------+\n";
  const auto card = [](const std::string& number, const std::string& power) {
    return "| " + number + "    X 9             | 0000:1:0   |\n| N/A  35C  P0  " + power +
           " | 1MiB / 2MiB |\n";
  };
  return rule + "| ANY-SMI 9.9              Driver: 9.9 |\n" + rule + "| " + label +
         "  Name            | Bus-Id     |\n| Fan  Temp  Perf  Pwr:Usage/Cap| Memory |\n"
         "|========================+============|\n" +
         card("0", first) + rule + card("1", second) + rule;
}

// Cards without rules between them.
std::string dense_box(const std::string& label) {
  return "-----------------------------------------\n| " + label +
         " | PCI Addr | Model | Power(W) |\n-----------------------------------------\n"
         "|     0 | 0:1:0 | R9 |   112 W |\n|     1 | 0:2:0 | R9 |   113 W |\n|     2 | 0:3:0 | R9 |   114 W "
         "|\n"
         "-----------------------------------------\n";
}

std::string concise(const std::string& label, const std::string& closing) {
  return "======================= System Management Interface =======================\n"
         "============================== Concise Info ===============================\n" +
         label +
         "  Temp   AvgPwr  Perf  PwrCap\n0    30.0c  112.0W  auto  355.0W\n1    31.0c  113.0W  auto  "
         "355.0W\n" +
         "2    31.0c  114.0W  auto  355.0W\n" + closing;
}
const std::string kFooter =
    "============================================================================\n"
    "============================= End of SMI Log ===============================\n";

std::string query_gpu(const std::string& bus, const std::string& average, const std::string& instant) {
  return "GPU " + bus +
         "\n    Product Name                : X\n    GPU Power Readings\n        Average Power Draw      : " +
         average + " W\n        Instantaneous Power Draw : " + instant +
         " W\n        Current Power Limit     : 355.00 W\n        Max Power Limit         : 355.00 W\n"
         "    Clocks\n        Graphics                : 1 MHz\n";
}

std::string stats(const std::string& rows) {
  return "+--------------+--------------------------+\n| Device ID    | 0                        |\n"
         "+--------------+--------------------------+\n" +
         rows +
         "+--------------+--------------------------+\n| GPU Memory Util (%) | 4 |\n"
         "+--------------+--------------------------+\n";
}

std::vector<Cuttable> cuttables() {
  std::vector<Cuttable> all;
  for (const auto& [tool, label] :
       std::vector<std::pair<std::string, std::string>>{{"nvidia-smi", "GPU"},
                                                        {"hl-smi", "AIP"},
                                                        {"brsmi", "GPU"},
                                                        {"ixsmi", "GPU"},
                                                        {"mx-smi", "GPU"},
                                                        {"cnmon", "Card"},
                                                        {"efsmi", "DEV"},
                                                        {"kunlunxin-xpu-smi", "XPU"},
                                                        {"generic", "NPU"}}) {
    all.push_back({"box", tool, box(label, "112W / 355W", "113W / 355W"), kSameRules});
    if (tool != "nvidia-smi") all.push_back({"dense box", tool, dense_box(label)});
  }
  all.push_back({"box", "xpu-smi",
                 replaced(box("GPU", "112W / 355W", "113W / 355W"), "ANY-SMI", "Intel XPU-SMI"), kSameRules});
  all.push_back({"DEVICES", "kunlunxin-xpu-smi", "DEVICES\n" + dense_box("DevID")});
  all.push_back({"info", "npu-smi",
                 "+------+-------+------------------+\n| npu-smi 9.9       Version: 9.9  |\n"
                 "+------+-------+------------------+\n| NPU   Name | Health | Power(W)  Temp(C) |\n"
                 "| Chip  | Bus-Id | AICore(%) Memory-Usage(MB) |\n+======+=======+==================+\n"
                 "| 0   X 9  | OK     | 112.5    35      |\n| 0    | 0:0 | 40  1 / 2 |\n"
                 "+======+=======+==================+\n"
                 "| 1   X 9  | OK     | 113.5    35      |\n| 0    | 0:0 | 50  1 / 2 |\n"
                 "+======+=======+==================+\n| NPU  Chip  | Process id | Process name |\n"
                 "+======+=======+==================+\n| No running processes found in NPU 0 |\n"
                 "+======+=======+==================+\n",
                 kSameRules});
  for (const std::string tool : {"rocm-smi", "hy-smi"}) {
    const std::string label = tool == "hy-smi" ? "HCU" : "GPU";
    all.push_back({"concise", tool, concise(label, kFooter)});
    all.push_back({"concise without a frame", tool,
                   label + "  Temp   AvgPwr  Perf  PwrCap\n0    30.0c  112.0W  auto  355.0W\n"
                           "1    31.0c  113.0W  auto  355.0W\n",
                   kRows});
    all.push_back({"lines", tool,
                   "===== System Management Interface =====\n===== Power Consumption =====\n" + label +
                       "[0]\t\t: Average Graphics Package Power (W): 112.0\n" + label +
                       "[1]\t\t: Average Graphics Package Power (W): 113.0\n" + kFooter});
    all.push_back({"lines without a frame", tool,
                   label + "[0]\t\t: Average Graphics Package Power (W): 112.0\n" + label +
                       "[1]\t\t: Average Graphics Package Power (W): 113.0\n",
                   kRows});
    all.push_back({"JSON", tool,
                   "{\"card0\": {\"Average Graphics Package Power (W)\": \"112.0\"},\n"
                   " \"card1\": {\"Average Graphics Package Power (W)\": \"113.0\"}}\n"});
  }
  all.push_back({"monitor", "amd-smi",
                 "GPU  XCP  POWER   GPU_T\n  0    0  112 W   58 C\n  1    0  113 W   58 C\n", kRows});
  all.push_back({"metric", "amd-smi",
                 "GPU: 0\n    POWER:\n        SOCKET_POWER: 112 W\n        GFX_VOLTAGE: 9 mV\n"
                 "GPU: 1\n    POWER:\n        SOCKET_POWER: 113 W\n        GFX_VOLTAGE: 9 mV\n",
                 kBlocks});
  all.push_back({"JSON", "amd-smi",
                 "[{\"gpu\":0,\"power\":{\"socket_power\":{\"value\":112,\"unit\":\"W\"}}},\n"
                 "{\"gpu\":1,\"power\":{\"socket_power\":{\"value\":113,\"unit\":\"W\"}}}]\n"});
  all.push_back({"CSV", "amd-smi", "gpu,socket_power,gfx_voltage\n0,112,700\n1,113,700\n", kRows});
  all.push_back(
      {"table", "amd-smi",
       "+------------+----------------+\n| AMD-SMI 99.0                 |\n|------------+----------------|\n"
       "| BDF  GPU-Name | Temp   Power-Usage |\n| GPU  HIP-ID  | GFX-Uti    Mem-Usage |\n"
       "|============+================|\n"
       "| 0000:0c:00.0  X9 | 60 C   112/750 W |\n|   0  0    | 98 %   4976/19659 MB |\n"
       "|------------+----------------|\n"
       "| 0000:0d:00.0  X9 | 60 C   113/750 W |\n|   1  0    | 98 %   4976/19659 MB |\n"
       "|------------+----------------|\n",
       kSameRules});
  all.push_back({"-q", "nvidia-smi",
                 "==============NVSMI LOG==============\nAttached GPUs                       : 2\n" +
                     query_gpu("00000000:01:00.0", "150.00", "120.00") +
                     query_gpu("00000000:02:00.0", "90.25", "130.50")});
  all.push_back({"-q of one", "nvidia-smi",
                 "==============NVSMI LOG==============\nAttached GPUs                       : 1\n" +
                     query_gpu("00000000:01:00.0", "90.00", "120.00")});
  all.push_back({"XML", "nvidia-smi",
                 "<?xml version=\"1.0\" ?>\n<nvidia_smi_log>\n<attached_gpus>2</attached_gpus>\n"
                 "<gpu id=\"1\">\n<gpu_power_readings>\n<power_draw>112.00 "
                 "W</power_draw>\n</gpu_power_readings>\n</gpu>\n"
                 "<gpu id=\"2\">\n<gpu_power_readings>\n<power_draw>113.00 "
                 "W</power_draw>\n</gpu_power_readings>\n</gpu>\n"
                 "</nvidia_smi_log>\n"});
  all.push_back({"CSV", "nvidia-smi",
                 "index, power.draw [W], power.limit [W]\n0, 112.25 W, 355.00 W\n1, 113.25 W, 355.00 W\n",
                 kRows});
  all.push_back({"CSV without units", "nvidia-smi",
                 "index, power.limit [W], power.draw [W]\n0, 355.00, 112.25\n1, 355.00, 113.25\n", kRows});
  all.push_back(
      {"CSV with the count", "nvidia-smi", "count, index, power.draw [W]\n2, 0, 112.25 W\n2, 1, 113.25 W\n"});
  all.push_back({"dmon", "nvidia-smi",
                 "# gpu    pwr  gtemp\n# Idx      W      C\n    0    112     55\n    1    113     55\n",
                 kRows});
  for (const std::string tool :
       {"hl-smi", "ixsmi", "brsmi", "mx-smi", "cnmon", "efsmi", "mthreads-gmi", "generic"})
    all.push_back(
        {"CSV", tool,
         (tool == "efsmi"     ? "dev"
          : tool == "cnmon"   ? "card"
          : tool == "generic" ? "gpu"
                              : "index") +
             std::string{", power.draw [W], power.limit [W]\n0, 112.5 W, 355 W\n1, 113.5 W, 355 W\n"},
         kRows});
  all.push_back({"CSV of a query", "hl-smi", "0, 355 W, 112 W\n1, 355 W, 113 W\n", kRows,
                 "hl-smi -Q index,power.limit,power.draw"});
  for (const auto& [tool, heading] :
       std::vector<std::pair<std::string, std::string>>{{"brsmi", "GPU "},
                                                        {"ixsmi", "GPU "},
                                                        {"efsmi", "DEV ID "},
                                                        {"mthreads-gmi", "GPU"},
                                                        {"hl-smi", "AIP "},
                                                        {"kunlunxin-xpu-smi", "XPU "},
                                                        {"generic", "Card "}}) {
    const auto card = [&h = heading](const std::string& number, const std::string& power) {
      return h + number +
             "\n    Power Readings\n        Average Power Draw : 80.50 W\n        Power Draw : " + power +
             "\n        Power Limit : 355.00 W\n    Clocks\n        Graphics : 1 MHz\n";
    };
    all.push_back({"-q", tool, card("0", "112.50 W") + card("1", "113.50 W"), kBlocks});
  }
  all.push_back({"-q with the count", "mthreads-gmi",
                 "Attached GPUs : 2\nGPU0\n    Power Readings\n        Power Draw : 112.50W\n"
                 "GPU1\n    Power Readings\n        Power Draw : 113.50W\n"});
  all.push_back({"JSON", "mthreads-gmi",
                 "{\"GPU\":[{\"Power Readings\":{\"Power Draw\":\"112.50W\"}},\n{\"Power Readings\":{\"Power "
                 "Draw\":\"113W\"}}]}\n"});
  all.push_back(
      {"-i", "gc-info",
       "Device Info:\n  id: 0\n  clock: 20MHz\n  ipu power: 112.5W\nDevice Info:\n  id: 1\n  clock: 20MHz\n"
       "  ipu power: 113.5W\n",
       kBlocks});
  all.push_back({"-t power", "npu-smi",
                 "NPU ID : 0\nChip Count : 2\nNPU Real-time Power(W) : 112.55\nChip ID : 0\n"
                 "NPU Real-time Power(W) : 113.55\nChip ID : 1\n"});
  all.push_back(
      {"-t common", "npu-smi",
       "NPU ID : 0\nChip Count : 2\nChip ID : 0\nTemperature(C) : 46\nNPU Real-time Power(W) : 112.55\n"
       "Chip ID : 1\nTemperature(C) : 46\nNPU Real-time Power(W) : 113.55\n"});
  all.push_back({"-s", "tt-smi",
                 "{\"device_info\":[\n{\"telemetry\":{\"power\":\" 112.0\"}},\n{\"telemetry\":{\"power\":\" "
                 "113.0\"}}\n]}\n"});
  all.push_back({"stats", "xpu-smi",
                 stats("| GPU Power (W) | Tile 0: avg: 112, min: 1, max: 355, current: 113 |\n"
                       "|              | Tile 1: avg: 112, min: 1, max: 355, current: 114 |\n")});
  all.push_back({"stats of two devices", "xpu-smi",
                 stats("| GPU Power (W) | 112.5 |\n") +
                     replaced(stats("| GPU Power (W) | 113.5 |\n"), "| 0   ", "| 1   "),
                 "each device has a closed table of its own"});
  all.push_back(
      {"dump", "xpu-smi",
       "Timestamp, DeviceId, GPU Power (W), GPU Frequency (MHz)\n1, 0, 112.25, 355\n1, 1, 113.25, 355\n",
       kRows});
  all.push_back(
      {"stats -j", "xpu-smi",
       "[{\"device_id\":0,\"device_level\":[{\"metrics_type\":\"XPUM_STATS_POWER\",\"value\":112.5}]},\n"
       "{\"device_id\":1,\"device_level\":[{\"metrics_type\":\"XPUM_STATS_POWER\",\"value\":113.5}]}]\n"});
  all.push_back({"columns", "generic", "Card  Temp  Power\n0     30C   112 W\n1     30C   113 W\n", kRows});
  all.push_back({"JSON", "generic", "{\"card0\":{\"power [W]\":112.5},\n\"card1\":{\"power [W]\":113.5}}\n"});
  all.push_back({"one line", "generic", "Temperature: 35 C\nPower Draw (W): 112.55\nFan: 3 %\n"});
  all.push_back(
      {"walk", "pdu",
       ".1.3.6.1.4.1.318.1.1.26.4.3.1.5.1 = INTEGER: 137\n.1.3.6.1.4.1.318.1.1.26.4.3.1.5.2 = INTEGER: 220\n",
       kRows});
  all.push_back({"get", "pdu", ".1.3.6.1.4.1.318.1.1.26.4.3.1.5.1 = INTEGER: 137\n"});
  all.push_back(
      {"one input", "tegrastats",
       "RAM 613/3964MB CPU [2%@102] GPU@38C POM_5V_GPU 10/12 POM_5V_IN 1230/1240 POM_5V_CPU 123/124\n"});
  all.push_back({"text", "powermetrics",
                 "CPU Power: 947 mW\nGPU Power: 153 mW\nCombined Power (CPU + GPU + ANE): 1100 mW\n"});
  all.push_back({"plist", "powermetrics",
                 "<?xml version=\"1.0\"?>\n<plist "
                 "version=\"1.0\">\n<dict>\n<key>combined_power</key><real>1100.25</real>\n"
                 "<key>cpu_power</key><real>947.1</real>\n</dict>\n</plist>\n"});
  all.push_back({"dcmi", "ipmi",
                 "    Instantaneous power reading:   167 Watts\n    Average power reading over sample "
                 "period:  156 Watts\n"
                 "    Power reading state is:    activated\n"});
  all.push_back({"Power", "redfish", "{\"PowerControl\":[{\"PowerConsumedWatts\":429.5}]}\n"});
  return all;
}

double total_of(const Result<ToolReadings>& readings) {
  return readings && readings->total ? readings->total->value() : -1;
}

TEST(CutText, NeverHasASmallerTotalUnlessTheFormHasNoEnd) {
  for (const auto& form : cuttables()) {
    const auto of = [&](std::string_view text) {
      return parse_tool(form.tool, form.command.empty() ? form.tool : form.command, text);
    };
    const auto whole = of(form.text);
    ASSERT_TRUE(whole) << form.tool << " " << form.name << ": " << whole.error().message;
    const auto total = total_of(whole);
    ASSERT_GT(total, 0) << form.tool << " " << form.name << ": " << to_json(*whole);
    bool once = false;
    for (std::size_t length = 0; length < form.text.size(); ++length) {
      const auto piece = std::string_view{form.text}.substr(0, length);
      const auto cut = of(piece);
      const auto smaller = total_of(cut);
      if (smaller < 0 || smaller == total) continue;
      EXPECT_LT(smaller, total) << form.tool << " " << form.name << "\n" << piece;
      EXPECT_FALSE(form.no_end.empty()) << form.tool << " " << form.name << ": total " << smaller << " of:\n"
                                        << piece;
      // In the middle of a line it is seen in every form.
      EXPECT_TRUE(piece.ends_with('\n')) << form.tool << " " << form.name << ": total " << smaller << " of:\n"
                                         << piece;
      once = true;
    }
    EXPECT_EQ(once, !form.no_end.empty()) << form.tool << " " << form.name << " can tell";
  }
}

TEST(CutText, IsAnErrorThatNamesToolLineAndExpectation) {
  const auto text = box("GPU", "112W / 355W", "113W / 355W");
  const auto error = refusal("ixsmi", std::string_view{text}.substr(0, text.rfind('+', text.size() - 4)));
  EXPECT_NE(error.message.find("ixsmi: line"), std::string::npos) << error.message;
  EXPECT_NE(error.message.find("truncated: expected the rule that closes the table"), std::string::npos)
      << error.message;
  const auto open = concise("HCU", "");
  EXPECT_EQ(refusal("hy-smi", open).message,
            "hy-smi: line 6: truncated: expected a line of '=' or '-' below the rows, the text ends at '2    "
            "31.0c  "
            "114.0W  auto  355.0W'");
}

TEST(TextWithoutARule, NeverHasASmallerTotal) {
  for (const auto& form : cuttables()) {
    const auto total = total_of(parse_tool(form.tool, form.tool, form.text));
    for (std::size_t begin = 0; begin < form.text.size();) {
      const auto end = form.text.find('\n', begin) + 1;
      const auto line = std::string_view{form.text}.substr(begin, end - begin);
      auto without = form.text;
      without.erase(begin, end - begin);
      begin = end;
      if (line.find_first_not_of("+-=| \n") != std::string_view::npos) continue;
      const auto rest = total_of(parse_tool(form.tool, form.tool, without));
      EXPECT_TRUE(rest < 0 || rest == total)
          << form.tool << " " << form.name << ": total " << rest << " of:\n"
          << without;
    }
  }
}

TEST(TextWithoutARule, ATableWhoseHeaderRunsIntoItsFirstCardIsAnError) {
  for (int cards = 1; cards < 4; ++cards) {
    auto text = box("GPU", "112W / 355W", "113W / 355W");
    if (cards == 1) text = text.substr(0, text.find("| 1 "));
    if (cards == 3) text += text.substr(text.find("| 1 "));
    const auto error = refusal("nvidia-smi", replaced(text, "|========================+============|\n", ""));
    EXPECT_NE(error.message.find("line"), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("rule between the header and the first row"), std::string::npos)
        << error.message;
  }
}

TEST(NvidiaQuery, ARecordThatEndsBehindItsAverageIsUnknown) {
  const auto text = query_gpu("00000000:01:00.0", "150.00", "120.00");
  const auto r = read("nvidia-smi", "Attached GPUs : 1\n" + text.substr(0, text.find("        Instant")),
                      "nvidia-smi -q");
  EXPECT_EQ(watts(r), -1);
  EXPECT_NE(reason(r).find("truncated"), std::string::npos) << reason(r);
  EXPECT_FALSE(r.total);
}

TEST(NvidiaQuery, FewerCardsThanAttachedMakeNoTotal) {
  const auto r = read("nvidia-smi", "Attached GPUs : 4\n" + query_gpu("00000000:01:00.0", "1.00", "120.00"),
                      "nvidia-smi -q");
  EXPECT_EQ(watts(r), 120);
  EXPECT_FALSE(r.total);
}

}  // namespace
}  // namespace tidewatt::metering
