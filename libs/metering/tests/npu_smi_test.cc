#include "tool_text.h"

namespace tidewatt::metering {
namespace {

std::string table(const std::string& rows) {
  return "+------------------------------------------------------------------+\n"
         "| npu-smi 99.0                   Version: 99.0                     |\n"
         "+---------------------------+---------------+----------------------+\n"
         "| NPU   Name                | Health        | Power(W)   Temp(C)   Hugepages-Usage(page)|\n"
         "| Chip  Phy-ID              | Bus-Id        | AICore(%)  Memory-Usage(MB)  HBM-Usage(MB)|\n"
         "+===========================+===============+======================+\n" +
         rows +
         "+===========================+===============+======================+\n"
         "+---------------------------+---------------+----------------------+\n"
         "| NPU     Chip              | Process id    | Process name         |\n"
         "+===========================+===============+======================+\n"
         "| 0       0                 | 77            | python 999W          |\n"
         "+---------------------------+---------------+----------------------+\n";
}

std::string die(const std::string& npu, const std::string& chip, const std::string& power) {
  return "| " + npu + "     Ascend999           | OK            | " + power +
         "      36     0    / 0      |\n| " + chip + "     " + chip +
         "                 | 0000:9D:00.0  | 0     0    / 0   20701/ 65536 |\n";
}

TEST(NpuSmi, PowerStandsUnderItsNameAndChipsUnderTheirCard) {
  const auto r = read("npu-smi", table(die("3", "0", "91.5")));
  ASSERT_EQ(r.devices.size(), 1U);
  EXPECT_EQ(index(r), 3);
  EXPECT_EQ(part(r), 0);
  EXPECT_EQ(r.devices[0].name, "Ascend999");
  EXPECT_DOUBLE_EQ(watts(r), 91.5);
}

TEST(NpuSmi, OtherOrderOfNamesOtherOrderOfValues) {
  const auto text =
      replaced(replaced(table(die("3", "0", "91.5")), "Power(W)   Temp(C) ", "Temp(C)   Power(W) "),
               "91.5      36 ", "36      91.5 ");
  EXPECT_DOUBLE_EQ(watts(read("npu-smi", text)), 91.5);
}

TEST(NpuSmi, ADashOnTheSecondDieIsCountedOnTheFirst) {
  const auto r = read("npu-smi", table(die("1", "0", "177.5") + "+---------+\n" + die("1", "1", "-")));
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_EQ(reason(r, 1), "power_reported_once_per_card_on_die_0");
  EXPECT_EQ(r.unknown_devices, 0);
  EXPECT_DOUBLE_EQ(r.total->value(), 177.5);
}

TEST(NpuSmi, ADashWithoutAKnownFirstDieIsUnknown) {
  const auto r = read("npu-smi", table(die("1", "0", "NA") + "+---------+\n" + die("1", "1", "-")));
  EXPECT_EQ(reason(r, 0), "tool_prints_NA");
  EXPECT_EQ(reason(r, 1), "tool_prints_-");
  EXPECT_EQ(r.unknown_devices, 2);
  EXPECT_FALSE(r.total);
}

TEST(NpuSmi, ZeroWattsOfAWarmCardAreNoReading) {
  EXPECT_EQ(reason(read("npu-smi", table(die("0", "0", "0.0")))), "printed_zero_implausible");
}

TEST(NpuSmi, TheProcessTableIsNotRead) {
  EXPECT_EQ(read("npu-smi", table(die("0", "0", "66.0"))).devices.size(), 1U);
}

TEST(NpuSmi, ATableWithoutAPowerColumnIsAnUnknownLayout) {
  const auto error = refusal("npu-smi", replaced(table(die("0", "0", "66.0")), "Power(W)", "Voltage(V)"));
  EXPECT_NE(error.message.find("NPU and Power(W)"), std::string::npos) << error.message;
}

TEST(NpuSmi, TheChipsNumberStandsBehindOrBeforeItsValue) {
  const auto behind =
      read("npu-smi",
           "\tNPU ID                         : 2\n\tChip Count                     : 2\n\n"
           "\tNPU Real-time Power(W)         : 101.5\n\tChip ID                        : 0\n\n"
           "\tNPU Real-time Power(W)         : 102.5\n\tChip ID                        : 1\n");
  ASSERT_EQ(behind.devices.size(), 2U);
  EXPECT_EQ(index(behind), 2);
  EXPECT_EQ(part(behind, 1), 1);
  EXPECT_DOUBLE_EQ(watts(behind, 1), 102.5);
  const auto before =
      read("npu-smi",
           "NPU ID : 2\nChip Count : 2\n\nChip ID : 0\nTemperature(C) : 46\nNPU Real-time Power(W) : 61.5\n\n"
           "Chip ID : 1\nNPU Real-time Power(W) : 62.5\n");
  ASSERT_EQ(before.devices.size(), 2U);
  EXPECT_EQ(part(before), 0);
  EXPECT_DOUBLE_EQ(watts(before), 61.5);
  EXPECT_DOUBLE_EQ(watts(before, 1), 62.5);
}

TEST(NpuSmi, TheControllersPowerIsTheBoardsNotTheLastChips) {
  const auto r = read("npu-smi",
                      "NPU ID : 5\nChip Count : 1\n\nChip ID : 0\nTemperature(C) : 43\n\nChip Name : mcu\n"
                      "Temperature(C) : 41\nNPU Real-time Power(W) : 17.5\n");
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_EQ(reason(r), "power_reported_once_per_card_on_mcu");
  EXPECT_EQ(std::get<std::string>(*r.devices[1].sub_index), "mcu");
  EXPECT_DOUBLE_EQ(watts(r, 1), 17.5);
  EXPECT_DOUBLE_EQ(r.total->value(), 17.5);
}

TEST(NpuSmi, AChipAndItsBoardAreNotAdded) {
  const auto r = read("npu-smi",
                      "NPU ID : 5\nChip ID : 0\nNPU Real-time Power(W) : 68.0\n\nChip Name : mcu\nNPU "
                      "Real-time Power(W) : 44.0\n");
  EXPECT_DOUBLE_EQ(watts(r), 68);
  EXPECT_FALSE(r.total);
}

TEST(NpuSmi, RatedPowerIsNoDraw) {
  const auto r = read("npu-smi", "NPU ID : 0\nChip ID : 0\nRated Power Dissipation(W) : 12.8\n");
  EXPECT_EQ(reason(r), "no_power_reading_in_this_command");
}

TEST(NpuSmi, WithoutACardsNumberTheCommandNamesIt) {
  const auto r = read("npu-smi", "Aicore Usage Rate(%) : 1\nNPU Real-time Power(W) : 201.5\n",
                      "npu-smi info -t common -i 6");
  EXPECT_EQ(index(r), 6);
  EXPECT_DOUBLE_EQ(watts(r), 201.5);
}

TEST(NpuSmi, APieceOfANumberAtTheEndIsNoReading) {
  EXPECT_FALSE(read("npu-smi", "NPU ID : 0\nChip ID : 0\nNPU Real-time Power(W) : 10").devices[0].power);
  EXPECT_FALSE(read("npu-smi", "NPU ID : 0\nChip ID : 0\nNPU Real-time Power(W) : 103.").devices[0].power);
  EXPECT_FALSE(read("npu-smi", "NPU ID : 0\nChip ID : 0\nNPU Real-time Power(W) : 103.5").devices[0].power);
  EXPECT_DOUBLE_EQ(watts(read("npu-smi", "NPU ID : 0\nChip ID : 0\nNPU Real-time Power(W) : 103.5\n")),
                   103.5);
}

}  // namespace
}  // namespace tidewatt::metering
