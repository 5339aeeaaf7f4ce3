#include "tidewatt/attribution/cgroup_path.h"

#include <gtest/gtest.h>

#include <ostream>

namespace tidewatt::attribution {
namespace {

const std::string kId = "65d752a3f1c04d8e9b7a6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f";
const std::string kOuter = "00aa52a3f1c04d8e9b7a6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f";
const std::string kUid = "51b64565-0d3c-4c7e-9f11-2a6b8c9d0e1f";
const std::string kUid_ = "51b64565_0d3c_4c7e_9f11_2a6b8c9d0e1f";

struct Case {
  std::string path;
  std::string shape;
  std::string task;
  std::string account;  ///< end of the account path; empty = the whole path
  std::string label{};  ///< "name=value" that must be there
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.path; }

class CgroupPathShape : public ::testing::TestWithParam<Case> {};

TEST_P(CgroupPathShape, NamesItsWorkload) {
  const auto& c = GetParam();
  const auto found = workload_of_path(c.path);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->shape, c.shape);
  EXPECT_EQ(found->task_id, c.task);
  EXPECT_TRUE(found->account_path.ends_with(c.account.empty() ? c.path : c.account)) << found->account_path;
  if (c.label.empty()) return;
  const auto equals = c.label.find('=');
  const auto* value = found->label(c.label.substr(0, equals));
  ASSERT_NE(value, nullptr) << c.label;
  EXPECT_EQ(*value, c.label.substr(equals + 1));
}

const std::vector<Case> kCases{
    // Kubernetes, cgroupfs driver: guaranteed pods have no level of their own.
    {"/kubepods/pod" + kUid + "/" + kId, "pod-cgroupfs", "pod/" + kUid, "pod" + kUid, "container_id=" + kId},
    {"/kubepods/burstable/pod" + kUid + "/" + kId, "pod-cgroupfs", "pod/" + kUid, "pod" + kUid},
    {"/kubepods/besteffort/pod" + kUid, "pod-cgroupfs", "pod/" + kUid, ""},
    {"/kubepods/burstable/pod0123456789abcdef0123456789abcdef/" + kId, "pod-cgroupfs",
     "pod/0123456789abcdef0123456789abcdef", "pod0123456789abcdef0123456789abcdef"},  // a static pod
    // systemd driver
    {"/kubepods.slice/kubepods-pod" + kUid_ + ".slice/cri-containerd-" + kId + ".scope", "pod-systemd",
     "pod/" + kUid, "pod" + kUid_ + ".slice", "runtime=containerd"},
    {"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + kUid_ + ".slice/crio-" + kId +
         ".scope",
     "pod-systemd", "pod/" + kUid, "pod" + kUid_ + ".slice", "runtime=cri-o"},
    {"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + kUid_ + ".slice/crio-conmon-" +
         kId + ".scope",
     "pod-systemd", "pod/" + kUid, "pod" + kUid_ + ".slice", "container_id=" + kId},
    {"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + kUid_ + ".slice/docker-" + kId +
         ".scope",
     "pod-systemd", "pod/" + kUid, "pod" + kUid_ + ".slice", "runtime=docker"},
    // a systemd path given to a cgroupfs runtime
    {"/system.slice/containerd.service/kubepods-burstable-pod" + kUid_ + ".slice:cri-containerd:" + kId,
     "pod-systemd", "pod/" + kUid, "", "container_id=" + kId},
    {"/system.slice:docker:" + kId, "container-colons", "container/" + kId, "", "runtime=docker"},
    // a kubelet inside a container
    {"/docker/" + kOuter + "/kubelet/kubepods/burstable/pod" + kUid + "/" + kId, "pod-cgroupfs",
     "pod/" + kUid, "pod" + kUid, "container_id=" + kId},
    {"/system.slice/docker-" + kOuter +
         ".scope/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/"
         "kubelet-kubepods-burstable-pod" +
         kUid_ + ".slice/cri-containerd-" + kId + ".scope",
     "pod-systemd", "pod/" + kUid, "pod" + kUid_ + ".slice", "container_id=" + kId},
    // a container that a pod runs is the pod's business
    {"/kubepods/pod" + kUid + "/" + kOuter + "/docker/" + kId, "pod-cgroupfs", "pod/" + kUid, "pod" + kUid,
     "container_id=" + kId},
    // Docker, containerd, podman
    {"/docker/" + kId, "docker-cgroupfs", "container/" + kId, "", "runtime=docker"},
    {"/system.slice/docker-" + kId + ".scope", "docker-systemd", "container/" + kId, ""},
    {"/docker/" + kOuter + "/docker/" + kId, "docker-cgroupfs", "container/" + kId, ""},
    {"/docker/" + kId + "/system.slice/ssh.service", "docker-cgroupfs", "container/" + kId, kId},
    {"/docker/buildkit/abc123xyz", "docker-buildkit", "container/abc123xyz", ""},
    {"/system.slice/nerdctl-" + kId + ".scope", "containerd-nerdctl", "container/" + kId, ""},
    {"/default/" + kId, "container-bare", "container/" + kId, ""},
    {"/k8s.io/" + kId, "container-bare", "container/" + kId, ""},
    {"/machine.slice/libpod-" + kId + ".scope/container", "podman-systemd", "container/" + kId, ".scope"},
    {"/machine.slice/libpod-conmon-" + kId + ".scope", "podman-conmon", "container/" + kId, ""},
    {"/libpod_parent/libpod-" + kId, "podman-cgroupfs", "container/" + kId, ""},
    {"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + kId + ".scope/container",
     "podman-systemd", "container/" + kId, ".scope", "runtime=podman"},
    {"/machine.slice/machine-libpod_pod_" + kOuter + ".slice/libpod-" + kId + ".scope", "podman-systemd",
     "container/" + kId, ""},
    {"/crio-" + kId, "crio-cgroupfs", "container/" + kId, ""},
    {"/ecs/0123456789abcdef0123456789abcdef/0123456789abcdef0123456789abcdef-1357911131", "ecs-task",
     "container/0123456789abcdef0123456789abcdef-1357911131", ""},
    // LXC, machines
    {"/lxc/web-1/system.slice/nginx.service", "lxc-folder", "lxc/web-1", "/lxc/web-1"},
    {"/lxc.payload.web-1/init.scope", "lxc-payload", "lxc/web-1", "web-1"},
    {"/lxc.monitor.web-1", "lxc-monitor", "lxc/web-1", ""},
    {"/lxc.payload/web-1", "lxc-payload-folder", "lxc/web-1", ""},
    {"/machine.slice/machine-qemu\\x2d3\\x2dvm1.scope/libvirt/vcpu0", "machine-systemd", "machine/qemu-3-vm1",
     ".scope"},
    {"/machine/vm1.libvirt-qemu/vcpu0", "machine-libvirt", "machine/vm1", "vm1.libvirt-qemu"},
    {"/qemu.slice/100.scope", "machine-qemu", "machine/100", ""},
    // Slurm
    {"/slurm/uid_1001/job_4242/step_0/task_1", "slurm-job", "slurm/4242", "job_4242", "slurm_step=0"},
    {"/slurm_gpu-a01/uid_1001/job_4242/step_batch", "slurm-job", "slurm/4242", "job_4242",
     "slurm_step=batch"},
    {"/system.slice/slurmstepd.scope/job_4242/step_0/user/task_0", "slurm-job", "slurm/4242", "job_4242",
     "slurm_step=0"},
    {"/system.slice/gpu-a01_slurmstepd.scope/job_4242/step_extern/user", "slurm-job", "slurm/4242",
     "job_4242"},
    {"/system.slice/slurmstepd.scope/s5K1KKYAYG5D00/step_0/user", "slurm-sluid", "slurm/s5K1KKYAYG5D00",
     "s5K1KKYAYG5D00", "slurm_sluid=s5K1KKYAYG5D00"},
    {"/system.slice/slurmstepd.scope/system", "unit-scope", "unit/slurmstepd.scope", "slurmstepd.scope"},
    {"/system.slice/slurmstepd.scope/job_7/step_0/user/task_0/libpod-" + kId + ".scope", "slurm-job",
     "slurm/7", "job_7", "container_id=" + kId},
    {"/kubepods/pod" + kUid + "/" + kId + "/slurm/uid_0/job_9/step_0", "slurm-job", "slurm/9", "job_9"},
    // units and people
    {"/system.slice/ollama.service", "unit-service", "unit/ollama.service", ""},
    {"/system.slice/system-getty.slice/getty@tty1.service", "unit-service", "unit/getty@tty1.service", ""},
    {"/system.slice/my\\x2dapp.service/worker", "unit-service", "unit/my-app.service", ".service"},
    {"/init.scope", "unit-scope", "unit/init.scope", ""},
    {"/user.slice/user-1000.slice/session-3.scope", "user-slice", "user/1000", "user-1000.slice",
     "unit=session-3.scope"},
    {"/user.slice/user-1000.slice/user@1000.service/app.slice/app-code.scope", "user-slice", "user/1000",
     "user-1000.slice"},
    // Job folders that aren't Slurm's, ids that are none
    {"/mine/job_12/task", "unknown", "cgroup/mine", "/mine"},
    {"/docker-short.scope", "unit-scope", "unit/docker-short.scope", ""},
    {"/yarn/application_1_2/container_3", "unknown", "cgroup/yarn", "/yarn"},
    {"/kubepods/besteffort/podlet/x", "unknown", "cgroup/kubepods/besteffort/podlet", "podlet"},
};
INSTANTIATE_TEST_SUITE_P(Table, CgroupPathShape, ::testing::ValuesIn(kCases));

TEST(CgroupPath, WhatOnlyGroupsOthersIsNobodys) {
  for (const char* path : {"/", "", "/system.slice", "/kubepods", "/kubepods/burstable", "/kubepods.slice",
                           "/kubepods.slice/kubepods-besteffort.slice", "/slurm", "/slurm/uid_1001",
                           "/docker", "/user.slice", "/slurm_gpu-a01/uid_0"})
    EXPECT_FALSE(workload_of_path(path)) << path;
}

TEST(ProcessCgroup, RemovedCgroupIsStillItsOwners) {
  EXPECT_EQ(workload_of_process("0::/docker/" + kId + " (deleted)\n")->task_id, "container/" + kId);
}

TEST(CgroupPath, PathSeenFromAnotherNamespaceIsRead) {
  EXPECT_EQ(workload_of_path("/../../kubepods/pod" + kUid)->task_id, "pod/" + kUid);
}

TEST(CgroupPath, HostileNamesStayBoundedAndPrintable) {
  const auto found = workload_of_path("/system.slice/a\nb\x01\xff" + std::string(5000, 'x') + ".service");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->task_id.substr(0, 11), "unit/a?b??x");
  EXPECT_LE(found->task_id.size(), 256U);
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += "/x";
  EXPECT_EQ(workload_of_path(deep)->task_id, "cgroup/x");
}

TEST(ProcessCgroup, ReadsVersion2) {
  EXPECT_EQ(workload_of_process("0::/system.slice/slurmstepd.scope/job_5/step_0/user/task_0\n")->task_id,
            "slurm/5");
}

TEST(ProcessCgroup, ReadsVersion1InAnyOrderOfControllers) {
  const std::string lines = "11:cpuset:/docker/" + kId + "\n4:cpuacct,cpu:/docker/" + kId +
                            "\n1:name=systemd:/docker/" + kId + "\n";
  EXPECT_EQ(workload_of_process(lines)->task_id, "container/" + kId);
}

TEST(ProcessCgroup, LineThatSaysMostWins) {
  // Slurm that bounds memory and devices only: the other controllers stay at the daemon's.
  EXPECT_EQ(workload_of_process("9:cpu,cpuacct:/system.slice/slurmd.service\n"
                                "6:devices:/slurm/uid_1/job_77/step_0\n"
                                "0::/system.slice/slurmd.service\n")
                ->task_id,
            "slurm/77");
}

TEST(ProcessCgroup, HybridReadsTheLegacyHierarchiesToo) {
  EXPECT_EQ(workload_of_process("5:memory:/kubepods/pod" + kUid + "/" + kId + "\n0::/\n")->task_id,
            "pod/" + kUid);
}

TEST(ProcessCgroup, PathMayHoldColons) {
  EXPECT_EQ(
      workload_of_process("0::/system.slice/kubepods-pod" + kUid_ + ".slice:cri-containerd:" + kId + "\n")
          ->task_id,
      "pod/" + kUid);
}

TEST(ProcessCgroup, GarbageIsNobody) {
  for (const char* text : {"", "\n", "0::", "0:", ":::", "x", "0::/\n", "random garbage\n"})
    EXPECT_FALSE(workload_of_process(text)) << text;
}

}  // namespace
}  // namespace tidewatt::attribution
