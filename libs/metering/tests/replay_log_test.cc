#include "tidewatt/metering/replay_log.h"

#include <gtest/gtest.h>

namespace tidewatt::metering {
namespace {

TEST(ReplayLog, AMeterCsvGivesPlatformAndOtherMetersUnderTheirOwnName) {
  const auto log = parse_replay_log("t_ms,node,meter,watts\n2000,7,ac,300.5\n1000,7,ac,200\n1000,7,dc,150\n",
                                    "run_power.csv");
  ASSERT_TRUE(log) << log.error().to_string();
  ASSERT_EQ(log->samples.size(), 3U);
  EXPECT_EQ(log->samples[0].domain, "dc") << "sorted by time, node, domain";
  EXPECT_EQ(log->samples[1].domain, "platform");
  EXPECT_EQ(log->samples[1].node, "7");
  EXPECT_DOUBLE_EQ(log->samples[2].watts.value(), 300.5);
}

TEST(ReplayLog, ExpectedEnergyIsExactPerNodeAndDomainAndCountsGapsApart) {
  const auto log = parse_replay_log(
      "t_ms,node,meter,watts\n1000,a,ac,100\n3000,a,ac,200.123\n3000,a,ac,900\n103000,a,ac,50\n", "x.csv");
  const auto sums = expected_energy(*log);
  ASSERT_EQ(sums.size(), 1U);
  // 200.123 W x 2 s + 50 W x 60 s of the 100 s; the doubled time is ignored.
  EXPECT_EQ(sums[0].energy.to_string(), "3400246000");
  EXPECT_EQ(sums[0].counted, Milliseconds{62'000});
  EXPECT_EQ(sums[0].gap, Milliseconds{40'000});
  EXPECT_EQ(sums[0].samples, 3U);
}

TEST(ReplayLog, ACardLogIsReadByNamesWithOrWithoutUnits) {
  const auto log = parse_replay_log(
      "timestamp, power.limit [W], index, power.draw [W]\n"
      "2024/05/10 11:43:39.163, 700.00 W, 1, 412.50 W\n"
      "2024/05/10 11:43:40.163, 700.00, 1, 410.00\n"
      "2024/05/10 11:43:40.163, 700.00 W, 0, [N/A]\n"
      "2024/05/10 11:43:41.163, 700.00 W, 0, 0.00 W\n",
      "logs/gpu-a01.csv.gz");
  ASSERT_TRUE(log) << log.error().to_string();
  ASSERT_EQ(log->samples.size(), 2U);
  EXPECT_EQ(log->samples[0].node, "gpu-a01");
  EXPECT_EQ(log->samples[0].index, 1);
  EXPECT_DOUBLE_EQ(log->samples[0].watts.value(), 412.5);
  EXPECT_EQ(format_rfc3339(log->samples[0].at), "2024-05-10T11:43:39.163Z");
  EXPECT_EQ(log->skipped.at("power is no number"), 1U);
  EXPECT_EQ(log->skipped.at("card at exactly 0 W"), 1U);
}

TEST(ReplayLog, BeatsAreReadLineByLineAndUnknownPowersAreCountedNotZero) {
  const auto log = parse_replay_log(
      R"({"node_id":"n","sampled_at":"2026-11-29T08:00:00Z","gpu_stats":[{"index":0,"uuid":"GPU-a","power_watts":10},{"index":1}],)"
      R"("rails":[{"domain":"dram","index":1,"power_watts":3}],"platform":[{"power_watts":40}]})"
      "\nnonsense\n"
      R"({"node_id":"n","gpu_stats":[{"index":0,"power_watts":10}]})"
      "\n",
      "beats.jsonl");
  ASSERT_TRUE(log) << log.error().to_string();
  ASSERT_EQ(log->samples.size(), 3U);
  EXPECT_EQ(log->samples[0].domain, "dram");
  EXPECT_EQ(log->samples[1].uuid, "GPU-a");
  EXPECT_EQ(log->samples[2].domain, "platform");
  EXPECT_EQ(log->skipped.at("power unknown"), 1U);
  EXPECT_EQ(log->skipped.at("line is no JSON object"), 1U);
  EXPECT_EQ(log->skipped.at("no time"), 1U);
}

TEST(ReplayLog, AMeterLogNeedsOnlyATimeAndWatts) {
  const auto log = parse_replay_log("time,watts\n2026-01-01T00:00:01Z,5\n2026-01-01T00:00:02,6\n", "m.csv");
  ASSERT_TRUE(log);
  ASSERT_EQ(log->samples.size(), 2U);
  EXPECT_EQ(log->samples[0].node, "m");
  EXPECT_EQ(log->samples[0].domain, "platform");
  EXPECT_EQ(log->samples[1].at - log->samples[0].at, Milliseconds{1000});
}

TEST(ReplayLog, AMeterThatIsNotAtThePlugIsADomainOfItsOwn) {
  const auto log = parse_replay_log("t_ms,node,meter,watts\n1000,a,pdu1,5\n2000,a,pdu1,6\n", "x");
  ASSERT_TRUE(log);
  ASSERT_EQ(log->samples.size(), 2U);
  EXPECT_EQ(log->samples[0].domain, "pdu1");
}

TEST(ReplayLog, NumbersWithoutAUnitAreSecondsOrMillisecondsByTheirSizeAndElseNoTime) {
  for (const auto* rows : {"1764450000,100\n1764450010,200\n", "1764450000000,100\n1764450010000,200\n",
                           "1764450000.0,100\n1764450010.0,200\n"}) {
    const auto log = parse_replay_log(std::string{"time,watts\n"} + rows, "m.csv");
    ASSERT_TRUE(log);
    ASSERT_EQ(log->samples.size(), 2U) << rows;
    EXPECT_EQ(log->samples[1].at, UtcTime{Milliseconds{1'764'450'010'000}}) << rows;
  }
  const auto offsets = parse_replay_log("time,watts\n0,100\n10,200\n", "m.csv");
  EXPECT_TRUE(!offsets || offsets->samples.empty()) << "seconds since some start are no time";
}

TEST(ReplayLog, GarbageRowsAreSkippedAndCounted) {
  const auto log = parse_replay_log(
      "t_ms,node,meter,watts\n1000,a,ac,-1\nx,a,ac,5\n1000,a,ac\n2000,a,ac,nan\n3000,a,ac,7\n", "x");
  ASSERT_TRUE(log);
  EXPECT_EQ(log->samples.size(), 1U);
  EXPECT_EQ(log->skipped.size(), 4U);
  EXPECT_EQ(log->skipped.at("negative power"), 1U);
}

TEST(ReplayLog, AnUnknownLogIsAnErrorThatNamesTheKnownOnes) {
  const auto log = parse_replay_log("a,b,c\n1,2,3\n", "x.csv");
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().message, "x.csv: line 1: no known log: 'a,b,c'");
  EXPECT_FALSE(parse_replay_log("", "x.csv"));
  EXPECT_EQ(parse_replay_log("t_ms,node,meter,watts\n1,a,ac,-5\n", "x.csv").error().message,
            "x.csv: no usable row: negative power (1 x)");
}

std::string energy_of(const Result<ReplayLog>& log) {
  if (!log) return log.error().to_string();
  const auto sums = expected_energy(*log);
  return sums.size() == 1 ? sums[0].energy.to_string() : "several sums";
}

TEST(ReplayLog, AUnitInAColumnsNameHoldsForItsNumbers) {
  for (const std::string name : {"power.draw [mW]", "power.draw (mW)", "power.draw.instant [mW]"})
    EXPECT_EQ(energy_of(parse_replay_log("timestamp, index, uuid, " + name +
                                             "\n2026/11/29 08:00:00.000, 0, GPU-aa, 350000\n"
                                             "2026/11/29 08:00:10.000, 0, GPU-aa, 350000\n",
                                         "x.csv")),
              "3500000000")
        << name;
  EXPECT_EQ(energy_of(parse_replay_log("t_ms,power_watts [mW]\n1000,350000\n11000,350000\n", "x.csv")),
            "3500000000");
  EXPECT_EQ(energy_of(parse_replay_log("t_ms,watts [kW]\n1000,0.35\n11000,350 W\n", "x.csv")), "3500000000")
      << "a unit behind the number counts before the name's";
  EXPECT_FALSE(parse_replay_log("t_ms,watts [VA]\n1000,350\n11000,350\n", "x.csv"));
}

TEST(ReplayLog, CardsAreToldApartByWhateverNamesThem) {
  for (const std::string column : {"pci.bus_id", "uuid", "gpu_uuid", "serial"}) {
    std::string text = "timestamp, " + column + ", power.draw [W]\n";
    for (const std::string time : {"08:00:00", "08:00:10", "08:00:20"})
      for (const std::string card : {"00000000:0B:00.0", "00000000:1B:00.0", "00000000:2B:00.0"})
        text += "2026/11/29 " + time + ".000, " + card + ", 300 W\n";
    const auto log = parse_replay_log(text, "x.csv");
    EXPECT_EQ(energy_of(log), "18000000000") << column;
    EXPECT_EQ(log->samples.back().index, 2);
  }
  std::string meter = "t_ms,node,meter,index,watts\n";
  for (const std::string time : {"1000", "11000"})
    for (const std::string card : {"0", "1", "2"}) meter += time + ",n,gpu," + card + ",300\n";
  EXPECT_EQ(energy_of(parse_replay_log(meter, "x.csv")), "9000000000");
}

TEST(ReplayLog, RowsOfOneTimeThatNoColumnTellsApartAreRefused) {
  std::string named = "timestamp, name, power.draw [W]\n";
  std::string meter = "t_ms,node,meter,watts\n";
  std::string nodes = "timestamp, index, power.draw [W]\n";
  for (const std::string second : {"0", "1"})
    for (int i = 0; i < 2; ++i) {
      named += "2026/11/29 08:00:0" + second + ".000, NVIDIA H999, 300 W\n";
      meter += "100" + second + ",n,gpu,300\n";
      nodes += "2026/11/29 08:00:0" + second + ".000, 0, 300 W\n";
    }
  for (const auto& text : {named, meter, nodes}) {
    const auto log = parse_replay_log(text, "x.csv");
    ASSERT_FALSE(log) << text;
    EXPECT_NE(log.error().message.find("no column tells whose they are"), std::string::npos);
    EXPECT_NE(log.error().to_string().find("pci.bus_id"), std::string::npos);
  }
  // One card needs no name.
  EXPECT_TRUE(
      parse_replay_log("timestamp, name, power.draw [W]\n2026/11/29 08:00:00.000, X, 300 W\n", "x.csv"));
}

TEST(ReplayLog, AWordForNoneIsNoIdentity) {
  for (const std::string none : {"[N/A]", "N/A", "GPU-00000000-0000-0000-0000-000000000000"}) {
    std::string text = "timestamp, index, uuid, power.draw [W]\n";
    for (const std::string second : {"0", "1"})
      for (const std::string card : {"0", "1"})
        text += "2026/11/29 08:00:0" + second + ".000, " + card + ", " + none + ", 300 W\n";
    const auto log = parse_replay_log(text, "x.csv");
    ASSERT_TRUE(log) << log.error().to_string();
    EXPECT_EQ(energy_of(log), "600000000");
    for (const auto& sample : log->samples) EXPECT_EQ(sample.uuid, "") << none;
  }
  const auto nameless = parse_replay_log(
      "timestamp, uuid, power.draw [W]\n2026/11/29 08:00:00.000, [N/A], 300 W\n2026/11/29 08:00:00.000, "
      "GPU-a1, 300 W\n",
      "x.csv");
  ASSERT_TRUE(nameless);
  EXPECT_EQ(nameless->skipped.at("names no device"), 1U);
}

TEST(ReplayLog, WhereTheInstantaneousDrawPrintsNoneTheDrawCounts) {
  const auto log = parse_replay_log(
      "timestamp, index, power.draw.instant [W], power.draw [W]\n2026/11/29 08:00:00.000, 0, [N/A], 300 W\n"
      "2026/11/29 08:00:01.000, 0, 290 W, 300 W\n2026/11/29 08:00:02.000, 0, [N/A], [N/A]\n",
      "x.csv");
  ASSERT_TRUE(log) << log.error().to_string();
  ASSERT_EQ(log->samples.size(), 2U);
  EXPECT_DOUBLE_EQ(log->samples[0].watts.value(), 300);
  EXPECT_DOUBLE_EQ(log->samples[1].watts.value(), 290);
  EXPECT_EQ(log->skipped.at("power is no number"), 1U);
}

TEST(ReplayLog, ASentinelIsUnknown) {
  for (const std::string blank : {"4294967.29 W", "4294967.295", "65535", "4.29 MW"}) {
    const auto log = parse_replay_log("timestamp, index, power.draw [W]\n2026/11/29 08:00:00.000, 0, " +
                                          blank + "\n2026/11/29 08:00:01.000, 0, 290 W\n",
                                      "x.csv");
    ASSERT_TRUE(log);
    EXPECT_EQ(log->samples.size(), 1U) << blank;
    EXPECT_EQ(log->skipped.at("implausible power"), 1U);
  }
  const auto beats = parse_replay_log(
      R"({"node_id":"n","sampled_at":"2026-11-29T08:00:00Z","gpu_stats":[{"power_watts":65535},{"power_watts":9}]})",
      "x.jsonl");
  EXPECT_EQ(beats->samples.size(), 1U);
}

}  // namespace
}  // namespace tidewatt::metering
