// lm-sensors, hwmon and powercap listings.
#include "tool_cases.h"

namespace tidewatt::metering {
namespace {

TEST(SensorsText, PowerIsFoundByItsUnitAndLimitsStandBehindIt) {
  const auto r =
      parsed("sensors",
             "amdgpu-pci-0300\nAdapter: PCI adapter\nvddgfx:      775.00 mV \nfan1:        1200 RPM\n"
             "edge:         +48.0 C  (crit = +100.0 C)\n"
             "PPT:          61.25 W  (cap = 220.00 W)\n\n"
             "power_meter-acpi-0\nAdapter: ACPI interface\npower1:      311.00 W  (interval =   1.00 s)\n");
  EXPECT_EQ(brief(r), "PPT=61.25 power1=311");
  EXPECT_DOUBLE_EQ(r.devices[0].power_limit->value(), 220);
  EXPECT_TRUE(r.devices[1].averaged);
  EXPECT_FALSE(r.total);
  EXPECT_EQ(brief(parsed("sensors", "fam15h_power-pci-00c4\npower1:  850.40 mW (crit =  15.04 W)\n")),
            "power1=0.8504");
  EXPECT_EQ(brief(parsed("sensors", "x-acpi-0\npower1:  1.40 kW (interval = 1.00 s)\n")), "power1=1400");
}

TEST(SensorsText, AMeterWithoutDataIsUnknown) {
  EXPECT_EQ(brief(parsed("sensors", "power_meter-acpi-0\npower1:  0.00 W  (interval = 300.00 s)\n")),
            "power1=?");
  EXPECT_EQ(brief(parsed("sensors", "power_meter-acpi-0\npower1:  N/A  (interval = 300.00 s)\n")),
            "power1=?");
}

TEST(SensorsRaw, InputWinsOverAverage) {
  const auto r =
      parsed("sensors",
             "amdgpu-pci-0300\nAdapter: PCI\nvddgfx:\n  in0_input: 0.775\nPPT:\n  power1_average: 60.0\n"
             "  power1_input: 61.5\n  power1_cap: 220.0\npower_meter:\n  power2_average: 0.000\n"
             "  power2_average_interval: 300.0\n");
  EXPECT_EQ(brief(r), "PPT=61.5 power_meter=?");
  EXPECT_DOUBLE_EQ(r.devices[0].average->value(), 60);
  EXPECT_EQ(brief(parsed("sensors",
                         R"({"a-pci-0":{"Adapter":"PCI","PPT":{"power1_average":60.5,"power1_cap":220}}})")),
            "PPT=60.5");
}

TEST(Sensors, NothingToReadIsAnError) {
  EXPECT_NE(refused("sensors", "No sensors found!\nMake sure you loaded\n").find("No sensors"),
            std::string::npos);
  EXPECT_NE(refused("sensors", "coretemp-isa-0000\nAdapter: ISA adapter\nCore 0: +44.0 C\n").find("no chip"),
            std::string::npos);
  refused("sensors", "");
  refused("sensors", "{");
}

TEST(Sensors, NoPieceOfATextGivesAnotherNumber) {
  expect_no_number_from_a_piece("sensors", "a-pci-0\nPPT:  61.25 W  (cap = 220.00 W)\n");
  expect_no_number_from_a_piece("sensors", "a-pci-0\nPPT:\n  power1_average: 60.125\n  power1_cap: 220.0\n");
}

TEST(HwmonTree, MicrowattsOfEveryChannelWithItsLimit) {
  const auto r =
      parsed("hwmon",
             "/sys/class/hwmon/hwmon2/name:amdgpu\n/sys/class/hwmon/hwmon2/power1_average:118500000\n"
             "/sys/class/hwmon/hwmon2/power1_cap:220000000\n/sys/class/hwmon/hwmon2/power1_label:PPT\n"
             "/sys/class/hwmon/hwmon2/temp1_input:48000\n"
             "/sys/devices/pci0000:00/0000:00:18.3/hwmon/hwmon4/name:k10temp\n"
             "/sys/devices/pci0000:00/0000:00:18.3/hwmon/hwmon4/power1_input:45000000\n");
  EXPECT_EQ(brief(r), "hwmon2/power1=118.5 hwmon4/power1=45");
  EXPECT_TRUE(r.devices[0].averaged);
  EXPECT_DOUBLE_EQ(r.devices[0].power_limit->value(), 220);
  EXPECT_EQ(r.devices[0].name, "amdgpu PPT");
  EXPECT_FALSE(r.total);
}

TEST(HwmonTree, ZeroEmptyAndUnreadableAreUnknown) {
  EXPECT_EQ(brief(parsed("hwmon",
                         "/sys/class/hwmon/hwmon0/power1_input: 0\n/sys/class/hwmon/hwmon1/power1_input:\n"
                         "grep: /sys/class/hwmon/hwmon2/power1_input: Operation not permitted\n"
                         "/sys/class/hwmon/hwmon3/power1_input: 4294967295\n")),
            "hwmon0/power1=? hwmon1/power1=? hwmon2/power1=? hwmon3/power1=?");
  refused("hwmon", "/sys/class/hwmon/hwmon0/temp1_input: 40000\n");
  refused("hwmon", "");
}

TEST(RaplTree, ACounterIsNoPowerButHasNameAndLimit) {
  const auto r = parsed("rapl",
                        "/sys/class/powercap/intel-rapl/enabled:1\n"
                        "/sys/class/powercap/intel-rapl:c/name:package-12\n"
                        "/sys/class/powercap/intel-rapl:c/energy_uj:1234567\n"
                        "/sys/class/powercap/intel-rapl:c/max_energy_range_uj:262143328850\n"
                        "/sys/class/powercap/intel-rapl:c/constraint_0_power_limit_uw:4095000000\n"
                        "/sys/class/powercap/intel-rapl:c/constraint_0_max_power_uw:205000000\n"
                        "/sys/class/powercap/intel-rapl:c:0/name (mode 444): dram\n"
                        "/sys/class/powercap/intel-rapl:c:0/energy_uj (mode 400): \n"
                        "/sys/class/powercap/intel-rapl:d/name:package-13\n"
                        "grep: /sys/class/powercap/intel-rapl:d/energy_uj: Permission denied\n"
                        "/sys/class/powercap/intel-rapl-mmio:0/name:package-0\n"
                        "/sys/class/powercap/intel-rapl-mmio:0/energy_uj:18446744073709551615\n"
                        "/sys/class/powercap/intel-rapl-mmio:0/max_energy_range_uj:65532610987\n");
  EXPECT_EQ(brief(r), "intel-rapl:c=? intel-rapl:c:0=? intel-rapl:d=? intel-rapl-mmio:0=?");
  EXPECT_EQ(r.devices[0].reason, "cumulative_energy_counter_needs_two_reads");
  EXPECT_DOUBLE_EQ(r.devices[0].power_limit->value(), 205);  // 4095 W stands for no limit
  EXPECT_EQ(r.devices[1].reason, "tool_prints_nothing");
  EXPECT_EQ(r.devices[2].reason, "Permission denied");
  EXPECT_TRUE(r.devices[3].reason.starts_with("counter_out_of_range")) << r.devices[3].reason;
  refused("rapl", "/sys/class/powercap/intel-rapl/enabled:1\n");
}

TEST(SysfsListing, AFailureWithoutAWordIsStillUnknownForAReason) {
  for (const auto& [tool, line] : {std::pair{"rapl", "cat: /sys/class/powercap/intel-rapl:0/energy_uj: \n"},
                                   std::pair{"hwmon", "cat: /sys/class/hwmon/hwmon0/power1_input: \n"}}) {
    const auto r = read(tool, line);
    ASSERT_EQ(r.devices.size(), 1U) << tool;
    EXPECT_FALSE(r.devices[0].power) << tool;
    EXPECT_EQ(r.devices[0].reason, "can't be read, and the tool doesn't say why") << tool;
  }
}

TEST(SysfsListing, AFileListedAgainHasItsLastValue) {
  const std::string path = "/sys/class/hwmon/hwmon0/";
  const auto turn = [&](int watts) {
    return path + "name:amdgpu\n" + path + "power1_input:" + std::to_string(watts) + "000000\n";
  };
  EXPECT_EQ(brief(parsed("hwmon", turn(45) + turn(50))), brief(parsed("hwmon", turn(50))));
  EXPECT_EQ(brief(parsed("hwmon", turn(45) + path + "power1_input: Permission denied\n")),
            brief(parsed("hwmon", turn(45))));
}

}  // namespace
}  // namespace tidewatt::metering
