#include "tool_cases.h"

namespace tidewatt::metering {
namespace {

std::string dcmi(std::string_view state = "activated", std::string_view watts = "412") {
  return "\n    Instantaneous power reading:                   " + std::string{watts} +
         " Watts\n"
         "    Minimum during sampling period:                301 Watts\n"
         "    Maximum during sampling period:                977 Watts\n"
         "    Average power reading over sample period:      398 Watts\n"
         "    IPMI timestamp:                           Tue Mar  3 10:11:12 2026\n"
         "    Sampling period:                          00000060 Seconds.\n"
         "    Power reading state is:                   " +
         std::string{state} + "\n\n";
}

TEST(IpmiDcmi, OnlyTheInstantaneousLineIsTheDraw) {
  const auto r = parsed("ipmi", dcmi());
  EXPECT_EQ(brief(r), "0=412");
  EXPECT_DOUBLE_EQ(r.devices[0].average->value(), 398);
  EXPECT_FALSE(r.devices[0].power_limit);
  EXPECT_DOUBLE_EQ(r.total->value(), 412);
}

TEST(IpmiDcmi, CountsOnlyWhileTheReadingIsActivated) {
  for (const auto* state : {"deactivated", "not available", ""}) {
    const auto r = parsed("ipmi", dcmi(state));
    EXPECT_EQ(brief(r), "0=?") << state;
  }
  EXPECT_EQ(parsed("ipmi", dcmi("deactivated")).devices[0].reason, "power_reading_state_deactivated");
  EXPECT_FALSE(parsed("ipmi", dcmi("deactivated")).total);
}

TEST(IpmiDcmi, WithoutItsStateItWasCutOffUnlessAFilterDroppedIt) {
  const std::string line = "Instantaneous power reading:   412 Watts\n";
  EXPECT_EQ(brief(parsed("ipmi", line, "ipmitool dcmi power reading")), "0=?");
  EXPECT_EQ(brief(parsed("ipmi", line, "ipmitool dcmi power reading | grep Inst")), "0=412");
}

TEST(IpmiDcmi, ZeroAndBlanksAreUnknown) {
  EXPECT_EQ(parsed("ipmi", dcmi("activated", "0")).devices[0].reason, "printed_zero_implausible");
  EXPECT_EQ(brief(parsed("ipmi", dcmi("activated", "65535"))), "0=?");
  EXPECT_EQ(brief(parsed("ipmi", dcmi("activated", "-5"))), "0=?");
  EXPECT_EQ(brief(parsed("ipmi", dcmi("activated", "na"))), "0=?");
}

TEST(IpmiDcmi, TimestampAndPeriodOnOneLineDoNotMatter) {
  EXPECT_EQ(brief(parsed("ipmi",
                         "    Instantaneous power reading:   207 Watts\n"
                         "    IPMI timestamp:   03/03/26 UTC    Sampling period:   00000005 Seconds.\n"
                         "    Power reading state is:                   activated\n")),
            "0=207");
}

TEST(IpmiDcmi, FreeIpmiAndIpmiutilSayCurrentPower) {
  EXPECT_EQ(brief(parsed("ipmi",
                         "Current Power                        : 351 Watts\n"
                         "Minimum Power over sampling duration : 12 watts\n"
                         "Average Power over sampling duration : 340 watts\n"
                         "Power Measurement                    : Active\n")),
            "0=351");
  const auto r = parsed("ipmi",
                        "ipmiutil dcmi ver 3.1\n  Current Power:                   88 Watts\n"
                        "  Max Power over sample duration:  290 Watts\n"
                        "  Power reading state is:          active\n"
                        "  Power Limit:       700 Watts (inactive)\n");
  EXPECT_EQ(brief(r), "0=88");
  EXPECT_DOUBLE_EQ(r.devices[0].power_limit->value(), 700);
  EXPECT_EQ(brief(parsed("ipmi", "Current Power : 351 Watts\nPower Measurement : Not Active\n")), "0=?");
}

TEST(IpmiDcmi, AFailureIsOneThoughTheToolExitsWithZero) {
  for (const auto* text :
       {"\n    DCMI request failed because: Invalid command (c1)\n",
        "Could not open device at /dev/ipmi0 or /dev/ipmi/0: No such file or directory\n",
        "Error: Unable to establish IPMI v2 / RMCP+ session\n", "  \n", "", "ipmi-dcmi: driver timeout\n"})
    refused("ipmi", text);
  EXPECT_NE(refused("ipmi", "DCMI request failed because: Invalid command (c1)\n").find("Invalid command"),
            std::string::npos);
  EXPECT_NE(refused("ipmi", "lorem ipsum\n").find("line 1"), std::string::npos);
}

TEST(IpmiSensors, TheUnitDecidesNotTheName) {
  EXPECT_EQ(brief(parsed("ipmi",
                         "Inlet Temp       | 04h | ok  |  7.1 | 23 degrees C\n"
                         "Current 1        | 6Ah | ok  | 10.1 | 1.20 Amps\n"
                         "Voltage 1        | 6Ch | ok  | 10.1 | 230 Volts\n"
                         "Pwr Consumption  | 77h | ok  |  7.1 | 266 Watts\n"
                         "PSU1 Status      | 78h | ok  | 10.1 | 130 Watts, Presence detected\n")),
            "Pwr Consumption=266 PSU1 Status=130");
  EXPECT_EQ(brief(parsed("ipmi",
                         "TOTAL_PWR        | 301.000    | Watts      | ok    | na        | na  | 990.0\n"
                         "PSU2_PIN         | na         | Watts      | na    | na        | na  | na\n")),
            "TOTAL_PWR=301 PSU2_PIN=?");
}

TEST(IpmiSensors, AveragesAndLimitsAreNoDraw) {
  const auto r = parsed("ipmi",
                        "Avg Power        | 210 Watts         | ok\n"
                        "Power Cap        | 900 Watts         | ok\n"
                        "Peak Power       | 450 Watts         | ok\n"
                        "Sys Power        | 220 Watts         | ok\n"
                        "Unable to send command: Invalid argument\n");
  EXPECT_EQ(brief(r), "Avg Power=? Sys Power=220");
  EXPECT_DOUBLE_EQ(r.devices[0].average->value(), 210);
  EXPECT_FALSE(r.total);
}

TEST(IpmiSensors, OtherProgramsListsAreReadToo) {
  EXPECT_EQ(brief(parsed("ipmi",
                         "ID  | Name          | Type    | Reading    | Units | Event\n"
                         "4   | Ambient       | Temperature | 25.00  | C     | 'OK'\n"
                         "96  | System Level  | Current | 182.00     | W     | 'OK'\n"
                         "97  | Spare Supply  | Current | N/A        | W     | N/A\n")),
            "System Level=182 Spare Supply=?");
  EXPECT_EQ(brief(parsed("ipmi", "96: System Level (Current): 182.00 W (NA/896.00): [OK]\n")),
            "System Level=182");
  EXPECT_EQ(brief(parsed("ipmi", "Pwr Consumption,266,Watts,ok\nTemp,25,degrees C,ok\n")),
            "Pwr Consumption=266");
  EXPECT_EQ(
      brief(parsed("ipmi", "000a SDR Full 01 3b 20 a 01 snum 2e Power Meter  = 1a OK   104.00 Watts\n")),
      "Power Meter=104");
  EXPECT_EQ(
      brief(parsed("ipmi",
                   "Locating sensor record...\nSensor ID              : SYS_POWER (0x8a)\n"
                   " Sensor Type (Threshold)  : Current\n Sensor Reading        : 175 (+/- 0) Watts\n")),
      "SYS_POWER=175");
}

TEST(IpmiSensors, AListWithoutWattsSaysSo) {
  EXPECT_NE(
      refused("ipmi", "Current 1 | 6Ah | ok | 10.1 | 1.20 Amps\n").find("none of 1 sensors is in watts"),
      std::string::npos);
}

TEST(IpmiCapmc, AWindowsMeanIsAnAverage) {
  const auto r = parsed("ipmi", R"({"avg":812,"min":700,"max":900,"window_len":600,"e":0,"err_msg":""})");
  EXPECT_EQ(brief(r), "0=?");
  EXPECT_DOUBLE_EQ(r.devices[0].average->value(), 812);
  EXPECT_NE(refused("ipmi", R"({"e":22,"err_msg":"Database Error"})").find("Database Error"),
            std::string::npos);
  refused("ipmi", R"({"avg":81)");
}

TEST(Ipmi, NoPieceOfATextGivesAnotherNumber) {
  expect_no_number_from_a_piece("ipmi", dcmi());
  expect_no_number_from_a_piece("ipmi", "A | 35h | ok | 7.1 | 21 RPM\nPwr | 77h | ok | 7.1 | 266 Watts\n");
  expect_no_number_from_a_piece("ipmi", "TOTAL_PWR | 301.000 | Watts | ok | na | na | 990.0\n");
}

TEST(IpmiSensors, ALimitIsNoReadingHoweverItIsSpelt) {
  for (const char* name :
       {"PwrMax",      "PWRMAX",    "Pwr_Max",  "MaxPwr",   "Power Max",  "PowerLimit",       "PwrLimit",
        "PWRLIM",      "Pwr Lmt",   "PwrCap",   "PWRCAP",   "Power_Cap",  "PwrPeak",          "PWRPEAK",
        "PeakPower",   "PwrMin",    "PWRMIN",   "PwrRated", "Rated Pwr",  "PwrTDP",           "TDP",
        "PwrBudget",   "PwrThresh", "Pwr Warn", "PwrCrit",  "PwrDefault", "CPU Power Limit1", "PL1",
        "Sys Pwr Max2"}) {
    const auto text =
        std::string{name} + " | 77h | ok | 7.1 | 900 Watts\nPwr Consumption | 78h | ok | 7.1 | 154 Watts\n";
    EXPECT_EQ(brief(parsed("ipmi", text)), "Pwr Consumption=154") << name;
  }
  for (const char* name : {"Pwr Consumption", "SYS_POWER", "PSU1 Input Power", "Power Supply 1", "PS2 Pwr In",
                           "CPU_Power", "Total_Power", "System Level (Current)", "MB_HSC_PWR"})
    EXPECT_EQ(parsed("ipmi", std::string{name} + " | 77h | ok | 7.1 | 154 Watts\n").devices.at(0).power,
              Watts{154})
        << name;
}

TEST(IpmiSensors, ASensorListInALoopIsOneMachine) {
  const auto list = [](int first, int second) {
    return "Inlet Temp       | 22 degrees C      | ok\nPS1 Input Power  | " + std::to_string(first) +
           " Watts         | ok\nPS2 Input Power  | " + std::to_string(second) + " Watts         | ok\n";
  };
  EXPECT_EQ(brief(parsed("ipmi", list(100, 110) + list(200, 210) + list(300, 310))),
            brief(parsed("ipmi", list(300, 310))));
  const auto cut = list(100, 110) + list(200, 210) + "Inlet Temp       | 22 degrees C      | ok\n";
  EXPECT_EQ(brief(parsed("ipmi", cut)), brief(parsed("ipmi", list(200, 210)))) << "the last whole turn";
  // Filtered to one row, as with grep.
  EXPECT_EQ(
      parsed("ipmi", "Pwr | 77h | ok | 7.1 | 154 Watts\nPwr | 77h | ok | 7.1 | 160 Watts\n").devices.size(),
      1U);
  // Two sensors that differ in their number only are two.
  EXPECT_EQ(
      parsed("ipmi", "Pwr | 77h | ok | 7.1 | 154 Watts\nPwr | 78h | ok | 7.1 | 160 Watts\n").devices.size(),
      2U);
}

}  // namespace
}  // namespace tidewatt::metering
