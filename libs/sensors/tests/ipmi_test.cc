#include <gtest/gtest.h>

#include "tidewatt/sensors/node_meters.h"
#include "tidewatt/testing/fake_file_system.h"
#include "tidewatt/testing/fake_process.h"
#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::sensors {
namespace {

constexpr const char* kReading =
    "\n    Instantaneous power reading:                   533 Watts\n"
    "    Maximum during sampling period:                977 Watts\n"
    "    Power reading state is:                   activated\n";

class Ipmi : public ::testing::Test {
 protected:
  Ipmi() { files.files["/dev/ipmi0"] = ""; }
  Result<std::vector<Reading>> read(IpmiOptions options = {}) {
    return make_ipmi(files, processes, clock, std::move(options))->read();
  }
  void answer(const std::string& tool, int exit_code, std::string out, std::string err = {}) {
    processes.answers.insert_or_assign(tool, ProcessOutput{exit_code, std::move(out), std::move(err)});
  }
  testing::FakeFileSystem files;
  testing::FakeProcessRunner processes;
  testing::ManualClock clock{UtcTime{Milliseconds{1'700'000'000'000}}};
};

TEST_F(Ipmi, TheBmcsReadingIsTheNodesInput) {
  answer("ipmitool", 0, kReading);
  const auto readings = read();
  ASSERT_TRUE(readings);
  ASSERT_EQ(readings->size(), 1U);
  EXPECT_EQ(readings->at(0).domain, "platform");
  EXPECT_EQ(readings->at(0).source, "ipmi-dcmi");
  EXPECT_DOUBLE_EQ(readings->at(0).power->value(), 533);
  EXPECT_EQ(processes.asked.at(0), (std::vector<std::string>{"ipmitool", "dcmi", "power", "reading"}));
}

TEST_F(Ipmi, AnExitStatusOfZeroIsNoSuccess) {
  answer("ipmitool", 0, "\n    DCMI request failed because: Invalid command (c1)\n");
  const auto readings = read();
  ASSERT_FALSE(readings);
  EXPECT_NE(readings.error().message.find("Invalid command"), std::string::npos);
  answer("ipmitool", 0, "", "Could not open device at /dev/ipmi0: No such file or directory\n");
  EXPECT_FALSE(read());
  answer("ipmitool", 0, "");
  EXPECT_FALSE(read());
  answer("ipmitool", 0, "\xff\xfe\x00garbage|||");
  EXPECT_FALSE(read());
}

TEST_F(Ipmi, AFailedProcessGivesNothingWhateverItPrinted) {
  answer("ipmitool", 1, kReading, "Error: lost session\n");
  const auto readings = read();
  ASSERT_FALSE(readings);
  EXPECT_EQ(readings.error().message, "ipmitool ended with 1: Error: lost session");
  processes.answers.insert_or_assign("ipmitool", fail(ErrorCode::timed_out, "ipmitool: no answer in 5 s"));
  EXPECT_EQ(read().error().code, ErrorCode::timed_out);
}

TEST_F(Ipmi, ADeactivatedReadingIsUnknownButThere) {
  answer("ipmitool", 0, "Instantaneous power reading: 533 Watts\nPower reading state is: deactivated\n");
  const auto readings = read();
  ASSERT_TRUE(readings);
  EXPECT_FALSE(readings->at(0).power);
  EXPECT_EQ(readings->at(0).reason, "power_reading_state_deactivated");
}

TEST_F(Ipmi, WithoutADeviceNoProcessIsStarted) {
  files.files.clear();
  EXPECT_EQ(read().error().code, ErrorCode::not_found);
  EXPECT_TRUE(processes.asked.empty());
}

TEST_F(Ipmi, FreeIpmiStandsIn) {
  answer("ipmi-dcmi", 0, "Current Power : 88 Watts\nPower Measurement : Active\n");
  EXPECT_DOUBLE_EQ(read()->at(0).power->value(), 88);
  processes.answers.clear();
  EXPECT_EQ(read().error().code, ErrorCode::not_found);
}

TEST_F(Ipmi, ASensorInWattsStandsInWhereTheBoardHasNoDcmi) {
  answer("/opt/ipmitool", 0,
         "Sensor ID              : Pwr (0x77)\n Sensor Reading        : 266 (+/- 0) Watts\n");
  const auto readings = read({.tool = "/opt/ipmitool", .sensor = "Pwr"});
  EXPECT_DOUBLE_EQ(readings->at(0).power->value(), 266);
  EXPECT_EQ(readings->at(0).source, "ipmi-sensor");
  EXPECT_EQ(processes.asked.at(0).back(), "Pwr");
}

TEST_F(Ipmi, ASensorThatIsNotThereIsNamedWithWhereToLook) {
  for (const int exit_code : {0, 1}) {
    answer("ipmitool", exit_code, "", "Unable to find sensor id 'Nope'\n");
    const auto readings = read({.tool = "", .sensor = "Nope"});
    ASSERT_FALSE(readings);
    EXPECT_EQ(readings.error().message, "no sensor \"Nope\"");
    EXPECT_EQ(readings.error().hint, "`ipmitool sdr list` names them");
  }
}

}  // namespace
}  // namespace tidewatt::sensors
