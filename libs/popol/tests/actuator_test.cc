#include "tidewatt/popol/actuator.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tidewatt/os/posix.h"

namespace tidewatt::popol {
namespace {

class Files : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::path{testing::TempDir()} / ("popol-" + std::to_string(::getpid()));
    put("/sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw", "90000000\n");
    put("/sys/class/powercap/intel-rapl:0/constraint_0_max_power_uw", "120000000\n");
    put("/sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq", "3000000\n");
    put("/sys/devices/system/cpu/cpufreq/policy0/cpuinfo_min_freq", "800000\n");
    put("/sys/devices/system/cpu/cpufreq/policy0/cpuinfo_max_freq", "3000000\n");
    put("/sys/fs/cgroup/shop/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/shop/memory.high", "1073741824\n");
    put("/sys/fs/cgroup/shop/cgroup.freeze", "0\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(
        (root_.string() + path).substr(0, (root_.string() + path).rfind('/')));
    std::ofstream{root_.string() + path} << text;
  }
  std::string content(const std::string& path) {
    std::ifstream file{root_.string() + path};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  std::unique_ptr<Actuator> knob(const char* kind, const std::string& target) {
    return make_file_actuator(os::make_file_system(), root_.string(), *file_kind(kind), target).value();
  }
  std::filesystem::path root_;
};

TEST_F(Files, EachKindReadsAndWritesItsUnit) {
  auto cap = knob("rapl_power_w", "intel-rapl:0");
  EXPECT_EQ(cap->read().value(), 90);
  ASSERT_TRUE(cap->apply(60));
  EXPECT_EQ(content("/sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw"), "60000000");
  auto frequency = knob("cpu_frequency_mhz", "policy0");
  ASSERT_TRUE(frequency->apply(1200));
  EXPECT_EQ(content("/sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq"), "1200000");
  auto cpus = knob("cgroup_cpus", "shop");
  ASSERT_TRUE(cpus->apply(1.5));
  EXPECT_EQ(content("/sys/fs/cgroup/shop/cpu.max"), "150000 100000");
  EXPECT_EQ(cpus->read().value(), 1.5);
  auto memory = knob("cgroup_memory_mib", "shop");
  EXPECT_EQ(memory->read().value(), 1024);
  auto freeze = knob("cgroup_freeze", "shop");
  ASSERT_TRUE(freeze->apply(1));
  EXPECT_EQ(content("/sys/fs/cgroup/shop/cgroup.freeze"), "1");
}

TEST_F(Files, BeyondTheBoundsNothingIsWritten) {
  auto cap = knob("rapl_power_w", "intel-rapl:0");
  EXPECT_FALSE(cap->apply(121));
  EXPECT_FALSE(cap->apply(0));
  EXPECT_FALSE(cap->apply(-5));
  EXPECT_FALSE(knob("cpu_frequency_mhz", "policy0")->apply(700));
  EXPECT_FALSE(knob("cgroup_freeze", "shop")->apply(2));
  EXPECT_EQ(content("/sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw"), "90000000\n");
}

TEST_F(Files, ADryRunChangesNothing) {
  auto cap = knob("rapl_power_w", "intel-rapl:0");
  ASSERT_TRUE(cap->dry_run(60));
  EXPECT_EQ(cap->read().value(), 90);
  EXPECT_FALSE(knob("rapl_power_w", "intel-rapl:7")->dry_run(60));
}

TEST_F(Files, NoTargetLeavesItsFolder) {
  for (const char* target : {"../../etc", "/etc", "", "a/../../b"})
    EXPECT_FALSE(make_file_actuator(os::make_file_system(), root_.string(), FileKind::cgroup_cpus, target))
        << target;
}

TEST_F(Files, TheDeskRevertsToWhatWasThereFirst) {
  std::vector<std::unique_ptr<Actuator>> knobs;
  knobs.push_back(knob("rapl_power_w", "intel-rapl:0"));
  knobs.push_back(knob("cgroup_cpus", "shop"));
  Desk desk{std::move(knobs)};
  ASSERT_TRUE(desk.apply(0, 60));
  ASSERT_TRUE(desk.apply(0, 40));
  ASSERT_TRUE(desk.revert(0));
  EXPECT_EQ(desk.knob(0).read().value(), 90);
  // "max" is no number to go back to: not touched.
  EXPECT_FALSE(desk.apply(1, 1));
  EXPECT_EQ(content("/sys/fs/cgroup/shop/cpu.max"), "max 100000\n");
}

}  // namespace
}  // namespace tidewatt::popol
