#include <gtest/gtest.h>

#include "tidewatt/sensors/sources.h"
#include "tidewatt/testing/fake_file_system.h"
#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::sensors {
namespace {

class Hwmon : public ::testing::Test {
 protected:
  void put(const std::string& chip, const std::string& file, const std::string& content) {
    files.files["/sys/class/hwmon/" + chip + "/" + file] = content + "\n";
  }
  testing::FakeFileSystem files;
  testing::ManualClock clock{UtcTime{Milliseconds{1'700'000'000'000}}};
  std::unique_ptr<Source> source = make_hwmon(files, clock);
};

TEST_F(Hwmon, AnAcpiPowerMeterIsThePlatform) {
  put("hwmon0", "name", "power_meter");
  put("hwmon0", "power1_average", "288000000");
  const auto readings = source->read();
  ASSERT_TRUE(readings);
  EXPECT_EQ(readings->at(0).domain, "platform");
  EXPECT_DOUBLE_EQ(readings->at(0).power->value(), 288);
}

TEST_F(Hwmon, OtherChipsAreBoardsWhichNoTotalContains) {
  put("hwmon0", "name", "ina226");
  put("hwmon0", "power1_input", "41500000");
  put("hwmon0", "power1_label", "VDD");
  const auto readings = source->read();
  EXPECT_EQ(readings->at(0).domain, "board");
  EXPECT_EQ(readings->at(0).model, "ina226 VDD");
}

TEST_F(Hwmon, TheInstantValueIsTakenAndCapAndMaxNever) {
  put("hwmon0", "name", "chip");
  put("hwmon0", "power1_average", "118000000");
  put("hwmon0", "power1_input", "120000000");
  put("hwmon0", "power1_cap", "300000000");
  put("hwmon0", "power1_max", "350000000");
  put("hwmon0", "power1_input_highest", "340000000");
  const auto readings = source->read();
  ASSERT_EQ(readings->size(), 1U);
  EXPECT_DOUBLE_EQ(readings->at(0).power->value(), 120);
}

TEST_F(Hwmon, ZeroSentinelAndGarbageAreUnknown) {
  put("hwmon0", "name", "power_meter");
  for (const char* text : {"0", "4294967295", "-1", "", "abc", "9223372036854775807"}) {
    put("hwmon0", "power1_average", text);
    const auto readings = source->read();
    ASSERT_TRUE(readings);
    EXPECT_FALSE(readings->at(0).power) << text;
    EXPECT_FALSE(readings->at(0).reason.empty()) << text;
  }
}

TEST_F(Hwmon, ASuspendedDeviceIsNotTouched) {
  put("hwmon0", "name", "amdgpu");
  put("hwmon0", "power1_input", "20000000");
  put("hwmon0", "device/power/runtime_status", "suspended");
  EXPECT_EQ(source->read()->at(0).reason, "suspended");
}

TEST_F(Hwmon, AFailingChannelTakesNoOtherAlong) {
  put("hwmon0", "name", "chip");
  put("hwmon0", "power1_input", "20000000");
  put("hwmon0", "power2_input", "30000000");
  const std::string path = "/sys/class/hwmon/hwmon0/power1_input";
  files.faults[path] = Error{ErrorCode::io, path + ": input/output error", ""};
  const auto readings = source->read();
  EXPECT_FALSE(readings->at(0).power);
  EXPECT_DOUBLE_EQ(readings->at(1).power->value(), 30);
}

TEST_F(Hwmon, AVanishedSensorIsMissedAndGivesNoOtherItsNumber) {
  for (const auto& [chip, watts] : {std::pair{"hwmon0", "288000000"}, std::pair{"hwmon1", "500000000"}}) {
    put(chip, "name", "power_meter");
    put(chip, "power1_average", watts);
  }
  source->read();
  const auto both = files.files;
  std::erase_if(files.files,
                [](const auto& file) { return file.first.find("hwmon0/") != std::string::npos; });
  clock.advance(Milliseconds{60'000});
  const auto one = source->read();
  ASSERT_EQ(one->size(), 2U);
  EXPECT_EQ(one->at(0).index, 0);
  EXPECT_FALSE(one->at(0).power);
  EXPECT_EQ(one->at(0).reason, "the sensor /sys/class/hwmon/hwmon0/power1_average has vanished");
  EXPECT_EQ(one->at(1).index, 1);
  EXPECT_DOUBLE_EQ(one->at(1).power->value(), 500);
  put("hwmon2", "name", "power_meter");
  put("hwmon2", "power1_average", "77000000");
  clock.advance(Milliseconds{60'000});
  EXPECT_EQ(source->read()->at(2).index, 2) << "a new one gets a number of its own";
  files.files = both;
  clock.advance(Milliseconds{60'000});
  EXPECT_DOUBLE_EQ(source->read()->at(0).power->value(), 288) << "back in its account";
  std::erase_if(files.files,
                [](const auto& file) { return file.first.find("hwmon0/") != std::string::npos; });
  clock.advance(Milliseconds{60'000});
  source->read();
  clock.advance(Milliseconds{3'660'000});
  const auto last = source->read();
  for (const auto& reading : *last) EXPECT_NE(reading.index, 0) << "forgotten after an hour";
}

TEST_F(Hwmon, AMachineWithoutPowerSensorsSaysSo) {
  put("hwmon0", "name", "coretemp");
  put("hwmon0", "temp1_input", "40000");
  EXPECT_EQ(source->read().error().code, ErrorCode::not_found);
}

TEST_F(Hwmon, ACapIsTheLimitAndTheAverageStandsInForAFailingInput) {
  const std::string chip = "/sys/class/hwmon/hwmon7/";
  files.files[chip + "name"] = "power_meter\n";
  files.files[chip + "power1_input"] = "300000000\n";
  files.files[chip + "power1_average"] = "290000000\n";
  files.files[chip + "power1_cap"] = "750000000\n";
  EXPECT_DOUBLE_EQ(source->read()->at(0).power->value(), 300);
  EXPECT_DOUBLE_EQ(source->read()->at(0).power_limit->value(), 750);
  files.faults[chip + "power1_input"] = Error{ErrorCode::io, "power1_input: no data available", ""};
  EXPECT_DOUBLE_EQ(source->read()->at(0).power->value(), 290);
}

}  // namespace
}  // namespace tidewatt::sensors
