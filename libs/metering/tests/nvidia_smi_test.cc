#include <gtest/gtest.h>

#include "tidewatt/metering/tool_parsers.h"

namespace tidewatt::metering {
namespace {

ToolReadings ok(std::string_view text, std::string_view command = "nvidia-smi") {
  auto parsed = parse_tool("nvidia-smi", command, text);
  EXPECT_TRUE(parsed) << parsed.error().to_string();
  return parsed ? *std::move(parsed) : ToolReadings{};
}
Error error(std::string_view text, std::string_view command = "nvidia-smi") {
  const auto parsed = parse_tool("nvidia-smi", command, text);
  EXPECT_FALSE(parsed);
  return parsed ? Error{} : parsed.error();
}

std::string table(const std::string& power_cell,
                  const std::string& tail = "|                               |            N/A |\n") {
  return "Mon Jan  1 00:00:00 2026\n"
         "+------------------------------------------------+\n"
         "| NVIDIA-SMI 500.1       Driver Version: 500.1   |\n"
         "|-------------------------------+----------------+\n"
         "| GPU  Name        Persistence-M| Bus-Id  Disp.A |\n"
         "| Fan  Temp  Perf  Pwr:Usage/Cap|   Memory-Usage |\n"
         "|                               |         MIG M. |\n"
         "|===============================+================|\n"
         "|   3  Tesla Test Card     Off  | 0000:01:00 Off |\n"
         "| N/A   34C    P0  " +
         power_cell + "| 40MiB / 900MiB |\n" + tail +
         "+-------------------------------+----------------+\n"
         "\n"
         "| Processes:                                     |\n"
         "|  0  99W / 99W  not a card                      |\n";
}

TEST(NvidiaTable, UsageIsTheDrawAndCapTheLimit) {
  const auto r = ok(table("  41W / 260W "));
  ASSERT_EQ(r.devices.size(), 1U);
  EXPECT_EQ(std::get<std::int64_t>(r.devices[0].index), 3);
  EXPECT_EQ(r.devices[0].name, "Tesla Test Card");
  EXPECT_DOUBLE_EQ(r.devices[0].power->value(), 41);
  EXPECT_DOUBLE_EQ(r.devices[0].power_limit->value(), 260);
}

TEST(NvidiaTable, AMissingCapDoesNotVoidTheDraw) {
  const auto r = ok(table("   6W /  N/A "));
  EXPECT_DOUBLE_EQ(r.devices[0].power->value(), 6);
  EXPECT_FALSE(r.devices[0].power_limit);
}

TEST(NvidiaTable, UnknownTokensAreUnknownWithTheToken) {
  const std::pair<const char*, const char*> cases[] = {{" N/A /  N/A  ", "tool_prints_N/A"},
                                                       {"ERR! / 260W  ", "tool_prints_ERR!"},
                                                       {"Unknown Error / 260W ", "tool_prints_Unknown Error"},
                                                       {"   0W / 260W ", "printed_zero_implausible"}};
  for (const auto& [cell, reason] : cases) {
    const auto r = ok(table(cell));
    EXPECT_FALSE(r.devices[0].power) << cell;
    EXPECT_EQ(r.devices[0].reason, reason);
    EXPECT_EQ(r.unknown_devices, 1);
    EXPECT_FALSE(r.total);
  }
}

TEST(NvidiaTable, CarriageReturnsDontMatter) {
  auto text = table("  41W / 260W ");
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.insert(at, "\r");
  EXPECT_DOUBLE_EQ(ok(text).devices[0].power->value(), 41);
}

TEST(NvidiaTable, ATruncatedBlockIsAnErrorNotAGuess) {
  const auto full = table("  41W / 260W ");
  const auto e = error(full.substr(0, full.find("| N/A   34C")));
  EXPECT_NE(e.message.find("truncated: expected the rule that closes the table"), std::string::npos)
      << e.message;
}

TEST(NvidiaTable, AGarbledCellCountIsUnknown) {
  const auto r = ok(table("  41W | 260W "));
  EXPECT_FALSE(r.devices[0].power);
}

TEST(NvidiaTable, ATableWithoutRowsIsAnErrorThatNamesToolAndLine) {
  const auto full = table("  41W / 260W ");
  const auto e = error(full.substr(0, full.find("|   3")));
  EXPECT_EQ(e.code, ErrorCode::invalid_input);
  EXPECT_TRUE(e.message.starts_with("nvidia-smi: line 8: unknown layout: expected rows below")) << e.message;
}

constexpr const char* kQuery =
    "==============NVSMI LOG==============\n"
    "Attached GPUs                             : 2\n"
    "GPU 00000000:01:00.0\n"
    "    Product Name                          : Card A\n"
    "    GPU UUID                              : GPU-a\n"
    "    Clocks Event Reasons\n"
    "        SW Power Cap                      : Not Active\n"
    "    GPU Power Readings\n"
    "        Average Power Draw                : 71.00 W\n"
    "        Instantaneous Power Draw          : 75.50 W\n"
    "        Current Power Limit               : 600.00 W\n"
    "        Max Power Limit                   : 650.00 W\n"
    "    GPU Memory Power Readings \n"
    "        Average Power Draw                : 44.00 W\n"
    "    Module Power Readings\n"
    "        Instantaneous Power Draw          : 900.00 W\n"
    "GPU 00000000:02:00.0\n"
    "    Product Name                          : Card B\n"
    "    GPU UUID                              : GPU-b\n"
    "    Power Readings\n"
    "        Power Draw                        : Unknown Error\n"
    "        Power Limit                       : 250.00 W\n"
    "    Power Samples\n"
    "        Max                               : 80.00 W\n";

TEST(NvidiaQueryText, TheGpusOwnBlockCountsMemoryAndModuleDont) {
  const auto r = ok(kQuery, "nvidia-smi -q");
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_DOUBLE_EQ(r.devices[0].power->value(), 75.5);
  EXPECT_DOUBLE_EQ(r.devices[0].average->value(), 71);
  EXPECT_DOUBLE_EQ(r.devices[0].power_limit->value(), 600);
  EXPECT_EQ(r.devices[0].uuid, "GPU-a");
  EXPECT_FALSE(r.devices[1].power);
  EXPECT_EQ(r.devices[1].reason, "tool_prints_Unknown Error");
  EXPECT_DOUBLE_EQ(r.total->value(), 75.5);
  EXPECT_EQ(r.unknown_devices, 1);
}

TEST(NvidiaQueryText, ACardWithoutAPowerBlockIsUnknown) {
  const auto r = ok("NVSMI LOG\nGPU 00000000:01:00.0\n    Product Name : X\n");
  EXPECT_EQ(r.devices[0].reason, "no power block for this GPU");
}

std::string xml(const std::string& block) {
  return "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "
         "\"x_v12.dtd\">\n<nvidia_smi_log><attached_gpus>4</attached_gpus>"
         "<gpu id=\"00000000:01:00.0\"><uuid>GPU-a</uuid>" +
         block + "</gpu></nvidia_smi_log>";
}

TEST(NvidiaXml, EveryGenerationOfElementNamesIsRead) {
  const std::pair<const char*, double> cases[] = {
      {"<power_readings><power_state>P0</power_state><power_draw>20.5 W</power_draw><power_limit>130 "
       "W</power_limit></power_readings>",
       20.5},
      {"<gpu_power_readings><power_draw>21 W</power_draw><current_power_limit>500 "
       "W</current_power_limit></gpu_power_readings>",
       21},
      {"<gpu_power_readings><average_power_draw>22 W</average_power_draw><instant_power_draw>23 "
       "W</instant_power_draw></gpu_power_readings>",
       23},
      {"<gpu_power_readings><power_draw> N/A </power_draw><average_power_draw> N/A "
       "</average_power_draw><instant_power_draw> 24 W </instant_power_draw></gpu_power_readings>",
       24},
      {"<gpu_power_readings><average_power_draw>25 "
       "W</average_power_draw><instant_power_draw>N/A</instant_power_draw></gpu_power_readings>",
       25}};
  for (const auto& [block, watts] : cases)
    EXPECT_DOUBLE_EQ(ok(xml(block)).devices.at(0).power->value(), watts) << block;
}

TEST(NvidiaXml, OnlyAnAverageIsAReadingMarkedSo) {
  EXPECT_TRUE(
      ok(xml("<gpu_power_readings><average_power_draw>25 W</average_power_draw></gpu_power_readings>"))
          .devices[0]
          .averaged);
}

TEST(NvidiaXml, MemoryAndModulePowerAreNeverTheCards) {
  const auto r =
      ok(xml("<gpu_power_readings><power_draw>N/A</power_draw></gpu_power_readings>"
             "<gpu_memory_power_readings><power_draw>44 W</power_draw></gpu_memory_power_readings>"
             "<module_power_readings><power_draw>900 W</power_draw></module_power_readings>"));
  EXPECT_FALSE(r.devices[0].power);
  EXPECT_EQ(r.devices[0].reason, "tool_prints_N/A");
}

TEST(NvidiaXml, RenamedBeyondRecognitionIsUnknownWithAReason) {
  const auto r =
      ok(xml("<gpu_power_readings><draw_now>44 W</draw_now><max_power_limit>1 "
             "W</max_power_limit></gpu_power_readings>"));
  EXPECT_FALSE(r.devices[0].power);
  EXPECT_EQ(r.devices[0].reason, "no known draw in the power block");
}

TEST(NvidiaXml, TruncatedXmlIsAnError) {
  const auto text = xml("<power_readings><power_draw>20 W</power_draw></power_readings>");
  EXPECT_EQ(error(text.substr(0, text.size() - 30)).code, ErrorCode::invalid_input);
}

TEST(NvidiaCsv, ColumnsAreFoundByNameWhateverStandsBeside) {
  const auto r =
      ok("count, index, enforced.power.limit [W], module.power.draw.instant [W], "
         "clocks_event_reasons.sw_power_cap, power.draw [W], "
         "power.default_limit [W], power.limit [W]\n"
         "2, 1, 300.00 W, 999.00 W, Not Active, 150.25 W, 300.00 W, 280.00 W\n"
         "2, 0, 300.00 W, [N/A], Not Active, [Not Supported], 300.00 W, 280.00 W\n");
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_EQ(std::get<std::int64_t>(r.devices[0].index), 1);
  EXPECT_DOUBLE_EQ(r.devices[0].power->value(), 150.25);
  EXPECT_DOUBLE_EQ(r.devices[0].power_limit->value(), 280);
  EXPECT_EQ(r.devices[1].reason, "tool_prints_[Not Supported]");
}

TEST(NvidiaCsv, InstantIsPreferredAndTheAverageKeptApart) {
  const auto r =
      ok("index, power.draw [W], power.draw.average [W], power.draw.instant [W]\n0, 26.20, 26.10, 28.77\n");
  EXPECT_DOUBLE_EQ(r.devices[0].power->value(), 28.77);
  EXPECT_DOUBLE_EQ(r.devices[0].average->value(), 26.1);
}

TEST(NvidiaCsv, WithoutHeaderTheCommandNamesTheColumns) {
  const auto r = ok("GPU-x, 412000 mW\nGPU-y, [GPU is lost]\n",
                    "nvidia-smi --query-gpu=uuid,power.draw --format=csv,noheader");
  EXPECT_DOUBLE_EQ(r.devices[0].power->value(), 412);
  EXPECT_EQ(r.devices[1].uuid, "GPU-y");
  EXPECT_EQ(r.devices[1].reason, "tool_prints_[GPU is lost]");
}

TEST(NvidiaCsv, ALoopsRowsAreOneCardWhoseLastSampleCounts) {
  const auto r = ok("index, power.draw [W]\n0, 10 W\n1, 20 W\n0, 11 W\n1, 21 W\n",
                    "nvidia-smi --query-gpu=index,power.draw --format=csv -l 1");
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_DOUBLE_EQ(r.devices[0].power->value(), 11);
}

TEST(NvidiaCsv, ALoopWithoutIdentityIsRefused) {
  EXPECT_EQ(error("power.draw [W]\n10 W\n11 W\n", "nvidia-smi --query-gpu=power.draw --format=csv -l 1").hint,
            "add index,uuid to --query-gpu");
}

TEST(NvidiaCsv, ACutRowIsUnknown) {
  const auto r = ok("index, name, power.draw [W], power.limit [W]\n0, A, 10 W, 300 W\n1, A, 2");
  EXPECT_EQ(std::get<std::int64_t>(r.devices[1].index), 1);
  EXPECT_FALSE(r.devices[1].power);
  EXPECT_EQ(r.devices[1].reason, "truncated: line 3 ends the text within its 3 of 4 cells");
  EXPECT_FALSE(r.total);
}

TEST(NvidiaCsv, NoPowerColumnIsUnknownNotTheLimit) {
  EXPECT_EQ(ok("index, power.limit [W]\n0, 300 W\n").devices[0].reason, "no power.draw column was asked for");
}

TEST(NvidiaCsv, ImplausibleValuesAreQuarantinedWithTheRawNumber) {
  const auto r =
      ok("index, power.draw [W], power.limit [W]\n0, 53130.00 W, 300.00 W\n1, 4294967.30 W, 300.00 W\n");
  EXPECT_EQ(r.devices[0].reason, "implausible: 53130 W at a limit of 300 W");
  EXPECT_EQ(r.devices[1].reason, "sentinel: 4294967.3 W");
}

TEST(NvidiaDmon, TheLastSampleCountsAndADashIsUnknown) {
  const auto r =
      ok("# gpu    pwr  gtemp\n# Idx      W      C\n    0    438     55\n    1      -     60\n    0     37   "
         "  55\n    1      -     60\n",
         "nvidia-smi dmon -c 2");
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_DOUBLE_EQ(r.devices[0].power->value(), 37);
  EXPECT_EQ(r.devices[1].reason, "tool_prints_-");
}

TEST(NvidiaDmon, ColumnsAreFoundByNameAlsoBehindDateAndTime) {
  EXPECT_DOUBLE_EQ(ok("#Date      Time     gpu   sm   pwr\n#YYYYMMDD  HH:MM:SS  Idx  %   W\n 20260101  "
                      "10:00:00  0   5   77\n")
                       .devices.at(0)
                       .power->value(),
                   77);
}

TEST(NvidiaDmon, WithoutAPowerColumnThereIsNoReading) {
  EXPECT_EQ(error("# gpu   sm   mem\n# Idx    %     %\n    0   1   2\n").code, ErrorCode::invalid_input);
}

TEST(NvidiaErrors, TheToolsOwnFailureIsQuotedInOneLine) {
  const auto e = error(
      "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure ...\n\n");
  EXPECT_TRUE(e.message.starts_with("nvidia-smi failed: NVIDIA-SMI has failed because it couldn't"))
      << e.message;
  EXPECT_EQ(e.to_string().find('\n'), std::string::npos);
  error("No devices were found\n");
  error("Failed to initialize NVML: Driver/library version mismatch\n");
  error("Field \"power.drow\" is not a valid field to query.\n");
  error("");
  error("hello\n");
}

TEST(ToolParsers, AnUnknownToolListsTheKnownOnes) {
  const auto parsed = parse_tool("nvida-smi", "", "");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message, "no parser for the tool 'nvida-smi'");
  EXPECT_NE(parsed.error().hint.find("nvidia-smi"), std::string::npos);
}

TEST(ToolParsers, JsonHasNullForUnknownAndNeverZero) {
  EXPECT_EQ(to_json(ok("index, power.draw [W], power.limit [W]\n0, 37.5 W, 250.00 W\n1, [N/A], [N/A]\n")),
            R"({"devices":[{"index":0,"power_watts":37.5,"power_limit_watts":250.0,"reason":null},)"
            R"({"index":1,"power_watts":null,"power_limit_watts":null,"reason":"tool_prints_[N/A]"}],)"
            R"("total_power_watts":37.5,"unknown_devices":1})");
}

TEST(ToolParsers, APieceOfANumberIsNeverAReading) {
  const std::string forms[] = {table("  412W / 560W "),
                               kQuery,
                               xml("<power_readings><power_draw>412.50 W</power_draw></power_readings>"),
                               "index, power.draw [W]\n0, 412.50 W\n",
                               "index, power.draw [W]\n0, 412.50\n",
                               "# gpu pwr\n# Idx W\n 0 412\n"};
  for (const auto& form : forms)
    for (std::size_t length = 0; length <= form.size(); ++length) {
      const auto parsed = parse_tool("nvidia-smi", "nvidia-smi", std::string_view{form}.substr(0, length));
      if (!parsed || !parsed->devices[0].power) continue;
      const auto watts = parsed->devices[0].power->value();
      EXPECT_TRUE(watts == 412 || watts == 412.5 || watts == 75.5 || watts == 71) << form.substr(0, length);
    }
}

TEST(ToolParsers, EveryTruncationOfEveryFormIsHandled) {
  const std::string forms[] = {table("  41W / 260W "), kQuery,
                               xml("<power_readings><power_draw>20 W</power_draw></power_readings>"),
                               "index, power.draw [W]\n0, 10 W\n", "# gpu pwr\n# Idx W\n 0 438\n"};
  for (const auto& form : forms)
    for (std::size_t length = 0; length <= form.size(); ++length) {
      const auto parsed = parse_tool("nvidia-smi", "nvidia-smi", std::string_view{form}.substr(0, length));
      if (!parsed) continue;
      for (const auto& device : parsed->devices) {
        EXPECT_EQ(device.power.has_value(), device.reason.empty());
      }
    }
}

const std::string kNames = "index, uuid, pci.bus_id, power.draw [W]\n";
const std::string kOne = "0, GPU-aaaa, 00000000:41:00.0, 212.50 W\n";
const std::string kTwo = "1, GPU-bbbb, 00000000:42:00.0, 213.50 W\n";
const std::string kLoss = "Unable to determine the device handle for GPU0000:C3:00.0: Unknown Error\n";
const std::string kInfoRom = "WARNING: infoROM is corrupted at gpu 0000:41:00.0\n";

TEST(NvidiaSmiNotices, ALostCardIsOneUnknownDeviceWhereverItsLineStands) {
  for (const auto& text :
       {kLoss + kNames + kOne + kTwo, kNames + kLoss + kOne + kTwo, kNames + kOne + kLoss + kTwo,
        kNames + kOne + kTwo + kLoss, kNames + kOne + kTwo + kLoss + kLoss}) {
    const auto r = ok(text);
    ASSERT_EQ(r.devices.size(), 3U) << text;
    EXPECT_EQ(r.devices[0].power, Watts{212.5});
    EXPECT_EQ(r.devices[1].power, Watts{213.5});
    EXPECT_FALSE(r.devices[2].power);
    EXPECT_EQ(r.devices[2].bus_id, "0000:C3:00.0");
    EXPECT_EQ(r.unknown_devices, 1);
    EXPECT_EQ(r.total, Watts{426}) << "a lower bound";
  }
}

TEST(NvidiaSmiNotices, WarningsAreNoDevices) {
  for (const auto& text :
       {kInfoRom + kNames + kOne + kTwo, kNames + kOne + kTwo + kInfoRom, kNames + kOne + kInfoRom + kTwo}) {
    const auto r = ok(text);
    EXPECT_EQ(r.devices.size(), 2U) << text;
    EXPECT_EQ(r.unknown_devices, 0);
  }
}

TEST(NvidiaSmiNotices, ACardLostDuringALoopIsUnknownNotAsBefore) {
  const auto r = ok(kNames + kOne + kTwo + kOne + kTwo + kOne +
                    "Unable to determine the device handle for GPU0000:42:00.0: GPU is lost.\n");
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_EQ(r.devices[0].power, Watts{212.5});
  EXPECT_FALSE(r.devices[1].power);
}

TEST(NvidiaSmiNotices, ALossWithNothingElseIsTheToolsFailure) {
  EXPECT_FALSE(parse_tool("nvidia-smi", "nvidia-smi", kLoss));
  const auto named = parse_tool("nvidia-smi", "nvidia-smi", kNames + kLoss);
  ASSERT_FALSE(named);
  EXPECT_NE(named.error().message.find("device handle"), std::string::npos) << named.error().message;
}

TEST(NvidiaSmiCsv, CardsKnownByUuidKeepTheirNumbersInALoop) {
  const auto r =
      ok("uuid, power.draw [W]\nGPU-aaaa, 50.5 W\nGPU-bbbb, 60.5 W\nGPU-aaaa, 51.5 W\n"
         "GPU-bbbb, 61.5 W\n");
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_EQ(r.devices[0].index, ToolIndex{std::int64_t{0}});
  EXPECT_EQ(r.devices[1].index, ToolIndex{std::int64_t{1}});
  EXPECT_EQ(r.total, Watts{113});
}

TEST(NvidiaSmiCsv, TheFieldsMayStandApartFromTheirOption) {
  const auto r = ok("0, 310.00 W, 55.10 W\n",
                    "nvidia-smi --query-gpu index,power.limit,power.draw --format csv,noheader");
  EXPECT_EQ(r.devices[0].power, Watts{55.1});
}

TEST(NvidiaSmiCsv, TextInWhichNoCellIsWhatItsColumnSaysMakesNoCards) {
  const std::string query = "nvidia-smi --query-gpu=index,uuid,pci.bus_id,power.draw --format=csv";
  const std::string header = "index, uuid, pci.bus_id, power.draw [W]\n";
  const std::string sound = "0, GPU-aa, 00000000:3B:00.0, 100.00 W\n";
  const auto refused = [&](const std::string& text) {
    const auto parsed = parse_tool("nvidia-smi", query, text);
    return parsed ? "taken" : parsed.error().message;
  };
  EXPECT_EQ(
      refused("qwerty\nasdf\nzxcv\n"),
      "nvidia-smi: line 1: unknown layout: expected a GPU's number, UUID, PCI address or watts in their "
      "columns, got 'qwerty'");
  EXPECT_NE(refused(header + sound + "a, b, c, d\n").find("line 3: unknown layout"), std::string::npos);
  EXPECT_EQ(refused(header + sound + "1, GPU-bb, 00000000:3C:00.0, [N/A]\n"), "taken");
  EXPECT_EQ(refused(header + sound + "1, no-uuid-here, 00000000:3C:00.0, 99.50 W\n"), "taken");
}

}  // namespace
}  // namespace tidewatt::metering
