#include "tidewatt/agent/source_factory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tidewatt/testing/fake_file_system.h"
#include "tidewatt/testing/fake_process.h"
#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::agent {
namespace {

using ::testing::ElementsAre;

class ScriptedSource final : public sensors::Source {
 public:
  explicit ScriptedSource(std::shared_ptr<Result<std::vector<sensors::Reading>>> answer,
                          std::shared_ptr<int> reads)
      : answer_(std::move(answer)), reads_(std::move(reads)) {}
  [[nodiscard]] std::string name() const override { return "scripted"; }
  Result<std::vector<sensors::Reading>> read() override {
    ++*reads_;
    return *answer_;
  }

 private:
  std::shared_ptr<Result<std::vector<sensors::Reading>>> answer_;
  std::shared_ptr<int> reads_;
};

class FallbackTest : public ::testing::Test {
 protected:
  using Answer = Result<std::vector<sensors::Reading>>;
  std::shared_ptr<tidewatt::testing::ManualClock> clock =
      std::make_shared<tidewatt::testing::ManualClock>(UtcTime{std::chrono::seconds{1'800'000'000}});
  std::shared_ptr<Answer> library = std::make_shared<Answer>(std::vector<sensors::Reading>(1));
  std::shared_ptr<Answer> tool = std::make_shared<Answer>(std::vector<sensors::Reading>(2));
  std::shared_ptr<int> library_reads = std::make_shared<int>(0);
  std::shared_ptr<int> tool_reads = std::make_shared<int>(0);
  std::unique_ptr<sensors::Source> source =
      make_fallback("nvidia", std::make_unique<ScriptedSource>(library, library_reads),
                    std::make_unique<ScriptedSource>(tool, tool_reads), clock);
};

TEST_F(FallbackTest, TheLibraryIsReadWhileItIsThere) {
  EXPECT_EQ(source->read()->size(), 1U);
  EXPECT_EQ(*tool_reads, 0);
}

TEST_F(FallbackTest, TheToolStandsInAndTheLibraryIsTriedOnceAMinute) {
  *library = fail(ErrorCode::not_found, "no libnvidia-ml.so.1");
  for (int second = 0; second < 90; ++second) {
    EXPECT_EQ(source->read()->size(), 2U);
    clock->advance(Milliseconds{1000});
  }
  EXPECT_EQ(*library_reads, 2);
  EXPECT_EQ(*tool_reads, 90);
  *library = std::vector<sensors::Reading>(1);
  clock->advance(std::chrono::minutes{1});
  EXPECT_EQ(source->read()->size(), 1U) << "the driver came back";
}

TEST_F(FallbackTest, ALibraryThatHangsIsNotAnsweredByStartingProcesses) {
  *library = fail(ErrorCode::timed_out, "no answer");
  EXPECT_EQ(source->read().error().code, ErrorCode::timed_out);
  EXPECT_EQ(*tool_reads, 0);
}

TEST_F(FallbackTest, WithoutEitherTheLibrarysReasonIsTold) {
  *library = fail(ErrorCode::not_found, "no libnvidia-ml.so.1");
  *tool = fail(ErrorCode::not_found, "no nvidia-smi");
  EXPECT_EQ(source->read().error().message, "no libnvidia-ml.so.1");
  *tool = fail(ErrorCode::unavailable, "no nvidia-smi (next try in 5 s)");
  EXPECT_EQ(source->read().error().message, "no libnvidia-ml.so.1") << "the tool only waits";
  *tool = fail(ErrorCode::io, "nvidia-smi: driver mismatch");
  EXPECT_EQ(source->read().error().code, ErrorCode::io);
}

TEST(BuildSources, AutoReadsWhatANodeMayHave) {
  const SourceParts parts{std::make_shared<tidewatt::testing::FakeFileSystem>(),
                          std::make_shared<tidewatt::testing::ManualClock>(UtcTime{std::chrono::seconds{1}}),
                          std::make_shared<tidewatt::testing::FakeProcessRunner>(), "n1", 1};
  const auto sources = build_sources({*parse_source("auto")}, parts);
  ASSERT_TRUE(sources);
  std::vector<std::string> names;
  for (const auto& source : *sources) names.push_back(source->name());
  EXPECT_THAT(names, ElementsAre("nvidia", "rapl", "hwmon", "ipmi"));
}

class LibrarySources : public ::testing::Test {
 protected:
  std::vector<std::string> build(const std::string& spec) {
    auto made = build_sources({*parse_source(spec)}, parts);
    EXPECT_TRUE(made);
    sources = std::move(*made);
    std::vector<std::string> names;
    for (const auto& source : sources) names.push_back(source->name());
    return names;
  }
  void card(const std::string& vendor) {
    files->files["/sys/bus/pci/devices/0000:03:00.0/vendor"] = vendor + "\n";
    files->files["/sys/bus/pci/devices/0000:03:00.0/class"] = "0x120000\n";
  }

  std::vector<std::string> started;
  std::shared_ptr<tidewatt::testing::FakeFileSystem> files =
      std::make_shared<tidewatt::testing::FakeFileSystem>();
  std::shared_ptr<tidewatt::testing::FakeProcessRunner> processes =
      std::make_shared<tidewatt::testing::FakeProcessRunner>();
  SourceParts parts{files,
                    std::make_shared<tidewatt::testing::ManualClock>(UtcTime{std::chrono::seconds{1}}),
                    processes,
                    "n1",
                    1,
                    Milliseconds{20'000},
                    "",
                    [this](const std::string& library) -> Result<std::unique_ptr<Companion>> {
                      started.push_back(library);
                      return fail(ErrorCode::not_found, library + ": no such library");
                    }};
  std::vector<std::unique_ptr<sensors::Source>> sources;
};

TEST_F(LibrarySources, ALibraryIsReadInAProcessOfItsOwn) {
  EXPECT_THAT(build("level-zero"), ElementsAre("level-zero"));
  EXPECT_EQ(sources[0]->read().error().code, ErrorCode::not_found);
  EXPECT_THAT(started, ElementsAre("level-zero"));
}

TEST_F(LibrarySources, WithoutCardsNoProcessIsStarted) {
  build("auto");
  EXPECT_EQ(sources[0]->read().error().code, ErrorCode::not_found);
  EXPECT_TRUE(started.empty());
  EXPECT_TRUE(processes->asked.empty());
  files->files["/dev/nvidiactl"] = "";
  sources[0]->read();
  EXPECT_THAT(started, ElementsAre("nvml")) << "the driver came";
}

TEST_F(LibrarySources, AutoTriesEachWayToTheCardsThatAreThere) {
  card("0x1002");
  EXPECT_THAT(build("auto"), ElementsAre("amd", "nvidia", "rapl", "hwmon", "ipmi"));
  EXPECT_FALSE(sources[0]->read());
  EXPECT_THAT(started, ElementsAre("amdsmi", "rocm-smi-lib"));
}

TEST_F(LibrarySources, CardsOfTwoSourcesNeverShareANumber) {
  EXPECT_EQ(build("sim:gpus=2").size(), 1U);
  auto made = build_sources({*parse_source("sim:gpus=2"), *parse_source("sim:gpus=3")}, parts);
  ASSERT_TRUE(made);
  std::vector<int> numbers;
  for (const auto& source : *made) {
    const auto readings = source->read();
    ASSERT_TRUE(readings);
    for (const auto& reading : *readings)
      if (reading.domain == kDomainGpu) numbers.push_back(reading.index);
  }
  EXPECT_THAT(numbers, ElementsAre(0, 1, 100, 101, 102));
}

TEST_F(LibrarySources, AToolThatGivesNothingTakesNoNumbers) {
  auto made = build_sources(
      {*parse_source("tool:tt-smi"), *parse_source("sim:gpus=2"), *parse_source("sim:gpus=1")}, parts);
  ASSERT_TRUE(made);
  EXPECT_FALSE(made->at(0)->read());
  for (int look = 0; look < 2; ++look) {
    EXPECT_EQ(made->at(1)->read()->at(0).index, 0) << "the only cards";
    EXPECT_EQ(made->at(2)->read()->at(0).index, 100);
  }
}

TEST_F(LibrarySources, AutoLeavesOutTheVendorsThatAreNamedBesideIt) {
  card("0x19e5");
  EXPECT_THAT(build("auto"), ElementsAre("huawei", "nvidia", "rapl", "hwmon", "ipmi"));
  auto made =
      build_sources({*parse_source("auto"), *parse_source("tool:npu-smi"), *parse_source("nvml")}, parts);
  ASSERT_TRUE(made);
  std::vector<std::string> names;
  for (const auto& source : *made) names.push_back(source->name());
  EXPECT_THAT(names, ElementsAre("rapl", "hwmon", "ipmi", "npu-smi", "nvml"));
}

TEST_F(LibrarySources, WhatIsSimulatedNeverSharesANumberWithRealRails) {
  for (const auto& order : {std::vector<const char*>{"rapl", "sim:gpus=1"}, {"sim:gpus=1", "rapl"}}) {
    std::vector<SourceSpec> specs;
    for (const char* text : order) specs.push_back(*parse_source(text));
    auto made = build_sources(specs, parts);
    ASSERT_TRUE(made);
    for (const auto& source : *made) {
      if (source->name() != "sim") continue;
      const auto readings = source->read();
      ASSERT_TRUE(readings);
      for (const auto& reading : *readings)
        EXPECT_EQ(reading.index >= 100, reading.domain != kDomainGpu) << reading.domain << reading.index;
    }
  }
}

TEST_F(LibrarySources, AToolIsRunByItsName) {
  EXPECT_THAT(build("tool:nvidia-smi"), ElementsAre("nvidia-smi"));
  EXPECT_FALSE(sources[0]->read());
  ASSERT_EQ(processes->asked.size(), 1U);
  EXPECT_EQ(processes->asked[0][0], "nvidia-smi");
}

TEST(BuildSources, SimTakesItsNumberOfCards) {
  const SourceParts parts{
      std::make_shared<tidewatt::testing::FakeFileSystem>(),
      std::make_shared<tidewatt::testing::ManualClock>(UtcTime{std::chrono::seconds{1'800'000'000}}),
      std::make_shared<tidewatt::testing::FakeProcessRunner>(), "n1", 1};
  auto sources = build_sources({*parse_source("sim:gpus=3:cpu=0:platform=0")}, parts);
  ASSERT_TRUE(sources);
  const auto readings = sources->at(0)->read();
  ASSERT_TRUE(readings);
  EXPECT_EQ(readings->size(), 3U);
  for (const auto& reading : *readings) EXPECT_EQ(reading.quality, Quality::simulated);
}

class ReplayTest : public ::testing::Test {
 protected:
  std::shared_ptr<tidewatt::testing::FakeFileSystem> files =
      std::make_shared<tidewatt::testing::FakeFileSystem>();
  std::shared_ptr<tidewatt::testing::ManualClock> clock =
      std::make_shared<tidewatt::testing::ManualClock>(UtcTime{std::chrono::seconds{1'800'000'000}});
  auto build(const std::string& node) {
    return build_sources({*parse_source("replay:/log.csv")},
                         {files, clock, std::make_shared<tidewatt::testing::FakeProcessRunner>(), node, 10});
  }
};

TEST_F(ReplayTest, PlaysThisNodesPartAtItsSpeed) {
  files->files["/log.csv"] =
      "t_ms,node,meter,watts\n1700000000000,a,ac,100\n1700000000000,b,ac,900\n1700000010000,a,ac,200\n";
  auto sources = build("a");
  ASSERT_TRUE(sources) << sources.error().to_string();
  EXPECT_EQ(sources->at(0)->read()->at(0).power, Watts{100});
  clock->advance(Milliseconds{1000});
  EXPECT_EQ(sources->at(0)->read()->at(0).power, Watts{200});
}

TEST_F(ReplayTest, ALogOfOneNodeFitsEveryNode) {
  files->files["/log.csv"] = "t_ms,node,meter,watts\n1700000000000,a,ac,100\n";
  auto sources = build("other");
  ASSERT_TRUE(sources);
  EXPECT_EQ(sources->at(0)->read()->size(), 1U);
}

TEST_F(ReplayTest, SaysWhatIsWrongWithTheLog) {
  EXPECT_THAT(build("a").error().to_string(), ::testing::HasSubstr("/log.csv"));
  files->files["/log.csv"] = "t_ms,node,meter,watts\n1700000000000,a,ac,100\n1700000000000,b,ac,900\n";
  EXPECT_THAT(build("c").error().to_string(), ::testing::HasSubstr("a, b"));
  files->files["/log.csv"] = "hello\n";
  EXPECT_EQ(build("a").error().code, ErrorCode::invalid_input);
}

}  // namespace
}  // namespace tidewatt::agent
