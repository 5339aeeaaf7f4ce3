// Text that could be read in two ways: what a name doesn't say is unknown with a reason, never the better
// guess.
#include <string>
#include <vector>

#include "tool_text.h"

namespace tidewatt::metering {
namespace {

/// Watts of the only device; -1 also for text that is refused.
double drawn(std::string_view tool, const std::string& text) {
  const auto parsed = parse_tool(tool, tool, text);
  return parsed ? watts(*parsed) : -1;
}

TEST(OtherLanguages, ALimitInAnyLanguageIsNotTheDraw) {
  for (const std::string bound :
       {"功率墙(W)", "功耗墙 (W)", "峰值功耗(W)", "最高功耗(W)", "最大功耗(W)", "默认功率(W)", "定格電力 (W)",
        "额定功率(W)", "設定功率X(W)", "Límite (W)", "Grenzwert (W)", "Obergrenze Power (W)", "Plafond (W)",
        "Предел (W)", "Foo (W)"}) {
    EXPECT_DOUBLE_EQ(drawn("generic", "GPU 0\n  " + bound + ": 350\n  功耗(W): 120\n"), 120) << bound;
    EXPECT_DOUBLE_EQ(drawn("generic", "GPU 0\n  功耗(W): 120\n  " + bound + ": 350\n"), 120) << bound;
    EXPECT_DOUBLE_EQ(drawn("generic", "GPU," + bound + ",Power (W)\n0,350,120\n"), 120) << bound;
  }
}

TEST(OtherLanguages, AUnitWithoutAWordForPowerIsNoPower) {
  for (const std::string text :
       {"GPU 0\n  Grenzwert (W): 350\n  Verbrauch (W): 120\n",
        "GPU,Plafond (W),Consommation (W)\n0,350,120\n",
        "GPU  Obergrenze(W)  Verbrauch(W)\n0    350    120\n",
        "+---+\n| GPU | Plafond(W) | Consommation(W) |\n+===+\n| 0 | 350 | 120 |\n+---+\n",
        R"j({"gpus":[{"id":0,"Plafond (W)":350}]})j"})
    EXPECT_DOUBLE_EQ(drawn("generic", text), -1) << text;
  // Words that mean the present draw need no "power" beside the unit.
  EXPECT_DOUBLE_EQ(drawn("generic", "GPU,Cap (W),Usage (W)\n0,350,120\n"), 120);
}

TEST(OtherLanguages, KnownToolsTakeNoBoundEither) {
  const auto npu = [](const std::string& header) {
    return "+------+-------+------+\n| NPU   Name | Health | " + header +
           "  Temp(C) |\n| Chip  | Bus-Id | AICore(%) |\n+======+=======+======+\n"
           "| 0   910X  | OK     | 350.5    35      |\n| 0    | 0:0 | 40 |\n+======+=======+======+\n";
  };
  EXPECT_DOUBLE_EQ(drawn("npu-smi", npu("Power(W)")), 350.5);
  EXPECT_DOUBLE_EQ(drawn("npu-smi", npu("功耗(W)")), 350.5);
  for (const std::string bound : {"峰值功耗(W)", "功耗墙(W)", "Предел(W)", "Peak Power(W)"})
    EXPECT_DOUBLE_EQ(drawn("npu-smi", npu(bound)), -1) << bound;
  EXPECT_DOUBLE_EQ(drawn("hy-smi", "===\nDCU  Temp  最高功耗(W)  Perf\n0  30.0c  350.0W  auto\n===\n"), -1);
}

TEST(Parts, WhatAPartDrawsIsNotTheCards) {
  for (const std::string part :
       {"HBM Power Draw", "Core Power Usage", "SoC Current Power", "Media Engine Power", "VRAM Instant Power",
        "核心功耗", "GPU Memory Current Power"}) {
    EXPECT_DOUBLE_EQ(drawn("generic", "GPU 0\n  " + part + ": 40 W\n  Power: 300 W\n"), 300) << part;
    EXPECT_DOUBLE_EQ(drawn("generic", part + ": 40 W\nBoard Power: 300 W\n"), 300) << part;
    EXPECT_DOUBLE_EQ(drawn("generic", "GPU 0\n  " + part + ": 40 W\n"), -1) << part;
  }
  EXPECT_DOUBLE_EQ(drawn("generic", R"({"gpus":[{"id":0,"power_w":100,"hbm":{"power_w":30}}]})"), 100);
  EXPECT_DOUBLE_EQ(drawn("generic", R"({"gpus":[{"id":0,"hbm":{"power_w":30},"power_w":100}]})"), 100);
}

TEST(Parts, KnownToolsTakeNoneOfThem) {
  for (const std::string part : {"GPU Core Power (W)", "Media Engine Power (W)", "GPU Memory Power (W)"})
    EXPECT_DOUBLE_EQ(
        drawn("xpu-smi", "Timestamp, DeviceId, " + part + ", GPU Power (W)\n01:00:00.000, 0, 30, 80\n"), 80)
        << part;
  EXPECT_DOUBLE_EQ(
      drawn("efsmi", "DEV ID 3\n    Power Info\n        HBM Cur Power : 31 W\n        Cur Power : 88 W\n"),
      88);
  EXPECT_DOUBLE_EQ(
      drawn("npu-smi",
            "NPU ID : 0\nChip Count : 1\n\nHBM Real-time Power(W) : 31\nNPU Real-time Power(W) : 88\n"
            "Chip ID : 0\n"),
      88);
  const auto metax = [](const std::string& above, const std::string& value) {
    return "+---------+---------+\n| MX-SMI 9.9        |\n|---------+---------|\n| GPU   NAME  | Bus-id   "
           "| " +
           above +
           " |\n| Temp   Pwr:Usage/Cap | Memory-Usage |\n|=========+=========|\n| 0   MetaX X9 | "
           "0000:08:00.0 | " +
           value + " |\n| 34C   80W / 450W | 8/65 MiB |\n+---------+---------+\n";
  };
  for (const std::string wider : {"Board Pwr:Usage/Cap", "Module Pwr:Usage/Cap", "HBM Pwr:Usage/Cap"}) {
    const auto r = read("mx-smi", metax(wider, "160W / 900W"));
    EXPECT_DOUBLE_EQ(watts(r), 80) << wider;
    EXPECT_DOUBLE_EQ(limit(r), 450) << wider;
  }
  EXPECT_DOUBLE_EQ(drawn("mx-smi", metax("Memory-Usage/Cap", "160W / 900W")), 80);
}

TEST(Parts, AColumnOfItsOwnQualifiesNoOther) {
  EXPECT_DOUBLE_EQ(drawn("generic", "GPU Core Power Temp\n0 7 80W 41C\n"), 80);
  EXPECT_DOUBLE_EQ(drawn("generic", "GPU  Fan Power  Temp\n0    7% 80W    41C\n"), 80);
  EXPECT_DOUBLE_EQ(drawn("generic", "GPU  HBM Power  Power\n0    30W        80W\n"), 80);
  EXPECT_DOUBLE_EQ(drawn("generic", "+---+\n| GPU Fan Power(W) |\n+===+\n| 0 7% 80 |\n+---+\n"), 80);
}

TEST(NoDraw, NumbersAboutAPowerAndOtherTimesArePowersOfNothing) {
  for (const std::string other : {"Power (last hour)", "power delta", "power error", "predicted power",
                                  "Power Foo", "Perf per Watt", "Power Good", "estimated power"}) {
    EXPECT_DOUBLE_EQ(drawn("generic", "GPU 0\n  " + other + ": 3 W\n  Power: 100 W\n"), 100) << other;
    EXPECT_DOUBLE_EQ(drawn("generic", "gpu," + other + " [W],power [W]\n0,3,100\n"), 100) << other;
    EXPECT_DOUBLE_EQ(drawn("generic", "gpu," + other + " [W],power [W]\n0,3,N/A\n"), -1) << other;
  }
  for (const std::string alone : {"Perf per Watt : 45.2 W", "Power Good : 1 W", "Power (last hour) : 5 W"})
    EXPECT_DOUBLE_EQ(drawn("generic", "GPU 0\n  " + alone + "\n"), -1) << alone;
}

TEST(EqualNames, TwoDrawsThatDifferLeaveTheDeviceUnknown) {
  const auto twice =
      read("generic", "GPU 0\n  Power Draw : 100 W\n  Power Draw : 110 W\nGPU 1\n  Power Draw : 90 W\n");
  EXPECT_FALSE(twice.devices[0].power);
  EXPECT_NE(reason(twice).find("Power Draw"), std::string::npos) << reason(twice);
  EXPECT_DOUBLE_EQ(drawn("generic", "GPU 0\n  Power Draw : 100 W\n  Power Draw : 100 W\n"), 100);

  const auto csv = read("generic", "gpu,GPU Power (W),Card Power (W)\n0,100,110\n1,90,90\n");
  EXPECT_EQ(reason(csv), "ambiguous: 'GPU Power (W)' prints 100 and 'Card Power (W)' 110");
  EXPECT_DOUBLE_EQ(watts(csv, 1), 90);
  EXPECT_DOUBLE_EQ(drawn("generic", "GPU  Power(W)  AsicPower(W)\n0    100    110\n"), -1);
  EXPECT_DOUBLE_EQ(drawn("generic", R"({"gpus":[{"id":0,"power_w":100,"foo":{"power_w":30}}]})"), -1);
  const auto box = read("generic", "+---+\n| GPU | Power(W) | Watts(W) |\n+===+\n| 0 | 100 | 110 |\n+---+\n");
  EXPECT_EQ(reason(box), "ambiguous: two columns name the draw and print 100 W and 110 W");
}

TEST(EqualNames, OfSeveralLinesOfXpuSmisStatsTheBestCounts) {
  const auto stats = [](const std::string& other) {
    return "+--+\n| Device ID | 0 |\n+--+\n| " + other + " | 30 |\n| GPU Power (W) | 80 |\n+--+\n";
  };
  for (const std::string other : {"GPU Core Power (W)", "GPU Foo Power (W)", "Media Engine Power (W)"})
    EXPECT_DOUBLE_EQ(drawn("xpu-smi", stats(other)), 80) << other;
  EXPECT_EQ(reason(read("xpu-smi", stats("Card Power (W)"))),
            "ambiguous: 'Card Power (W)' and 'GPU Power (W)' both name the draw");
}

TEST(Repeats, RowsWithASecondNumberAreNoLoop) {
  const auto error = refusal("generic", "board,gpu,power [W]\n0,0,100\n0,1,110\n1,0,120\n1,1,130\n");
  EXPECT_NE(error.message.find("'board' tells two apart"), std::string::npos) << error.message;
  EXPECT_NE(error.message.find("line 4"), std::string::npos) << error.message;
  refusal("generic", "board  gpu  power\n0  0  100W\n0  1  110W\n1  0  120W\n1  1  130W\n");
  refusal("generic", "gpu,pci.bus_id,power [W]\n0,0000:01:00.0,100\n0,0000:02:00.0,110\n");
  refusal("generic", "gpu,foo,power [W]\n0,1,100\n0,2,110\n");
  refusal("xpu-smi",
          "Timestamp, DeviceId, Tile, GPU Power (W)\n01:00:00.000, 0, 0, 60\n01:00:00.000, 0, 1, 61\n");
  // What is measured differs from sample to sample.
  EXPECT_DOUBLE_EQ(drawn("generic", "gpu,temp,util [%],power [W]\n0,41,7,100\n0,42,9,110\n"), 110);
  EXPECT_DOUBLE_EQ(drawn("generic", "time,gpu,jobs,power [W]\n01:00,0,41,100\n01:01,0,42,110\n"), 110);
}

TEST(Repeats, ASecondColumnOfADrawnTableTellsItsRowsApart) {
  const auto table = [](const std::string& rows) {
    return "+------+------+----------+\n| Card | Chip | Power(W) |\n+======+======+==========+\n" + rows +
           "+------+------+----------+\n";
  };
  const auto r =
      read("generic", table("| 0 | 0 | 100 |\n| 0 | 1 | 110 |\n| 1 | 0 | 120 |\n| 1 | 1 | 130 |\n"));
  ASSERT_EQ(r.devices.size(), 4U);
  EXPECT_EQ(r.total, Watts{460});
  EXPECT_EQ(index(r, 3), 1);
  EXPECT_EQ(part(r, 3), 1);
  EXPECT_EQ(part(read("generic", table("| 0 | 7 | 100 |\n| 1 | 8 | 110 |\n"))), -1) << "not needed";
  EXPECT_NE(
      refusal("generic", table("| 0 | 0 | 100 |\n| 0 | 0 | 110 |\n")).message.find("two rows of device 0"),
      std::string::npos)
      << "which of them is its power nobody knows";
}

TEST(Repeats, AHeadingBelowAnotherParentIsAnotherDevice) {
  const std::string text =
      "Card 0\n  Chip 0\n    Power : 100 W\n  Chip 1\n    Power : 110 W\n"
      "Card 1\n  Chip 0\n    Power : 120 W\n  Chip 1\n    Power : 130 W\n";
  EXPECT_NE(refusal("generic", text).message.find("line 7"), std::string::npos);
  const std::string sample = "GPU 0\n  Power : 100 W\nChip 0\n  Power : 110 W\n";
  const auto loop = read("generic", sample + replaced(sample, "100", "120"));
  ASSERT_EQ(loop.devices.size(), 2U);
  EXPECT_DOUBLE_EQ(watts(loop), 120);
  EXPECT_DOUBLE_EQ(watts(loop, 1), 110) << "another kind of device, though its number is the same";
  EXPECT_FALSE(loop.total) << "which contains which isn't said";
  refusal("generic", R"([{"board":0,"gpu":0,"power_w":1},{"board":1,"gpu":0,"power_w":2}])");
}

TEST(Repeats, OneUuidOnTwoCardsIsNoIdentity) {
  const std::string zeros = "GPU-00000000-0000-0000-0000-000000000000";
  const auto r =
      read("nvidia-smi", "index, uuid, pci.bus_id, power.draw [W]\n0, " + zeros +
                             ", 00000000:01:00.0, 300 W\n1, " + zeros + ", 00000000:02:00.0, 250 W\n");
  EXPECT_EQ(r.total, Watts{550});
  const std::string same = "GPU-11111111-0000-0000-0000-000000000000";
  EXPECT_EQ(read("nvidia-smi", "index, uuid, pci.bus_id, power.draw [W]\n0, " + same +
                                   ", 00000000:01:00.0, 300 W\n1, " + same + ", 00000000:02:00.0, 250 W\n")
                .total,
            Watts{550});
  refusal("nvidia-smi", "index, uuid, power.draw [W]\n0, " + same + ", 300 W\n1, " + same + ", 250 W\n");
}

TEST(Kunlunxin, AWordTooManyInThePowerCellIsNoReading) {
  const auto table = [](const std::string& power) {
    return "+---------------------+-----------+\n| XPU  Name            | Bus-Id   |\n"
           "| Fan  Temp  Perf  Pwr:Usage/Cap | Memory-Usage |\n|=====================+===========|\n"
           "| 0  P999              | 0000:53:00.0 |\n| N/A  42C  N/A  " +
           power + " | 1MiB / 9MiB |\n+---------------------+-----------+\n";
  };
  EXPECT_DOUBLE_EQ(drawn("kunlunxin-xpu-smi", table("98W / 400W")), 98);
  EXPECT_DOUBLE_EQ(drawn("kunlunxin-xpu-smi", table("98W 777W / 400W")), -1);
  EXPECT_DOUBLE_EQ(drawn("kunlunxin-xpu-smi", table("98 W 777 W / 400 W")), -1);
}

}  // namespace
}  // namespace tidewatt::metering
