#include "tidewatt/agent/workloads.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tidewatt/testing/fake_file_system.h"
#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::agent {
namespace {

const std::string kCgroups = "/sys/fs/cgroup";
const std::string kUid = "51b64565-0d3c-4c7e-9f11-2a6b8c9d0e1f";
const std::string kPod = "/kubepods/burstable/pod" + kUid;
const std::string kId = "65d752a3f1c04d8e9b7a6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f";

/// A node of four CPUs.
class WorkloadsTest : public ::testing::Test {
 protected:
  std::shared_ptr<testing::FakeFileSystem> files = std::make_shared<testing::FakeFileSystem>();
  std::shared_ptr<testing::ManualClock> clock =
      std::make_shared<testing::ManualClock>(UtcTime{Milliseconds{1'700'000'000'000}});
  AttributionSettings settings;
  std::unique_ptr<WorkloadScanner> scanner;

  void SetUp() override {
    files->files[kCgroups + "/cgroup.controllers"] = "cpu\n";
    files->links["/proc/self/ns/pid"] = "pid:[4026531836]";
    busy(0);
    open();
  }
  void open() { scanner = std::make_unique<WorkloadScanner>(files, clock, settings); }
  void busy(int seconds) {
    files->files["/proc/stat"] = "cpu  " + std::to_string(seconds * 100) + " 0 0 " +
                                 std::to_string(100'000 - seconds) +
                                 " 0 0 0 0 0 0\ncpu0 0\ncpu1 0\ncpu2 0\ncpu3 0\n";
  }
  void cgroup(const std::string& path, double seconds) {
    files->files[kCgroups + path + "/cpu.stat"] =
        "usage_usec " + std::to_string(static_cast<std::int64_t>(seconds * 1e6)) + "\n";
  }
  void process(int pid, const std::string& cgroup_path, const std::string& name = "python",
               int start_ticks = 100) {
    const auto folder = "/proc/" + std::to_string(pid);
    files->files[folder + "/cgroup"] = "0::" + cgroup_path + "\n";
    files->files[folder + "/stat"] = std::to_string(pid) + " (" + name +
                                     ") S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " +
                                     std::to_string(start_ticks) + " 0 0\n";
  }
  Workloads after(int seconds) {
    clock->advance(std::chrono::seconds{seconds});
    return scanner->look({});
  }
  metering::Reading card(const std::vector<metering::DeviceProcess>& processes) {
    metering::Reading reading;
    reading.domain = kDomainGpu;
    reading.uuid = "GPU-1";
    reading.processes = metering::DeviceProcesses{clock->mono_now(), 1000, processes};
    return reading;
  }
  Workloads on_card(const std::vector<metering::DeviceProcess>& processes) {
    return scanner->look({card(processes)});
  }

  static double share_of(const Workloads& found, const std::string& task) {
    for (const auto& holder : found.cpu.value().holders)
      if (holder.task_id == task) return *holder.compute_share;
    return -1;
  }
};

TEST_F(WorkloadsTest, CpuTimeIsSharedByCountersBetweenTwoLooks) {
  cgroup(kPod, 100);
  cgroup("/system.slice/ollama.service", 10);
  EXPECT_FALSE(scanner->look({}).cpu) << "the first look is a baseline";
  busy(40);
  cgroup(kPod, 124);
  cgroup("/system.slice/ollama.service", 18);
  const auto found = after(20);
  ASSERT_TRUE(found.cpu);
  EXPECT_DOUBLE_EQ(share_of(found, "pod/" + kUid), 0.6);
  EXPECT_DOUBLE_EQ(share_of(found, "unit/ollama.service"), 0.2);
  EXPECT_DOUBLE_EQ(*found.cpu->unheld->compute_share, 0.2);
  EXPECT_DOUBLE_EQ(*found.cpu->unheld->idle_share, 0);
  EXPECT_EQ(found.stats.tasks, 2U);
}

TEST_F(WorkloadsTest, IdlePartIsKeptApartWhereThePolicySaysSo) {
  settings.cpu = attribution::CpuPolicy::keep_idle;
  open();
  cgroup(kPod, 0);
  scanner->look({});
  busy(40);
  cgroup(kPod, 24);
  const auto found = after(20);
  EXPECT_DOUBLE_EQ(share_of(found, "pod/" + kUid), 0.3);
  EXPECT_DOUBLE_EQ(*found.cpu->unheld->compute_share, 0.7);
  EXPECT_DOUBLE_EQ(*found.cpu->unheld->idle_share, 0.5);
}

TEST_F(WorkloadsTest, SharesAddUpToOneInTheLedgersUnits) {
  for (int i = 0; i < 7; ++i) cgroup("/slurm/uid_0/job_" + std::to_string(i), 0);
  scanner->look({});
  busy(33);
  for (int i = 0; i < 7; ++i) cgroup("/slurm/uid_0/job_" + std::to_string(i), i * 1.234567);
  const auto found = after(20);
  std::int64_t sum = std::llround(*found.cpu->unheld->compute_share * 1e9);
  for (const auto& holder : found.cpu->holders) sum += std::llround(*holder.compute_share * 1e9);
  EXPECT_EQ(sum, 1'000'000'000);
}

TEST_F(WorkloadsTest, QuietServicesAreLeftToNobodyQuietPodsAreTold) {
  cgroup(kPod, 0);
  cgroup("/system.slice/cron.service", 0);
  scanner->look({});
  busy(80);
  cgroup("/system.slice/cron.service", 0.01);
  const auto found = after(20);
  EXPECT_EQ(share_of(found, "pod/" + kUid), 0);
  EXPECT_EQ(share_of(found, "unit/cron.service"), -1);
  EXPECT_DOUBLE_EQ(*found.cpu->unheld->compute_share, 1);
}

TEST_F(WorkloadsTest, ServiceThatWasAwakeStaysToldForAWhile) {
  cgroup("/system.slice/cron.service", 0);
  scanner->look({});
  busy(10);
  cgroup("/system.slice/cron.service", 5);
  EXPECT_DOUBLE_EQ(share_of(after(20), "unit/cron.service"), 0.5);
  EXPECT_EQ(share_of(after(20), "unit/cron.service"), 0);
  for (int i = 0; i < 40; ++i) after(20);
  EXPECT_EQ(share_of(after(20), "unit/cron.service"), -1);
}

TEST_F(WorkloadsTest, MissingCgroupsAreSaidAndTheNextLookIsABaseline) {
  cgroup(kPod, 0);
  scanner->look({});
  const auto kept = files->files;
  files->files.erase(kCgroups + "/cgroup.controllers");
  busy(10);
  const auto found = after(20);
  EXPECT_FALSE(found.cpu);
  EXPECT_NE(found.stats.trouble.find("no hierarchy that counts CPU time"), std::string::npos);
  files->files = kept;
  EXPECT_FALSE(after(20).cpu);
}

TEST_F(WorkloadsTest, RulesNameTasksAndDropThem) {
  settings.relabel =
      *attribution::Relabel::parse({"unit=cron.service -> drop", "unit/*.service -> service/$1"});
  open();
  cgroup("/system.slice/ollama.service", 0);
  cgroup("/system.slice/cron.service", 0);
  scanner->look({});
  busy(20);
  cgroup("/system.slice/ollama.service", 10);
  cgroup("/system.slice/cron.service", 10);
  const auto found = after(20);
  EXPECT_DOUBLE_EQ(share_of(found, "service/ollama"), 0.5);
  EXPECT_DOUBLE_EQ(*found.cpu->unheld->compute_share, 0.5);
}

TEST_F(WorkloadsTest, ProcessesOfOneCgroupAreOneHolderOfTheCard) {
  process(10, kPod + "/" + kId);
  process(11, kPod + "/" + kId);
  process(12, "/slurm/uid_1/job_5/step_0");
  const auto found = on_card({{10, 300, {}, {}}, {11, 100, {}, {}}, {12, 100, {}, {}}});
  ASSERT_EQ(found.devices.size(), 1U);
  const auto& holders = found.devices[0].holding.holders;
  ASSERT_EQ(holders.size(), 2U);
  EXPECT_EQ(holders[0].task_id, "pod/" + kUid);
  EXPECT_DOUBLE_EQ(*holders[0].memory_share, 0.4);
  EXPECT_EQ(holders[1].task_id, "slurm/5");
  EXPECT_FALSE(found.devices[0].holding.unheld);
}

TEST_F(WorkloadsTest, TaskOnOneCardIsNoHolderOfAnother) {
  process(10, kPod);
  process(12, "/slurm/uid_1/job_5");
  auto first = card({{10, 300, {}, {}}});
  auto second = card({{12, 300, {}, {}}});
  second.uuid = "GPU-2";
  const auto found = scanner->look({first, second});
  std::vector<DeviceSample> samples(2);
  samples[0].domain = samples[1].domain = kDomainGpu;
  samples[0].uuid = "GPU-2";
  samples[1].uuid = "GPU-1";
  found.apply(samples);
  EXPECT_EQ(samples[0].holders.at(0).task_id, "slurm/5");
  EXPECT_EQ(samples[1].holders.at(0).task_id, "pod/" + kUid);
}

TEST_F(WorkloadsTest, ProcessThatCannotBeReadIsUnknownAndCounted) {
  process(10, kPod);
  const auto found = on_card({{10, 100, {}, {}}, {99, 100, {}, {}}, {0, 5, {}, {}}});
  EXPECT_EQ(found.stats.unknown_processes, 2U);
  EXPECT_EQ(found.devices[0].holding.holders.size(), 1U);
  EXPECT_DOUBLE_EQ(*found.devices[0].holding.unheld->memory_share, 0.105);
}

TEST_F(WorkloadsTest, PidUsedAgainSinceTheListIsNotBelieved) {
  process(10, kPod, "other", 200'000);  // began 2,000 s after boot; the list is of 1,000 s
  EXPECT_EQ(on_card({{10, 100, {}, {}}}).stats.unknown_processes, 1U);
}

TEST_F(WorkloadsTest, ProcessIdsOfAnotherNamespaceAreNotBelieved) {
  process(10, kPod);
  files->links["/proc/self/ns/pid"] = "pid:[4026532201]";
  EXPECT_EQ(on_card({{10, 100, {}, {}}}).stats.unknown_processes, 1U);
  process(2, "/", "kthreadd", 0);  // the host's own /proc is mounted
  EXPECT_EQ(on_card({{10, 100, {}, {}}}).stats.unknown_processes, 0U);
}

TEST_F(WorkloadsTest, SlurmJobIsFoundInTheEnvironmentWhereTheCgroupSaysNothing) {
  using namespace std::string_literals;
  process(10, "/system.slice/slurmd.service");
  files->files["/proc/10/environ"] = "PATH=/bin\0SLURM_JOB_ID=42\0"s;
  EXPECT_EQ(on_card({{10, 1, {}, {}}}).devices[0].holding.holders.at(0).task_id, "slurm/42");
  process(10, kPod);
  EXPECT_EQ(on_card({{10, 1, {}, {}}}).devices[0].holding.holders.at(0).task_id, "pod/" + kUid);
  process(10, "/system.slice/notebook.service");  // anybody can write SLURM_JOB_ID=42 before a command
  EXPECT_EQ(on_card({{10, 1, {}, {}}}).devices[0].holding.holders.at(0).task_id, "unit/notebook.service");
  process(10, "/system.slice/slurmd.service");
  files->files["/proc/10/environ"] = "SLURM_JOB_ID=\0"s;
  EXPECT_EQ(on_card({{10, 1, {}, {}}}).devices[0].holding.holders.at(0).task_id, "unit/slurmd.service");
}

TEST_F(WorkloadsTest, JobThatSlurmNamesBySluidGetsItsNumberFromItsProcesses) {
  using namespace std::string_literals;
  const std::string job = "/system.slice/slurmstepd.scope/s5K1KKYAYG5D00";
  process(10, job + "/step_0/user/task_0");
  cgroup(job, 0);
  EXPECT_EQ(on_card({{10, 1, {}, {}}}).devices[0].holding.holders.at(0).task_id, "slurm/s5K1KKYAYG5D00");
  files->files["/proc/10/environ"] = "SLURM_JOB_ID=4242\0"s;
  files->files[kCgroups + job + "/step_0/user/task_0/cgroup.procs"] = "10\n11\n";
  busy(20);
  const auto found = after(20);
  EXPECT_EQ(share_of(found, "slurm/4242"), 0);
  EXPECT_EQ(on_card({{10, 1, {}, {}}}).devices[0].holding.holders.at(0).task_id, "slurm/4242");
}

TEST_F(WorkloadsTest, MpsServerWorksForItsClients) {
  process(1, "/system.slice/nvidia-mps.service", "nvidia-cuda-mps");
  process(10, kPod);
  EXPECT_EQ(on_card({{1, 30, {}, {}}, {10, 500, {}, {}}}).devices[0].holding.holders.size(), 1U);
  EXPECT_EQ(on_card({{1, 30, {}, {}}}).devices[0].holding.holders.at(0).task_id, "unit/nvidia-mps.service");
}

TEST_F(WorkloadsTest, OnlyMeasuredDevicesWithoutHoldersOfTheirOwnAreGivenAny) {
  Workloads found;
  found.cpu.emplace().holders.push_back({"pod/x", 1.0, std::nullopt, HolderState::running});
  std::vector<DeviceSample> samples(4);
  for (auto& sample : samples) sample.domain = kDomainCpuPackage;
  samples[1].quality = Quality::simulated;
  samples[2].holders.push_back({"told", std::nullopt, std::nullopt, HolderState::running});
  samples[3].domain = kDomainDram;
  found.apply(samples);
  EXPECT_EQ(samples[0].holders.at(0).task_id, "pod/x");
  EXPECT_TRUE(samples[1].holders.empty());
  EXPECT_EQ(samples[2].holders.at(0).task_id, "told");
  EXPECT_TRUE(samples[3].holders.empty()) << "CPU time says nothing of memory's energy";
}

TEST_F(WorkloadsTest, ShortTasksLeaveNothingBehind) {
  scanner->look({});
  for (int i = 0; i < 2'000; ++i) {
    const auto path = "/system.slice/run-" + std::to_string(i) + ".service";
    cgroup(path, 0);
    after(1);
    busy(i + 1);
    cgroup(path, 1);
    const auto found = after(1);
    ASSERT_LE(found.cpu->holders.size(), 40U);
    files->files.erase(kCgroups + path + "/cpu.stat");
  }
}

TEST_F(WorkloadsTest, MoreTasksThanABeatTakesAreTheBusiestAndTheRestIsNobodys) {
  const auto job = [](int i) { return "/slurm/uid_0/job_" + std::to_string(1000 + i); };
  for (int i = 0; i < 300; ++i) cgroup(job(i), 0);
  scanner->look({});
  busy(80);
  for (int i = 0; i < 300; ++i) cgroup(job(i), i < 100 ? 0.1 : 0.3);
  const auto found = after(20);
  EXPECT_EQ(found.cpu->holders.size(), 200U);
  EXPECT_TRUE(found.stats.cut_short);
  for (const auto& holder : found.cpu->holders) EXPECT_GE(holder.task_id, "slurm/1100");
}

}  // namespace
}  // namespace tidewatt::agent
