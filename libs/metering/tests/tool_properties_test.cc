// What holds for every tool and form, whatever happens to the text.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "tool_text.h"

namespace tidewatt::metering {
namespace {

struct Sample {
  std::string tool;
  std::string text;
  std::set<double> powers;  ///< all that are printed as draws
  std::string before_draw;  ///< the draw's line begins with this; a limit line is put before it
  std::string limit_line;   ///< empty = the form has no lines of its own for limits
};

std::string table(const std::string& label, const std::string& power, const std::string& title) {
  return "+------------------------+------------+\n| " + title +
         "                      |\n|------------------------+------------+\n| " + label +
         "  Name            | Bus-Id     |\n| Fan  Temp  Perf  Pwr:Usage/Cap| Memory |\n"
         "|========================+============|\n| 0    X 9           | 0000:1:0   |\n| N/A  35C  P0  " +
         power + " | 1MiB / 2MiB |\n+------------------------+------------+\n";
}

std::vector<Sample> samples() {
  return {
      {"hl-smi", table("AIP", "112W / 355W", "HL-SMI"), {112}, "", ""},
      {"brsmi", table("GPU", "112W / 355W", "BR-SMI"), {112}, "", ""},
      {"ixsmi", table("GPU", "112W / 355W", "IX-ML"), {112}, "", ""},
      {"mx-smi", table("GPU", "112W / 355W", "MX-SMI"), {112}, "", ""},
      {"cnmon", table("Card", "112 W/ 355 W", "CNMON"), {112}, "", ""},
      {"efsmi", table("DEV", "112W  355W", "EFSMI"), {112}, "", ""},
      {"kunlunxin-xpu-smi", table("XPU", "112W / 355W", "XPU-SMI"), {112}, "", ""},
      {"xpu-smi", table("GPU", "112W / 355W", "Intel XPU-SMI"), {112}, "", ""},
      {"nvidia-smi", table("GPU", "112W / 355W", "NVIDIA-SMI"), {112}, "", ""},
      {"generic", table("NPU", "112W / 355W", "ANY-SMI"), {112}, "", ""},
      {"efsmi",
       "DEV ID 0\n    Power Info\n        Cur Power : 112 W\n        Dpm Level : Sleep\n",
       {112},
       "        Cur Power",
       "        Power Capa : 355 W\n"},
      {"amd-smi",
       "GPU: 0\n    POWER:\n        SOCKET_POWER: 112 W\n        GFX_VOLTAGE: 9 mV\n",
       {112},
       "        SOCKET_POWER",
       "        MAX_POWER: 355 W\n"},
      {"rocm-smi", "GPU  Temp   AvgPwr  Perf  PwrCap\n0    30.0c  112.0W  auto  355.0W\n", {112}, "", ""},
      {"hy-smi", "HCU  Temp   AvgPwr  Perf  PwrCap\n0    30.0C  112.0W  auto  355.0W\n", {112}, "", ""},
      {"rocm-smi",
       "GPU[0]\t\t: Average Graphics Package Power (W): 112.0\nGPU[1]\t\t: Average Graphics Package Power "
       "(W): 113.0\n",
       {112, 113},
       "GPU[0]",
       "GPU[0]\t\t: Max Graphics Package Power (W): 355.0\n"},
      {"npu-smi",
       "+----+\n| NPU Name | Health | Power(W) Temp(C) |\n| Chip | Bus | AICore(%) Memory |\n+====+\n"
       "| 0   X 9  | OK     | 112.5    35      |\n| 0    | 0:0 | 0  1 / 2 |\n+====+\n",
       {112.5},
       "",
       ""},
      {"npu-smi",
       "NPU ID : 0\nChip ID : 0\nTemperature(C) : 46\nNPU Real-time Power(W) : 112.5\n",
       {112.5},
       "NPU Real-time",
       "Rated Power Dissipation(W) : 355.0\n"},
      {"gc-info",
       "Device Info:\n  id: 0\n  clock: 20MHz\n  ipu power: 112.5W\n",
       {112.5},
       "  ipu power",
       "  max power: 355W\n"},
      {"tt-smi",
       R"({"device_info":[{"limits":{"tdp_limit":"355"},"telemetry":{"power":" 112.0"}}]})"
       "\n",
       {112},
       "",
       ""},
      {"xpu-smi",
       "+--+--+\n| Device ID | 0 |\n+--+--+\n| GPU Power (W) | Tile 0: avg: 112, min: 1, max: 355, current: "
       "113 |\n+--+--+\n",
       {112, 113},
       "| GPU Power",
       "| Power Limit (W) | 355 |\n"},
      {"xpu-smi",
       "Timestamp, DeviceId, GPU Power (W), GPU Frequency (MHz)\n1, 0, 112.25, 355\n2, 0, 113.25, 355\n",
       {112.25, 113.25},
       "",
       ""},
      {"hl-smi",
       "index, power.draw [W], power.limit [W]\n0, 112 W, 355 W\n1, 113 W, 355 W\n",
       {112, 113},
       "",
       ""},
      {"mthreads-gmi",
       "GPU 0\n    Power Readings\n        Power Draw : 112.50W\n    Clocks\n",
       {112.5},
       "        Power Draw",
       "        Power Limit : 355.00W\n"},
      {"generic",
       "Power Draw: 112 W\nTemperature: 35 C\n",
       {112},
       "Power Draw",
       "Enforced Power Limit: 355 W\n"},
  };
}

void expect_sound(const Sample& sample, std::string_view text) {
  const auto parsed = parse_tool(sample.tool, sample.tool, text);
  if (!parsed) {
    EXPECT_EQ(parsed.error().message.find('\n'), std::string::npos);
    return;
  }
  for (const auto& device : parsed->devices) {
    EXPECT_NE(device.power.has_value(), !device.reason.empty()) << sample.tool << "\n" << text;
    EXPECT_TRUE(!device.power || sample.powers.contains(device.power->value())) << sample.tool << "\n"
                                                                                << text;
  }
  (void)to_json(*parsed);
}

TEST(EveryTool, PrintsItsDrawAndNeverItsLimit) {
  for (const auto& sample : samples()) {
    const auto r = read(sample.tool, sample.text);
    ASSERT_FALSE(r.devices.empty()) << sample.tool;
    EXPECT_TRUE(r.devices[0].power) << sample.tool << ": " << r.devices[0].reason;
    expect_sound(sample, sample.text);
  }
}

TEST(EveryTool, AnyPrefixNeverCrashesAndNeverYieldsAPowerThatWasNotPrinted) {
  for (const auto& sample : samples())
    for (std::size_t length = 0; length <= sample.text.size(); ++length)
      expect_sound(sample, std::string_view{sample.text}.substr(0, length));
}

TEST(EveryTool, ALimitLineBeforeTheDrawNeverChangesTheDraw) {
  for (const auto& sample : samples()) {
    if (sample.limit_line.empty()) continue;
    const auto with = replaced(sample.text, sample.before_draw, sample.limit_line + sample.before_draw);
    const auto before = read(sample.tool, sample.text);
    const auto after = read(sample.tool, with);
    ASSERT_EQ(before.devices.size(), after.devices.size()) << sample.tool;
    for (std::size_t i = 0; i < before.devices.size(); ++i)
      EXPECT_EQ(watts(before, i), watts(after, i)) << with;
  }
}

TEST(EveryTool, LineEndsAndByteOrderMarksChangeNothing) {
  for (const auto& sample : samples()) {
    const auto plain = to_json(read(sample.tool, sample.text));
    EXPECT_EQ(to_json(read(sample.tool, replaced(sample.text, "\n", "\r\n"))), plain) << sample.tool;
    EXPECT_EQ(to_json(read(sample.tool, "\xEF\xBB\xBF" + sample.text)), plain) << sample.tool;
    EXPECT_EQ(to_json(read(sample.tool, "\n\n" + sample.text + "\n")), plain) << sample.tool;
  }
}

// The names stay whole: where the word "limit" itself is lost nobody can know.
TEST(EveryTool, GarbledRowsNeverYieldALimitAsTheDraw) {
  std::mt19937 random(7);
  const std::string_view noise = "|/: ,.W\n\t-+=[]{}\"N\xFF\xC2";
  for (const auto& sample : samples())
    for (int round = 0; round < 300; ++round) {
      auto text = sample.text;
      const auto rows = text.rfind('\n', text.find("112")) + 1;
      for (int i = 0; i < 3; ++i)
        text[rows + random() % (text.size() - rows)] = noise[random() % noise.size()];
      const auto parsed = parse_tool(sample.tool, sample.tool, text);
      if (!parsed) continue;
      for (const auto& device : parsed->devices) {
        EXPECT_NE(device.power.has_value(), !device.reason.empty()) << text;
        EXPECT_TRUE(!device.power || device.power->value() != 355) << text;
      }
      (void)to_json(*parsed);
    }
}

TEST(EveryTool, ColumnsMayChangePlaces) {
  // Cells of a drawn table, columns of rows and of CSV.
  const std::string rule = "+====+====+\n";
  const std::string first =
      "| GPU  Name | Bus-Id | Fan  Temp |\n| Fan  Pwr:Usage/Cap | Memory | Util |\n" + rule +
      "| 1    X    | 0:1:0  | 1%   3C   |\n| 5%   112W / 355W   | 1 / 2  | 3%   |\n+---+\n";
  const std::string second =
      "| Bus-Id | Fan  Temp | GPU  Name |\n| Memory | Util | Pwr:Usage/Cap  Fan |\n" + rule +
      "| 0:1:0  | 1%   3C   | 1    X    |\n| 1 / 2  | 3%   | 112W / 355W    5%  |\n+---+\n";
  for (const auto* tool : {"brsmi", "ixsmi", "mx-smi", "nvidia-smi", "generic"})
    for (const auto& text : {first, second}) {
      EXPECT_EQ(watts(read(tool, text)), 112) << tool;
      EXPECT_EQ(limit(read(tool, text)), 355) << tool;
      EXPECT_EQ(index(read(tool, text)), 1) << tool;
    }
  for (const auto* text : {"index,power.draw [W],power.limit [W]\n1,112 W,355 W\n",
                           "power.limit [W],power.draw [W],index\n355 W,112 W,1\n"}) {
    EXPECT_EQ(watts(read("hl-smi", text)), 112);
    EXPECT_EQ(limit(read("ixsmi", text)), 355);
  }
}

}  // namespace
}  // namespace tidewatt::metering
