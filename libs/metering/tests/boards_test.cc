// tegrastats and powermetrics.
#include "tool_cases.h"

namespace tidewatt::metering {
namespace {

TEST(Tegrastats, TheInputRailIsTheTotalAndContainsTheOthers) {
  const auto r =
      parsed("tegrastats",
             "RAM 2448/7772MB (lfb 3x4MB) SWAP 0/3886MB (cached 0MB) CPU [7%@1190,off] GR3D_FREQ 0% "
             "cpu@49C VDD_IN 5081mW/5023mW VDD_CPU_GPU_CV 483mW/471mW VDD_SOC 0mW/1489mW\n");
  EXPECT_EQ(brief(r), "VDD_IN=5.081 VDD_CPU_GPU_CV=0.483 VDD_SOC=0");  // a gated rail draws nothing
  EXPECT_DOUBLE_EQ(r.total->value(), 5.081);
  EXPECT_DOUBLE_EQ(r.devices[0].average->value(), 5.023);
}

TEST(Tegrastats, AnInputRailAtZeroIsNoReading) {
  const auto r = parsed("tegrastats", "RAM 1/2MB VDD_IN 0mW/0mW VDD_SOC 9mW/9mW\n");
  EXPECT_EQ(brief(r), "VDD_IN=? VDD_SOC=0.009");
  EXPECT_FALSE(r.total);
}

TEST(Tegrastats, BoardsWithoutOneInputHaveNoTotal) {
  const auto r =
      parsed("tegrastats", "RAM 1/2MB IRAM 0/252kB(lfb 252kB) GPU 311/311 CPU 622/630 SYS5V 1360/1360\n");
  EXPECT_EQ(brief(r), "GPU=0.311 CPU=0.622 SYS5V=1.36");
  EXPECT_FALSE(r.total);
}

TEST(Tegrastats, TheLastWholeLineCounts) {
  EXPECT_EQ(brief(parsed("tegrastats",
                         "RAM 1/2MB VDD_IN 100/100 VDD_CPU 20/20\nRAM 1/2MB VDD_IN 300/200 VDD_CPU 30/25\n"
                         "RAM 1/2MB VDD_IN 4")),
            "VDD_IN=0.3 VDD_CPU=0.03");
  refused("tegrastats", "RAM 1/2MB CPU [7%@1190]\n");
  refused("tegrastats", "tegrastats: command failed\n");
  refused("tegrastats", "");
}

TEST(Powermetrics, CombinedOrPackageIsTheTotalAndClustersArePartsOfTheCpu) {
  const auto r = parsed("powermetrics",
                        "*** Sampled system activity (x) (1004ms elapsed) ***\nE-Cluster Power: 105 mW\n"
                        "CPU Power: 947 mW\nGPU Power: 0 mW\nANE Power: 0 mW\n"
                        "Combined Power (CPU + GPU + ANE): 947 mW\n\n**** GPU usage ****\nGPU Power: 5 mW\n");
  EXPECT_EQ(brief(r), "cpu=0.947 gpu=0 ane=0 combined=0.947");
  EXPECT_DOUBLE_EQ(r.total->value(), 0.947);
}

TEST(Powermetrics, IntelMacsPrintWatts) {
  EXPECT_EQ(brief(parsed("powermetrics", "Intel energy model derived package power (CPUs+GT+SA): 3.27W\n")),
            "package=3.27");
}

TEST(Powermetrics, TheLastSampleCounts) {
  EXPECT_EQ(
      brief(parsed("powermetrics",
                   "*** Sampled system activity ***\nCPU Power: 1 mW\nGPU Power: 2 mW\nPackage Power: 3 mW\n"
                   "*** Sampled system activity ***\nCPU Power: 4 mW\nGPU Power: 5 mW\nPackage Power: 9 mW\n"
                   "*** Sampled system activity ***\nCPU Power: 7")),
      "cpu=0.004 gpu=0.005 package=0.009");
  EXPECT_EQ(brief(parsed("powermetrics",
                         "<plist version=\"1.0\"><dict><key>cpu_power</key><real>947.5</real>"
                         "<key>combined_power</key><real>1100</real></dict></plist>")),
            "combined=1.1 cpu=0.9475");
}

TEST(Powermetrics, FailuresAndOtherTextAreErrors) {
  EXPECT_NE(refused("powermetrics", "powermetrics must be invoked as the superuser\n").find("root"),
            std::string::npos);
  refused("powermetrics", "CPU 0 frequency: 1392 MHz\n");
  refused("powermetrics", "");
}

TEST(Boards, NoPieceOfATextGivesAnotherNumber) {
  expect_no_number_from_a_piece("tegrastats", "RAM 14/72MB VDD_IN 5081mW/5023mW VDD_SOC 141mW/149mW\n");
  expect_no_number_from_a_piece("powermetrics", "CPU Power: 947 mW\nGPU Power: 153 mW\n");
}

}  // namespace
}  // namespace tidewatt::metering
