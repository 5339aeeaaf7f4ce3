#include "tidewatt/agent/cgroup_tree.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tidewatt/testing/fake_file_system.h"
#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::agent {
namespace {

const std::string kRoot = "/sys/fs/cgroup";
const std::string kUid = "51b64565-0d3c-4c7e-9f11-2a6b8c9d0e1f";
const std::string kId = "65d752a3f1c04d8e9b7a6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f";

class CgroupTree : public ::testing::Test {
 protected:
  testing::FakeFileSystem files;
  testing::ManualClock clock{UtcTime{Milliseconds{1'700'000'000'000}}};
  CgroupLimits limits;

  void v2(const std::string& path, int seconds) {
    files.files[kRoot + "/cgroup.controllers"] = "cpu memory\n";
    files.files[kRoot + path + "/cpu.stat"] =
        "usage_usec " + std::to_string(seconds * 1'000'000L) + "\nuser_usec 1\nsystem_usec 1\n";
    files.files[kRoot + path + "/cgroup.procs"] = "";
  }
  CgroupLook look(const std::string& root = kRoot) {
    auto found = look_at_cgroups(files, clock, root, limits);
    EXPECT_TRUE(found) << found.error().to_string();
    return found ? *std::move(found) : CgroupLook{};
  }
  static std::vector<std::string> tasks(const CgroupLook& look) {
    std::vector<std::string> out;
    for (const auto& found : look.found) out.push_back(found.workload.task_id);
    std::sort(out.begin(), out.end());
    return out;
  }
};

TEST_F(CgroupTree, CounterIsReadWhereItKeepsDeadChildren) {
  v2("", 100);
  v2("/kubepods.slice", 50);
  const std::string pod = "/kubepods.slice/kubepods-pod51b64565_0d3c_4c7e_9f11_2a6b8c9d0e1f.slice";
  v2(pod, 40);
  v2(pod + "/cri-containerd-" + kId + ".scope", 10);  // restarted: the first one's 30 s are in the pod's
  const auto found = look();
  ASSERT_EQ(found.found.size(), 1U);
  EXPECT_EQ(found.found[0].workload.task_id, "pod/" + kUid);
  EXPECT_EQ(found.found[0].used, 40'000'000);
  EXPECT_EQ(found.used, 100'000'000);
  EXPECT_EQ(found.folders, 3U);
}

TEST_F(CgroupTree, FindsWorkloadsOfEveryKindSideBySide) {
  v2("/system.slice/ollama.service", 1);
  v2("/system.slice/slurmstepd.scope/job_7/step_0/user/task_0", 2);
  v2("/system.slice/slurmstepd.scope/job_7", 3);
  v2("/system.slice/slurmstepd.scope", 4);
  v2("/user.slice/user-1000.slice", 5);
  v2("/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + kId + ".scope", 5);
  v2("/docker/" + kId, 6);
  EXPECT_EQ(tasks(look()),
            (std::vector<std::string>{"container/" + kId, "container/" + kId, "slurm/7",
                                      "unit/ollama.service", "unit/slurmstepd.scope", "user/1000"}));
}

TEST_F(CgroupTree, Version1IsFoundUnderEitherOrderOfItsName) {
  for (const std::string folder : {"/cpu,cpuacct", "/cpuacct,cpu", "/cpuacct"}) {
    files = {};
    files.files[kRoot + "/memory/memory.usage_in_bytes"] = "1\n";
    files.files[kRoot + folder + "/cpuacct.usage"] = "9000000000\n";
    files.files[kRoot + folder + "/docker/" + kId + "/cpuacct.usage"] = "5000000000\n";
    files.links[kRoot + "/cpu"] = "cpu,cpuacct";
    const auto found = look();
    ASSERT_EQ(found.found.size(), 1U) << folder;
    EXPECT_EQ(found.found[0].used, 5'000'000);
    EXPECT_EQ(found.used, 9'000'000);
  }
}

TEST_F(CgroupTree, HybridReadsTheHierarchyThatCountsCpuTime) {
  files.files[kRoot + "/unified/cgroup.controllers"] = "\n";
  files.files[kRoot + "/unified/docker/" + kId + "/cpu.stat"] = "usage_usec 1\n";
  files.files[kRoot + "/cpu,cpuacct/docker/" + kId + "/cpuacct.usage"] = "7000\n";
  EXPECT_EQ(look().found.at(0).used, 7);
  files.files.erase(kRoot + "/cpu,cpuacct/docker/" + kId + "/cpuacct.usage");
  EXPECT_EQ(look().found.at(0).used, 1);
}

TEST_F(CgroupTree, NoHierarchyIsAnErrorWithWhatToDo) {
  files.files[kRoot + "/memory/x"] = "";
  const auto found = look_at_cgroups(files, clock, kRoot, limits);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::not_found);
  EXPECT_NE(found.error().hint.find("attribution.cgroup_root"), std::string::npos);
  EXPECT_FALSE(look_at_cgroups(files, clock, "/nowhere", limits));
}

TEST_F(CgroupTree, UnknownShapesAreCountedAndNamedNeverIgnored) {
  v2("/yarn/application_1/container_2", 3);
  v2("/yarn", 4);
  v2("/mine/docker/" + kId, 2);
  v2("/mine", 3);
  const auto found = look();
  EXPECT_EQ(tasks(found), (std::vector<std::string>{"cgroup/mine", "cgroup/yarn", "container/" + kId}));
  EXPECT_EQ(found.unknown, std::vector<std::string>{"/yarn"})
      << "a folder around a known shape isn't unknown";
}

TEST_F(CgroupTree, CgroupWithoutACounterTakesNoOtherAlong) {
  v2("/system.slice/a.service", 1);
  v2("/system.slice/b.service", 2);
  files.files[kRoot + "/system.slice/a.service/cpu.stat"] = "nr_periods 0\n";
  const auto found = look();
  EXPECT_EQ(tasks(found), std::vector<std::string>{"unit/b.service"});
  EXPECT_EQ(found.unreadable, 1U);
}

TEST_F(CgroupTree, DepthAndCountAreBoundedAndSaid) {
  for (int i = 0; i < 50; ++i) v2("/system.slice/s" + std::to_string(i) + ".service", i);
  EXPECT_FALSE(look().cut_short);
  limits.folders = 10;
  EXPECT_TRUE(look().cut_short);
  EXPECT_LE(look().folders, 10U);
  limits = {};
  limits.depth = 1;
  EXPECT_TRUE(look().cut_short);
}

}  // namespace
}  // namespace tidewatt::agent
