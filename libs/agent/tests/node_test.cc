#include "tidewatt/agent/node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tidewatt/testing/fake_file_system.h"

namespace tidewatt::agent {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(NodeId, TheConfiguredNameWins) {
  tidewatt::testing::FakeFileSystem files;
  files.files["/proc/sys/kernel/hostname"] = "host-7\n";
  EXPECT_EQ(resolve_node_id("gpu-a01", files), "gpu-a01");
  EXPECT_EQ(resolve_node_id("", files), "host-7");
  EXPECT_EQ(resolve_node_id("  ", files), "host-7");
}

TEST(NodeId, RefusesToStartWithoutAnIdentity) {
  for (const char* name : {"localhost\n", "\n", "(none)\n", "localhost.localdomain\n"}) {
    tidewatt::testing::FakeFileSystem files;
    files.files["/proc/sys/kernel/hostname"] = name;
    const auto id = resolve_node_id("", files);
    ASSERT_FALSE(id) << name;
    EXPECT_THAT(id.error().to_string(), HasSubstr("--node-id"));
  }
  EXPECT_FALSE(resolve_node_id("", tidewatt::testing::FakeFileSystem{}));
}

TEST(NodeId, RefusesWhatIsNoName) {
  const tidewatt::testing::FakeFileSystem files;
  EXPECT_FALSE(resolve_node_id("a\nb", files));
  EXPECT_FALSE(resolve_node_id(std::string(257, 'a'), files));
  EXPECT_TRUE(resolve_node_id(std::string(256, 'a'), files));
  EXPECT_TRUE(resolve_node_id("节点-1", files));
}

constexpr const char* kStat =
    "cpu  100 10 50 800 40 0 0 0 30 5\n"
    "cpu0 50 5 25 400 20 0 0 0 15 0\n"
    "cpu1 50 5 25 400 20 0 0 0 15 5\n"
    "intr 1 2 3\ncpufoo 1\n";

TEST(CpuTimes, IdleAndWaitingAreNotBusyAndGuestsCountOnce) {
  const auto times = parse_cpu_times(kStat);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->busy, 160U);
  EXPECT_EQ(times->total, 1000U);
  EXPECT_EQ(count_cpus(kStat), 2);
}

TEST(CpuTimes, GarbageIsUnknown) {
  EXPECT_FALSE(parse_cpu_times(""));
  EXPECT_FALSE(parse_cpu_times("cpu  1 2 x 4\n"));
  EXPECT_FALSE(parse_cpu_times("cpu  1 2\n"));
  EXPECT_FALSE(parse_cpu_times("cpu0 1 2 3 4\n"));
  EXPECT_FALSE(count_cpus("intr 5\n"));
}

TEST(Utilisation, IsTheBusyShareBetweenTwoReads) {
  EXPECT_DOUBLE_EQ(utilisation({100, 1000}, {150, 1200}).value(), 0.25);
}

TEST(Utilisation, IsUnknownWithoutTimeOrWhenCountersGoBack) {
  EXPECT_FALSE(utilisation({100, 1000}, {100, 1000}));
  EXPECT_FALSE(utilisation({100, 1000}, {90, 1100}));
  EXPECT_FALSE(utilisation({100, 1000}, {150, 900}));
}

TEST(CpuMeter, FirstReadIsABaselineAndAFailureStartsANewOne) {
  tidewatt::testing::FakeFileSystem files;
  CpuMeter meter{files};
  EXPECT_FALSE(meter.read());
  files.files["/proc/stat"] = "cpu 0 0 0 100\n";
  EXPECT_FALSE(meter.read());
  files.files["/proc/stat"] = "cpu 50 0 0 150\n";
  EXPECT_DOUBLE_EQ(meter.read().value(), 0.5);
  files.files.erase("/proc/stat");
  EXPECT_FALSE(meter.read());
  files.files["/proc/stat"] = "cpu 50 0 0 250\n";
  EXPECT_FALSE(meter.read());
}

TEST(MachineFacts, ComeFromProcAndTheMachineId) {
  tidewatt::testing::FakeFileSystem files;
  files.files["/proc/stat"] = kStat;
  files.files["/proc/cpuinfo"] =
      "processor\t: 0\nmodel name\t: Some CPU @ 2.0GHz\nprocessor\t: 1\nmodel name\t: B\n";
  files.files["/etc/machine-id"] = "0123456789abcdef0123456789abcdef\n";
  NodeFacts facts;
  add_machine_facts(facts, files);
  EXPECT_EQ(facts.cpu_cores, 2);
  EXPECT_EQ(facts.cpu_model, "Some CPU @ 2.0GHz");
  EXPECT_THAT(facts.labels, Contains(Pair("machine_id", "0123456789abcdef0123456789abcdef")));
}

TEST(MachineFacts, WhatIsMissingStaysUnknownAndAGivenLabelStands) {
  tidewatt::testing::FakeFileSystem files;
  files.files["/etc/machine-id"] = "abc\n";
  NodeFacts facts;
  facts.labels = {{"machine_id", "mine"}};
  add_machine_facts(facts, files);
  EXPECT_EQ(facts.cpu_cores, std::nullopt);
  EXPECT_EQ(facts.cpu_model, "");
  ASSERT_EQ(facts.labels.size(), 1U);
  EXPECT_EQ(facts.labels[0].second, "mine");
}

}  // namespace
}  // namespace tidewatt::agent
