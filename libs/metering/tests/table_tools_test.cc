// Tools whose default output is a drawn table.
#include "tool_text.h"

namespace tidewatt::metering {
namespace {

std::string habana(const std::string& power) {
  return "+-----------------------------------------------+\n"
         "| HL-SMI Version:                   hl-1.9.9    |\n"
         "|-----------------------------+-----------------+\n"
         "| AIP  Name      Persistence-M| Bus-Id  Disp.A  |\n"
         "| Fan  Temp  Perf  Pwr:Usage/Cap| Memory-Usage  |\n"
         "|=============================+=================|\n"
         "|   2  HL-999            N/A  | 0000:11:00  N/A |\n"
         "| N/A   31C   N/A  " +
         power +
         "  |  5Mib / 77Mib   |\n"
         "|-----------------------------+-----------------+\n";
}

TEST(HlSmi, ThePairIsFoundAmongCellsThatPrintNA) {
  const auto r = read("hl-smi", habana("111W / 333W"));
  ASSERT_EQ(r.devices.size(), 1U);
  EXPECT_EQ(index(r), 2);
  EXPECT_EQ(r.devices[0].name, "HL-999");
  EXPECT_DOUBLE_EQ(watts(r), 111);
  EXPECT_DOUBLE_EQ(limit(r), 333);
}

TEST(HlSmi, UnknownTokensAreUnknownWithTheToken) {
  EXPECT_EQ(reason(read("hl-smi", habana("N/A / 333W"))), "tool_prints_N/A");
  EXPECT_EQ(reason(read("hl-smi", habana("ERR! / 333W"))), "tool_prints_ERR!");
  EXPECT_EQ(reason(read("hl-smi", habana("Unknown Error / 333W"))), "tool_prints_Unknown Error");
  EXPECT_EQ(reason(read("hl-smi", habana("0W / 333W"))), "printed_zero_implausible");
  EXPECT_EQ(reason(read("hl-smi", habana("-4W / 333W"))), "negative: -4 W");
  EXPECT_EQ(reason(read("hl-smi", habana("65535W / 333W"))), "sentinel: 65535 W");
}

TEST(HlSmi, UnitsAreReadNotAssumed) {
  EXPECT_DOUBLE_EQ(watts(read("hl-smi", habana("111000mW / 333W"))), 111);
  EXPECT_DOUBLE_EQ(watts(read("hl-smi", habana("0.111kW / 333W"))), 111);
  EXPECT_EQ(reason(read("hl-smi", habana("111 / 333W"))), "tool_prints_111");
  EXPECT_FALSE(read("hl-smi", habana("111V / 333W")).devices[0].power);
}

TEST(HlSmi, CsvTakesTheDrawByItsName) {
  const std::string csv =
      "index, module_id, power.draw [W], temperature.aip [C]\n3, 7, 121 W, 44 C\n4, 6, N/A, 45 C\n";
  const auto r = read("hl-smi", csv);
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_EQ(index(r), 3);
  EXPECT_DOUBLE_EQ(watts(r), 121);
  EXPECT_EQ(reason(r, 1), "tool_prints_N/A");
  EXPECT_EQ(r.unknown_devices, 1);
  EXPECT_DOUBLE_EQ(r.total->value(), 121);
}

TEST(HlSmi, CsvWithoutNamesTakesThemFromTheCommand) {
  const auto r = read("hl-smi", "0, 98\n1, 97\n", "hl-smi -Q index,power.draw -f csv,noheader,nounits");
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_DOUBLE_EQ(watts(r, 1), 97);
  refusal("hl-smi", "0, 98\n1, 97\n", "hl-smi -Q index,temperature.aip -f csv,noheader");
}

TEST(Brsmi, TablesWithOtherRulesAndNoFanAreRead) {
  const auto r = read("brsmi",
                      "+-------------------------------------+\n"
                      "| BR-SMI 9.1   Driver Version: 9.1    |\n"
                      "+-------------------+-----------------+\n"
                      "|   GPU        Name |          Bus-Id |\n"
                      "|  Temp  Perf  Pwr:Usage/Cap | Memory |\n"
                      "|     Persistence-M |          SVI M. |\n"
                      "+===================+=================+\n"
                      "|     6   Biren999X |    00000:AA:0.0 |\n"
                      "|    33    P0    41W / 222W | 1 / 2   |\n"
                      "|               Off |        Disabled |\n"
                      "+-------------------+-----------------+\n");
  EXPECT_EQ(index(r), 6);
  EXPECT_DOUBLE_EQ(watts(r), 41);
  EXPECT_DOUBLE_EQ(limit(r), 222);
}

std::string cambricon(const std::string& rows) {
  return "+--------------------------------+----------------+\n"
         "| Card  VF  Name       Firmware  |         Bus-Id |\n"
         "| Fan   Temp      Pwr:Usage/Cap  |   Memory-Usage |\n"
         "|================================+================|\n" +
         rows + "+--------------------------------+----------------+\n";
}

TEST(Cnmon, UnitsBehindABlankAndAGluedSlash) {
  const auto r = read("cnmon", cambricon("| 4     /   MLU999-Z   v9.9      | 0000:0A:00.0   |\n"
                                         "|  0%   41C        77 W/ 150 W   | 1 MiB/ 99 MiB  |\n"));
  EXPECT_EQ(index(r), 4);
  EXPECT_EQ(r.devices[0].name, "MLU999-Z");
  EXPECT_DOUBLE_EQ(watts(r), 77);
  EXPECT_DOUBLE_EQ(limit(r), 150);
}

TEST(Cnmon, DevicesWithoutRulesBetweenThemAreCutByTheHeadersHeight) {
  const auto r = read("cnmon", cambricon("| 0     /   MLU999-Z   v9.9      | 0000:0A:00.0   |\n"
                                         "|  0%   41C        77 W/ 150 W   | 1 MiB/ 99 MiB  |\n"
                                         "| 1     /   MLU999-Z   v9.9      | 0000:0B:00.0   |\n"
                                         "|  0%   42C        79 W/ 150 W   | 1 MiB/ 99 MiB  |\n"));
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_DOUBLE_EQ(watts(r, 1), 79);
  EXPECT_DOUBLE_EQ(r.total->value(), 156);
}

TEST(Cnmon, AVirtualFunctionIsAPartWithoutPowerOfItsOwn) {
  const auto r = read("cnmon", cambricon("| 0     1   MLU999-Z   v9.9      | 0000:0A:00.0   |\n"
                                         "|  0%   41C        N/A / N/A     | 1 MiB/ 99 MiB  |\n"));
  EXPECT_EQ(part(r), 1);
  EXPECT_EQ(reason(r), "tool_prints_N/A");
}

TEST(Cnmon, InfoTextIsAnUnknownLayout) {
  const auto error = refusal("cnmon", "Card 0\n    Power\n        Usage : 12 W\n", "cnmon info");
  EXPECT_NE(error.message.find("cnmon: line 1: unknown layout"), std::string::npos) << error.message;
}

std::string enflame(const std::string& power) {
  return "+2026-01-01, 00:00:00 UTC------------+\n"
         "|EFSMI    V9.9                        |\n"
         "|-------------------------------------|\n"
         "| DEV    NAME            | FW VER     |\n"
         "| TEMP   Dpm   Pwr(Usage/Cap)| Mem    |\n"
         "|-------------------------------------|\n"
         "| 5      S99             | 9.9        |\n"
         "| 44\xE2\x84\x83    Sleep  " +
         power +
         " | 1MiB   |\n"
         "+-------------------------------------+\n";
}

TEST(Efsmi, UsageAndCapMayBeApartByBlanksOnly) {
  for (const auto* power : {"84W  310W", "84W / 310W", "84 W  310 W", "84W/310W"}) {
    const auto r = read("efsmi", enflame(power));
    EXPECT_EQ(index(r), 5);
    EXPECT_DOUBLE_EQ(watts(r), 84) << power;
    EXPECT_DOUBLE_EQ(limit(r), 310) << power;
  }
}

TEST(Efsmi, TheCapacityBeforeTheCurrentPowerIsTheLimit) {
  const std::string text =
      "DEV ID 3\n    Device Info\n        Dev Name                : S99\n        Dev UUID                : "
      "TR1\n"
      "    Power Info\n        Power Capa              : 310 W\n        Cur Power               : 88 W\n"
      "        Dpm Level               : Sleep\n    Power Cable\n        Power Status            : 1 W\n";
  const auto r = read("efsmi", text, "efsmi -q");
  EXPECT_EQ(index(r), 3);
  EXPECT_EQ(r.devices[0].name, "S99");
  EXPECT_DOUBLE_EQ(watts(r), 88);
  EXPECT_DOUBLE_EQ(limit(r), 310);
  const auto none = read("efsmi", replaced(text, "88 W", "N/A"));
  EXPECT_EQ(reason(none), "tool_prints_N/A");
}

std::string iluvatar(const std::string& name, const std::string& first, const std::string& second) {
  const std::string rule = "+----------------------------+----------------+\n";
  std::string out = rule +
                    "|  IX-ML: 9.9.9     Driver Version: 9.9.9     |\n"
                    "|----------------------------+----------------|\n"
                    "| GPU  Name                  | Bus-Id         |\n"
                    "| Fan  Temp  Perf  Pwr:Usage/Cap| Memory-Usage|\n"
                    "|============================+================|\n"
                    "| 0    Iluvatar " +
                    name +
                    "     | 0000:13:00.0   |\n"
                    "| 0%   33C   P0    " +
                    first + " | 1MiB / 2MiB |\n" + rule;
  if (!second.empty())
    out += "| 1    Iluvatar " + name + "     | 0000:16:00.0   |\n| 0%   34C   P0    " + second +
           " | 1MiB / 2MiB |\n" + rule;
  return out;
}

TEST(Ixsmi, TheChipThatPrintsNothingIsCountedOnItsSibling) {
  const auto r = read("ixsmi", iluvatar("BI-V150", "N/A / N/A", "87W / 350W"));
  EXPECT_EQ(reason(r), "power_reported_once_per_card_on_other_chip");
  EXPECT_EQ(r.unknown_devices, 0);
  EXPECT_DOUBLE_EQ(r.total->value(), 87);
}

TEST(Ixsmi, AChipAloneOrOfAOneChipCardIsUnknown) {
  EXPECT_EQ(reason(read("ixsmi", iluvatar("BI-V150S", "N/A / N/A", ""))), "tool_prints_N/A");
  const auto r = read("ixsmi", iluvatar("BI-V100", "N/A / N/A", "55W / 250W"));
  EXPECT_EQ(reason(r), "tool_prints_N/A");
  EXPECT_EQ(r.unknown_devices, 1);
}

TEST(Ixsmi, CsvNamesDifferFromNvidias) {
  const auto r = read(
      "ixsmi",
      "index, gpu.default.power.limit [W], gpu.power.limit [W], gpu.power.draw [W]\n1, 400 W, 350 W, 92 W\n");
  EXPECT_EQ(index(r), 1);
  EXPECT_DOUBLE_EQ(watts(r), 92);
  EXPECT_DOUBLE_EQ(limit(r), 350);
}

TEST(MxSmi, APowerColumnWithoutCapAndAPairInTheMiddle) {
  const std::string head =
      "mx-smi  version: 9.9\n\n+------------------------+-----------+\n| MX-SMI 9.9                         "
      "|\n"
      "|------------------------+-----------+\n| GPU     NAME           | Bus-id    |\n";
  const std::string rule = "|========================+===========|\n| 7       MXC999         | 00:05.0   |\n";
  const std::string end = "+------------------------+-----------+\n";
  const auto plain = read("mx-smi", head + "| Temp    Power          | Memory    |\n" + rule +
                                        "| 51C     68W            | 1/2 MiB   |\n" + end);
  EXPECT_EQ(index(plain), 7);
  EXPECT_DOUBLE_EQ(watts(plain), 68);
  EXPECT_DOUBLE_EQ(limit(plain), -1);
  const auto pair = read("mx-smi", head + "| Temp  Pwr:Usage/Cap Perf | Memory    |\n" + rule +
                                       "| 51C   68W / NA  P0       | 1/2 MiB   |\n" + end);
  EXPECT_DOUBLE_EQ(watts(pair), 68);
  EXPECT_DOUBLE_EQ(limit(pair), -1);
  EXPECT_EQ(reason(read("mx-smi", head + "| Temp    Power          | Memory    |\n" + rule +
                                      "| 51C     NA             | 1/2 MiB   |\n" + end)),
            "tool_prints_NA");
}

TEST(MthreadsGmi, TheDefaultTablePrintsNoPower) {
  const auto r = read("mthreads-gmi",
                      "Thu Jan  1 00:00:00 2026\n----------------------------------\n    mthreads-gmi:9.9\n"
                      "----------------------------------\nID   Name     |PCIe      |%GPU  Mem\n"
                      "     Device   |Pcie Lane |Temp  MPC\n+--------------------------------+\n"
                      "2    MTT S99  |0000:4:0  |0%    2MiB(9MiB)\n     Physical |4x(16x)   |49C   YES\n"
                      "----------------------------------\n\nProcesses:\nID   PID    Process name\n");
  ASSERT_EQ(r.devices.size(), 1U);
  EXPECT_EQ(index(r), 2);
  EXPECT_EQ(reason(r), "default_table_has_no_power_column");
}

TEST(MthreadsGmi, PowerReadingsOfQueryTextAndJson) {
  const auto text = read("mthreads-gmi",
                         "====== MTHREADS-GMI LOG ======\nAttached GPUs : 1\nGPU0 00000000:04:00.0\n"
                         "    Product Name : MTT S99\n    Power Readings\n        Power Limit : 250.00W\n"
                         "        Power Draw : 38.25W\n    Clocks\n        Graphics : 100MHz\n",
                         "mthreads-gmi -q");
  EXPECT_DOUBLE_EQ(watts(text), 38.25);
  EXPECT_DOUBLE_EQ(limit(text), 250);
  const auto json = read(
      "mthreads-gmi",
      R"({"Attached GPUs":"1","GPU":[{"Index":"3","Product Name ":"MTT S99","Power Readings":{" Power Draw ":"38.25W"}}]})");
  EXPECT_EQ(index(json), 3);
  EXPECT_DOUBLE_EQ(watts(json), 38.25);
}

TEST(Tables, LocalisedMarksCrLfByteOrderMarksAndUtf16ChangeNothing) {
  const auto text = habana("111W / 333W");
  EXPECT_DOUBLE_EQ(watts(read("hl-smi", "\xEF\xBB\xBF" + text)), 111);
  EXPECT_DOUBLE_EQ(watts(read("hl-smi", replaced(text, "\n", "\r\n"))), 111);
  std::string wide = "\xFF\xFE";
  for (const char c : text) wide += std::string{c, '\0'};
  EXPECT_DOUBLE_EQ(watts(read("hl-smi", wide)), 111);
  // A decimal comma is no number we know: never 11.
  EXPECT_FALSE(read("hl-smi", habana("11,5W / 333W")).devices[0].power);
}

TEST(Tables, BytesThatAreNoTextAreReplacedNotThrown) {
  const auto r = read("hl-smi", replaced(habana("111W / 333W"), "HL-999", "HL\xFF\xC0\x80"));
  EXPECT_DOUBLE_EQ(watts(r), 111);
  EXPECT_EQ(r.devices[0].name, "HL\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Tables, ARowWithOtherCellsThanItsHeaderIsUnknown) {
  const auto r = read("hl-smi", replaced(habana("111W / 333W"), "5Mib / 77Mib", "5Mib | 77Mib"));
  EXPECT_EQ(reason(r), "garbled: the power line has other cells than its header");
}

TEST(Tables, TwoPairsInThePowerCellAreNoReading) {
  const auto r = read("hl-smi", habana("111W / 333W  222W / 333W"));
  EXPECT_FALSE(r.devices[0].power);
}

TEST(Tables, FailuresOfTheToolAreQuotedInOneLine) {
  for (const auto* tool :
       {"hl-smi", "brsmi", "cnmon", "efsmi", "ixsmi", "mx-smi", "npu-smi", "mthreads-gmi", "amd-smi",
        "rocm-smi", "hy-smi", "tt-smi", "gc-info", "xpu-smi", "kunlunxin-xpu-smi"}) {
    const auto error = refusal(tool, "Failed to initialize the driver, error code 3\nsecond line\n");
    EXPECT_NE(error.message.find(std::string{tool} + " failed: Failed to initialize"), std::string::npos)
        << error.message;
    EXPECT_EQ(error.message.find('\n'), std::string::npos);
    EXPECT_NE(refusal(tool, " \n").message.find("printed nothing"), std::string::npos);
    EXPECT_NE(refusal(tool, "hello 41W / 300W\n").message.find(": line 1: unknown layout"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace tidewatt::metering
