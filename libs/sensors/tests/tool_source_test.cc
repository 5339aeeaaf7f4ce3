#include <gtest/gtest.h>

#include <algorithm>

#include "../src/tool_cards.h"
#include "tidewatt/sensors/sources.h"
#include "tidewatt/testing/fake_file_system.h"
#include "tidewatt/testing/fake_process.h"
#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::sensors {
namespace {

constexpr const char* kTwoCards =
    "index, uuid, name, pci.bus_id, power.draw.instant [W], power.draw [W], power.limit [W], utilization.gpu "
    "[%], "
    "memory.used [MiB], temperature.gpu\n"
    "0, GPU-aa, Card, 00000000:3B:00.0, 301.50 W, 299.00 W, 700.00 W, 97 %, 2 MiB, 55\n"
    "1, GPU-bb, Card, 00000000:5E:00.0, [N/A], [N/A], 700.00 W, [N/A], 1 MiB, [N/A]\n";

class NvidiaSmi : public ::testing::Test {
 protected:
  void card(const std::string& bus_id, const std::string& status) {
    const auto folder = "/sys/bus/pci/devices/" + bus_id;
    files.files[folder + "/vendor"] = "0x10de\n";
    files.files[folder + "/class"] = "0x030200\n";
    files.files[folder + "/power/runtime_status"] = status + "\n";
  }
  void answer(int exit_code, std::string out) {
    processes.answers.insert_or_assign("nvidia-smi", ProcessOutput{exit_code, std::move(out), ""});
  }

  testing::FakeFileSystem files;
  testing::FakeProcessRunner processes;
  testing::ManualClock clock{UtcTime{Milliseconds{1'700'000'000'000}}};
  std::unique_ptr<Source> source = make_tool("nvidia-smi", files, processes, clock);
};

TEST_F(NvidiaSmi, ReadsEachCardWithItsUuidAndUnknownStaysUnknown) {
  answer(0, kTwoCards);
  const auto readings = source->read();
  ASSERT_TRUE(readings);
  ASSERT_EQ(readings->size(), 2U);
  EXPECT_DOUBLE_EQ(readings->at(0).power->value(), 301.5);
  EXPECT_EQ(readings->at(0).uuid, "GPU-aa");
  EXPECT_DOUBLE_EQ(*readings->at(0).util, 0.97);
  EXPECT_EQ(*readings->at(0).memory_used_bytes, 2 * 1024 * 1024);
  EXPECT_FALSE(readings->at(1).power);
  EXPECT_FALSE(readings->at(1).util);
  EXPECT_EQ(readings->at(1).reason, "tool_prints_[N/A]");
}

TEST_F(NvidiaSmi, AfterFailuresItIsAskedLessAndLessOften) {
  processes.answers.insert_or_assign("nvidia-smi",
                                     fail(ErrorCode::timed_out, "nvidia-smi: no answer in 5 s"));
  int looks = 0;
  for (; looks < 600; ++looks) {
    EXPECT_FALSE(source->read());
    clock.advance(Milliseconds{1000});
  }
  // At 0, 5, 15, 35, 75, 155, 315 s.
  EXPECT_EQ(processes.asked.size(), 7U);
  EXPECT_EQ(source->read().error().message, "nvidia-smi: no answer in 5 s (next try in 16 s)");
}

TEST_F(NvidiaSmi, ASuccessEndsTheBackOff) {
  processes.answers.insert_or_assign("nvidia-smi",
                                     fail(ErrorCode::timed_out, "nvidia-smi: no answer in 5 s"));
  source->read();
  clock.advance(Milliseconds{5000});
  answer(0, kTwoCards);
  EXPECT_TRUE(source->read());
  EXPECT_TRUE(source->read());
}

TEST_F(NvidiaSmi, AnOldDriverIsAskedWithoutTheInstantField) {
  answer(2, "Field \"power.draw.instant\" is not a valid field to query.\n");
  source->read();
  ASSERT_EQ(processes.asked.size(), 2U);
  EXPECT_EQ(processes.asked[1][1].find("power.draw.instant"), std::string::npos);
}

TEST_F(NvidiaSmi, ADriverErrorMakesTheNodesGpusUnknown) {
  answer(9, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n");
  const auto readings = source->read();
  ASSERT_FALSE(readings);
  EXPECT_NE(readings.error().message.find("couldn't communicate"), std::string::npos);
}

TEST_F(NvidiaSmi, GoodTextOfAToolThatFailedIsNoReading) {
  answer(255, kTwoCards);
  const auto readings = source->read();
  ASSERT_FALSE(readings);
  EXPECT_NE(readings.error().message.find("nvidia-smi ended with exit code 255"), std::string::npos)
      << readings.error().message;
  EXPECT_EQ(readings.error().message.find('\n'), std::string::npos);
}

TEST_F(NvidiaSmi, ExitCodesThatOnlySpeakOfOneCardKeepTheOthers) {
  for (const int code : {14, 15}) {
    answer(code, kTwoCards);
    const auto readings = source->read();
    ASSERT_TRUE(readings) << readings.error().message;
    EXPECT_EQ(readings->at(0).power, Watts{301.5});
  }
}

TEST_F(NvidiaSmi, ALostCardIsUnknownWhicheverStreamTellsIt) {
  const std::string loss = "Unable to determine the device handle for GPU0000:B1:00.0: Unknown Error\n";
  processes.answers.insert_or_assign("nvidia-smi", ProcessOutput{15, kTwoCards, loss});
  const auto apart = source->read();
  answer(15, loss + kTwoCards);
  const auto between = source->read();
  for (const auto* readings : {&apart, &between}) {
    ASSERT_TRUE(*readings) << readings->error().message;
    ASSERT_EQ((*readings)->size(), 3U);
    EXPECT_EQ((*readings)->at(0).power, Watts{301.5});
    EXPECT_FALSE((*readings)->at(2).power);
    EXPECT_EQ((*readings)->at(2).reason, "tool_prints_Unable to determine the device handle");
  }
}

TEST(Tools, AnyToolThatExitsWithAnErrorHasFailedWhateverItPrinted) {
  const testing::FakeFileSystem files;
  testing::FakeProcessRunner processes;
  processes.answers.insert_or_assign(
      "hy-smi", ProcessOutput{1, "HCU  Temp   AvgPwr  Perf  PwrCap\n0    30.0C  112.0W  auto  355.0W\n",
                              "driver: i/o error\nmore\n"});
  const testing::ManualClock clock{UtcTime{}};
  const auto readings = make_tool("hy-smi", files, processes, clock)->read();
  ASSERT_FALSE(readings);
  EXPECT_EQ(readings.error().message, "hy-smi ended with exit code 1: driver: i/o error");
}

TEST_F(NvidiaSmi, SleepingCardsAreNotWokenAndKeepTheirIdentity) {
  card("0000:3b:00.0", "active");
  card("0000:5e:00.0", "active");
  answer(0, kTwoCards);
  source->read();
  card("0000:3b:00.0", "suspended");
  card("0000:5e:00.0", "suspended");
  const auto readings = source->read();
  EXPECT_EQ(processes.asked.size(), 1U);
  ASSERT_TRUE(readings);
  EXPECT_EQ(readings->at(0).uuid, "GPU-aa");
  EXPECT_EQ(readings->at(1).uuid, "GPU-bb");
  EXPECT_FALSE(readings->at(0).power);
}

TEST_F(NvidiaSmi, AToolOutsideThePathIsFound) {
  files.files["/usr/lib/wsl/lib/nvidia-smi"] = "";
  processes.answers.insert_or_assign("/usr/lib/wsl/lib/nvidia-smi", ProcessOutput{0, kTwoCards, ""});
  EXPECT_TRUE(source->read());
  EXPECT_TRUE(has_tool("nvidia-smi", files));
  EXPECT_FALSE(has_tool("npu-smi", files));
}

TEST(Tools, AnotherVendorsCardsAreItsOwn) {
  testing::FakeFileSystem files;
  files.files["/opt/rocm/bin/rocm-smi"] = "";
  testing::FakeProcessRunner processes;
  processes.answers.insert_or_assign(
      "/opt/rocm/bin/rocm-smi",
      ProcessOutput{0,
                    R"json({"card0": {"Max Graphics Package Power (W)": "290.0",)json"
                    R"json("Average Graphics Package Power (W)": "34.0"}})json",
                    ""});
  const testing::ManualClock clock{UtcTime{}};
  const auto readings = make_tool("rocm-smi", files, processes, clock)->read();
  ASSERT_TRUE(readings) << readings.error().to_string();
  ASSERT_EQ(readings->size(), 1U);
  EXPECT_EQ(readings->at(0).power, Watts{34});
  EXPECT_EQ(readings->at(0).power_limit, Watts{290});
  EXPECT_EQ(readings->at(0).vendor, "amd");
  EXPECT_EQ(readings->at(0).source, "rocm-smi");
}

TEST(Tools, EveryNamedOneCanBeMadeAndTheRestIsRefused) {
  const testing::FakeFileSystem files;
  testing::FakeProcessRunner processes;
  const testing::ManualClock clock{UtcTime{}};
  const auto names = tool_names();
  EXPECT_NE(std::find(names.begin(), names.end(), "nvidia-smi"), names.end());
  for (const auto& name : names) {
    const auto source = make_tool(name, files, processes, clock);
    ASSERT_TRUE(source) << name;
    EXPECT_EQ(source->name(), name);
    EXPECT_EQ(source->read().error().code, ErrorCode::not_found);
  }
  EXPECT_FALSE(make_tool("rm", files, processes, clock));
}

TEST_F(NvidiaSmi, ACardMissingFromAGoodAnswerIsUnknownUntilItIsBack) {
  const std::string all = kTwoCards;
  answer(0, all);
  source->read();
  answer(0, all.substr(0, all.find("1, GPU-bb")));
  clock.advance(Milliseconds{1000});
  const auto one = source->read();
  ASSERT_EQ(one->size(), 2U);
  EXPECT_EQ(one->at(0).power, Watts{301.5});
  EXPECT_EQ(one->at(1).uuid, "GPU-bb");
  EXPECT_EQ(one->at(1).index, 1);
  EXPECT_FALSE(one->at(1).power);
  EXPECT_EQ(one->at(1).reason, "not in the tool's answer");
  EXPECT_EQ(one->at(1).at, clock.mono_now());
  answer(0, all);
  EXPECT_EQ(source->read()->size(), 2U);
}

TEST_F(NvidiaSmi, CardsThatAreNumberedAnewKeepTheNumberTheyHad) {
  const std::string all = kTwoCards;
  answer(0, all);
  source->read();
  auto renumbered = all;
  renumbered.erase(renumbered.find("0, GPU-aa"), renumbered.find("1, GPU-bb") - renumbered.find("0, GPU-aa"));
  renumbered.replace(renumbered.find("1, GPU-bb"), 1, "0");
  answer(0, renumbered);
  clock.advance(Milliseconds{1000});
  const auto readings = source->read();
  ASSERT_EQ(readings->size(), 2U);
  EXPECT_EQ(readings->at(0).uuid, "GPU-bb");
  EXPECT_EQ(readings->at(0).index, 1);
  EXPECT_EQ(readings->at(1).uuid, "GPU-aa");
  EXPECT_EQ(readings->at(1).index, 0) << "two cards of one number would share an account";
  clock.advance(Milliseconds{3'600'001});
  answer(0, renumbered);
  source->read();
  auto replaced = all;
  replaced.replace(replaced.find("GPU-aa"), 6, "GPU-cc");
  answer(0, replaced);
  EXPECT_EQ(source->read()->at(0).index, 0) << "a new card in a free place";
}

TEST_F(NvidiaSmi, ACardMissingForAnHourIsForgotten) {
  const std::string all = kTwoCards;
  answer(0, all);
  source->read();
  answer(0, all.substr(0, all.find("1, GPU-bb")));
  clock.advance(Milliseconds{3'600'001});
  EXPECT_EQ(source->read()->size(), 1U);
}

TEST_F(NvidiaSmi, ACardThatCannotBeReachedIsTheOneKnownAtItsAddress) {
  const std::string all = kTwoCards;
  answer(0, all);
  source->read();
  const auto second = all.find("0, GPU-aa");
  answer(15, all.substr(0, second) +
                 "Unable to determine the device handle for GPU 0000:3B:00.0: Unknown Error\n" +
                 all.substr(all.find("1, GPU-bb")));
  const auto readings = source->read();
  ASSERT_EQ(readings->size(), 2U);
  const auto lost =
      std::find_if(readings->begin(), readings->end(), [](const auto& r) { return r.index == 0; });
  ASSERT_NE(lost, readings->end());
  EXPECT_EQ(lost->uuid, "GPU-aa");
  EXPECT_FALSE(lost->power);
  EXPECT_EQ(lost->reason, "tool_prints_Unable to determine the device handle");
}

class NpuSmi : public ::testing::Test {
 protected:
  /// A table of cards with two dies each; `left_out` as "2/1".
  static std::string table(const std::vector<std::string>& left_out, bool with_bus = true) {
    const std::string rule = "+------+-------+------------------+\n";
    std::string text =
        rule + "| npu-smi 9.9       Version: 9.9  |\n" + rule +
        "| NPU   Name | Health | Power(W)  Temp(C) |\n"
        "| Chip  | Bus-Id | AICore(%) Memory-Usage(MB) |\n+======+=======+==================+\n";
    for (int npu = 0; npu < 4; ++npu)
      for (int chip = 0; chip < 2; ++chip) {
        const auto number = std::to_string(npu) + "/" + std::to_string(chip);
        if (std::find(left_out.begin(), left_out.end(), number) != left_out.end()) continue;
        const auto n = std::to_string(npu);
        const auto c = std::to_string(chip);
        text += "| " + n + "   X 9  | OK     | 1" + n + c + ".5    35      |\n| " + c + "    | " +
                (with_bus ? "0000:9" + n + ":0" + c + ".0" : "NA") + " | 40  1 / 2 |\n" + rule;
      }
    return text +
           "| NPU  Chip  | Process id | Process name |\n+======+=======+==================+\n"
           "| No running processes found in NPU 0 |\n" +
           rule;
  }
  Result<std::vector<Reading>> look(const std::string& text) {
    clock.advance(Milliseconds{1000});
    processes.answers.insert_or_assign("npu-smi", ProcessOutput{0, text, ""});
    return source->read();
  }
  static const Reading* find(const std::vector<Reading>& readings, int index) {
    const auto found =
        std::find_if(readings.begin(), readings.end(), [&](const auto& r) { return r.index == index; });
    return found == readings.end() ? nullptr : &*found;
  }

  testing::FakeFileSystem files;
  testing::FakeProcessRunner processes;
  testing::ManualClock clock{UtcTime{}};
  std::unique_ptr<Source> source = make_tool("npu-smi", files, processes, clock);
};

TEST_F(NpuSmi, ALostCardMovesNoOtherDie) {
  const auto all = look(table({}));
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 8U);
  const auto left = look(table({"1/0", "1/1"}));
  ASSERT_TRUE(left) << left.error().message;
  ASSERT_EQ(left->size(), 8U);
  for (const int index : {0, 1, 4, 5, 6, 7}) {
    EXPECT_EQ(find(*left, index)->power, find(*all, index)->power) << index;
    EXPECT_EQ(find(*left, index)->uuid, find(*all, index)->uuid) << index;
  }
  for (const int index : {2, 3}) {
    EXPECT_FALSE(find(*left, index)->power);
    EXPECT_EQ(find(*left, index)->reason, "not in the tool's answer");
  }
}

TEST_F(NpuSmi, ARestartWithALostCardFindsTheOthersByTheirIdentity) {
  const auto all = look(table({}));
  source = make_tool("npu-smi", files, processes, clock);
  const auto left = look(table({"0/0", "0/1"}));
  ASSERT_EQ(left->size(), 6U);
  EXPECT_EQ(left->at(0).uuid, find(*all, 2)->uuid);
  EXPECT_EQ(left->at(0).uuid, "0000:91:00.0");
}

TEST(ToolCards, RowsWithoutIdentityAreNotJoinedWhenTheirNumberChanges) {
  ToolCards cards{"any"};
  const auto rows = [](std::size_t count) {
    std::vector<metering::ToolDevice> devices(count);
    for (std::size_t i = 0; i < count; ++i) {
      devices[i].index = static_cast<std::int64_t>(i);
      devices[i].counted = true;
      devices[i].power = Watts{100};
    }
    return devices;
  };
  const auto at = [](std::int64_t ms) { return SteadyTime{Milliseconds{ms}}; };
  auto garbled = rows(1);
  garbled[0].power.reset();
  EXPECT_EQ(cards.join(garbled, at(0)).size(), 1U) << "no table of cards yet";
  auto four = rows(4);
  EXPECT_EQ(cards.join(four, at(1000)).size(), 4U);
  EXPECT_TRUE(four[3].power);
  auto three = rows(3);
  ASSERT_EQ(cards.join(three, at(2000)).size(), 4U);
  for (const auto& device : three) {
    EXPECT_FALSE(device.power);
    EXPECT_EQ(device.reason, "3 rows where there were 4, without an identity: which is which isn't known");
  }
  auto again = rows(4);
  cards.join(again, at(3000));
  EXPECT_TRUE(again[0].power);
  auto for_good = rows(3);
  EXPECT_EQ(cards.join(for_good, at(3'603'001)).size(), 3U) << "the machine stays as it is now";
  EXPECT_TRUE(for_good[0].power);
}

}  // namespace
}  // namespace tidewatt::sensors
