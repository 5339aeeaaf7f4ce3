#include "tidewatt/sensors/detect.h"

#include <gtest/gtest.h>

#include "tidewatt/testing/fake_file_system.h"
#include "tidewatt/testing/fake_process.h"
#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::sensors {
namespace {

class Detect : public ::testing::Test {
 protected:
  std::vector<Detection> found() { return detect(files, processes, clock); }
  static const Detection& of(const std::vector<Detection>& all, const std::string& source) {
    for (const auto& d : all)
      if (d.source == source) return d;
    throw std::logic_error{source};
  }
  void zone(const std::string& id, const std::string& name) {
    files.files["/sys/class/powercap/" + id + "/name"] = name;
    files.files["/sys/class/powercap/" + id + "/energy_uj"] = "5";
  }
  testing::FakeFileSystem files;
  testing::FakeProcessRunner processes;
  testing::ManualClock clock{UtcTime{Milliseconds{1'700'000'000'000}}};
};

TEST_F(Detect, ABareMachineSaysForEachSourceWhyNot) {
  const auto all = found();
  ASSERT_EQ(all.size(), 5U);
  for (const auto& d : all) {
    EXPECT_FALSE(d.usable) << d.source;
    EXPECT_FALSE(d.summary.empty()) << d.source;
  }
  EXPECT_EQ(of(all, "nvml").summary,
            "no NVIDIA card on the PCI bus, and libnvidia-ml.so.1 isn't at its usual places");
  EXPECT_EQ(total_in_words(all), "The node's total is unknown: no component can be read.");
}

TEST_F(Detect, ACounterTellsWattsFromItsSecondReading) {
  zone("intel-rapl:0", "package-0");
  const auto all = detect(files, processes, clock, {}, [&](Milliseconds time) {
    clock.advance(time);
    files.files["/sys/class/powercap/intel-rapl:0/energy_uj"] = "20000005";
  });
  ASSERT_EQ(of(all, "rapl").devices.size(), 1U);
  const auto still = detect(files, processes, clock, {}, [&](Milliseconds time) { clock.advance(time); });
  EXPECT_TRUE(of(still, "rapl").usable) << "it stood for a moment, which is no fault";
  EXPECT_NE(of(all, "rapl").devices[0].find(": 100.0 W"), std::string::npos) << of(all, "rapl").devices[0];
}

TEST_F(Detect, NoSourceIsNamedTwice) {
  EXPECT_EQ(of(found(), "rapl").summary.find("no RAPL"), std::string::npos);
  EXPECT_EQ(of(found(), "nvidia-smi").summary.find("nvidia-smi:"), std::string::npos);
}

TEST_F(Detect, AnotherVendorsCardsAreTheNodesGpus) {
  files.files["/sys/bus/pci/devices/0000:03:00.0/vendor"] = "0x1002\n";
  files.files["/sys/bus/pci/devices/0000:03:00.0/class"] = "0x038000\n";
  EXPECT_FALSE(of(found(), "amdsmi").usable) << "there, but not opened";
  files.files["/opt/rocm/bin/rocm-smi"] = "";
  processes.answers.insert_or_assign(
      "/opt/rocm/bin/rocm-smi",
      ProcessOutput{0, R"json({"card0": {"Average Graphics Package Power (W)": "34.0"}})json", ""});
  const auto all = found();
  EXPECT_TRUE(of(all, "rocm-smi").usable);
  EXPECT_EQ(total_in_words(all), "The node's total is gpu (rocm-smi).");
}

TEST_F(Detect, PsysAndPlatformAreNeverAddedToThePackages) {
  zone("intel-rapl:0", "package-0");
  zone("intel-rapl:0:0", "dram");
  zone("intel-rapl:1", "psys");
  files.files["/sys/class/hwmon/hwmon0/name"] = "power_meter";
  files.files["/sys/class/hwmon/hwmon0/power1_average"] = "200000000";
  const auto all = found();
  EXPECT_EQ(of(all, "rapl").summary, "1 x cpu_package, 1 x dram, 1 x psys");
  EXPECT_EQ(total_in_words(all),
            "The node's total is cpu_package (rapl) + dram (rapl), which no package contains. Shown beside "
            "it, never added: "
            "platform (hwmon) contains everything; psys (rapl) contains the packages.");
}

TEST_F(Detect, AnUnreadableZoneIsSeenButNotUsable) {
  zone("intel-rapl:0", "package-0");
  const std::string path = "/sys/class/powercap/intel-rapl:0/energy_uj";
  files.faults[path] = Error{ErrorCode::permission_denied, path + ": permission denied", ""};
  const auto all = found();
  EXPECT_FALSE(of(all, "rapl").usable);
  EXPECT_TRUE(of(all, "rapl").forbidden);
  EXPECT_NE(of(all, "rapl").summary.find("CAP_DAC_READ_SEARCH"), std::string::npos);
}

TEST_F(Detect, OneOfTwoZonesThatCantBeReadIsAnUnknownPart) {
  zone("intel-rapl:0", "package-0");
  zone("intel-rapl:1", "package-1");
  const std::string path = "/sys/class/powercap/intel-rapl:1/energy_uj";
  files.faults[path] = Error{ErrorCode::permission_denied, path + ": Permission denied", ""};
  const auto all = found();
  EXPECT_TRUE(of(all, "rapl").usable);
  EXPECT_TRUE(of(all, "rapl").forbidden);
  EXPECT_EQ(of(all, "rapl").unknown, 1);
  EXPECT_NE(of(all, "rapl").summary.find("1 of 2 can't be read, that part is unknown"), std::string::npos)
      << of(all, "rapl").summary;
  EXPECT_NE(total_in_words(all).find("1 of rapl's devices can't be read"), std::string::npos);
}

TEST_F(Detect, AToolThatFailsOrHangsIsBrokenAndNotAbsent) {
  EXPECT_FALSE(of(found(), "nvidia-smi").broken) << "it isn't installed";
  processes.answers.insert_or_assign("nvidia-smi", ProcessOutput{9, "", "NVIDIA-SMI has failed"});
  EXPECT_TRUE(of(found(), "nvidia-smi").broken);
  EXPECT_NE(of(found(), "nvidia-smi").summary.find("9"), std::string::npos);
}

TEST_F(Detect, AToolThatAutoDoesNotReadSaysHowToSetIt) {
  files.files["/opt/rocm/bin/rocm-smi"] = "";
  processes.answers.insert_or_assign(
      "/opt/rocm/bin/rocm-smi",
      ProcessOutput{0, R"json({"card0": {"Average Graphics Package Power (W)": "34.0"}})json", ""});
  EXPECT_NE(of(found(), "rocm-smi").todo.find("[auto, tool:rocm-smi]"), std::string::npos);
  files.files["/sys/bus/pci/devices/0000:03:00.0/vendor"] = "0x1002\n";
  files.files["/sys/bus/pci/devices/0000:03:00.0/class"] = "0x038000\n";
  EXPECT_TRUE(of(found(), "rocm-smi").todo.empty());
}

TEST_F(Detect, CardsWithoutALibraryAreCalledUnseenNotAbsent) {
  files.files["/sys/bus/pci/devices/0000:3b:00.0/vendor"] = "0x10de";
  files.files["/sys/bus/pci/devices/0000:3b:00.0/class"] = "0x030200";
  const auto all = found();
  EXPECT_TRUE(of(all, "nvml").summary.starts_with("1 NVIDIA cards on the PCI bus, but libnvidia-ml.so.1"));
  EXPECT_EQ(of(all, "nvml").devices.size(), 1U);
}

TEST_F(Detect, ALibraryIsLookedForFoundAndOpened) {
  files.files["/dev/davinci_manager"] = "";
  const auto told = [&](const LibraryLook& open) {
    return of(detect(files, processes, clock, open), "dcmi");
  };
  const auto missing = told([](const std::string&) {
    return fail(ErrorCode::not_found, "DCMI can't be opened", "install the driver");
  });
  EXPECT_FALSE(missing.usable);
  EXPECT_EQ(
      missing.summary,
      "libdcmi.so, /usr/local/dcmi/libdcmi.so, /usr/local/Ascend/driver/lib64/driver/libdcmi.so not at the "
      "usual places; DCMI can't be opened (install the driver)");
  files.files["/usr/local/dcmi/libdcmi.so"] = "";
  EXPECT_EQ(told({}).summary, "/usr/local/dcmi/libdcmi.so found, not opened: the agent does that");
  const auto broken = told([](const std::string&) { return fail(ErrorCode::timed_out, "no answer"); });
  EXPECT_EQ(broken.summary, "/usr/local/dcmi/libdcmi.so found; no answer");
  const auto seen = told([](const std::string& library) -> Result<std::vector<Reading>> {
    Reading card;
    card.domain = "gpu";
    card.source = library;
    card.power = Watts{70};
    Reading dark = card;
    dark.index = 1;
    dark.power.reset();
    dark.reason = "not supported";
    return std::vector{card, dark};
  });
  EXPECT_TRUE(seen.usable);
  EXPECT_EQ(seen.summary,
            "/usr/local/dcmi/libdcmi.so opened; 2 x gpu; 1 of 2 can't be read, that part is unknown: not "
            "supported");
  EXPECT_EQ(seen.devices.back(), "gpu 1: unknown: not supported");
  const auto none = told([](const std::string&) { return std::vector<Reading>{}; });
  EXPECT_EQ(none.summary, "/usr/local/dcmi/libdcmi.so opened; it counts no card");
}

TEST_F(Detect, AVirtualMachineIsToldByItsFirmwareOrItsCpu) {
  EXPECT_EQ(hypervisor(files), "");
  files.files["/sys/class/dmi/id/sys_vendor"] = "QEMU\n";
  EXPECT_EQ(hypervisor(files), "QEMU");
  files.files["/proc/cpuinfo"] = "model name\t: x\nflags\t\t: fpu vme\n";
  EXPECT_EQ(hypervisor(files), "") << "the name of a firm that makes real machines, too";
  files.files["/proc/cpuinfo"] = "model name\t: x\nflags\t\t: fpu hypervisor vme\n";
  EXPECT_EQ(hypervisor(files), "QEMU");
  files.files.erase("/sys/class/dmi/id/sys_vendor");
  EXPECT_EQ(hypervisor(files), "a hypervisor");
}

TEST_F(Detect, TheLibraryMakesTheTotalWhereItIsUsable) {
  files.files["/usr/lib64/libnvidia-ml.so.1"] = "";
  files.files["/proc/driver/nvidia/version"] = "NVRM version: 580\nGCC\n";
  EXPECT_EQ(total_in_words(found()), "The node's total is gpu (nvml).");
}

TEST_F(Detect, WithoutComponentsTheBmcsMeterIsTheTotal) {
  files.files["/dev/ipmi0"] = "";
  processes.answers.insert_or_assign(
      "ipmitool",
      ProcessOutput{0, "Instantaneous power reading: 310 Watts\nPower reading state is: activated\n", ""});
  const auto all = found();
  EXPECT_EQ(of(all, "ipmi").summary, "1 x platform");
  EXPECT_EQ(total_in_words(all),
            "The node's total is its whole-machine meter, platform (ipmi): no component can be read.");
}

}  // namespace
}  // namespace tidewatt::sensors
