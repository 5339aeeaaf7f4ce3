#include "tidewatt/agent/beats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixed_rng.h"
#include "tidewatt/base/log.h"
#include "tidewatt/testing/fake_file_system.h"
#include "tidewatt/testing/manual_clock.h"
#include "tidewatt/wire/beat_json.h"

namespace tidewatt::agent {
namespace {

using ::testing::ElementsAre;

class BeatsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    log::set_level(log::Level::critical);
    files.files["/proc/stat"] = "cpu 0 0 0 100\ncpu0 0 0 0 100\n";
  }
  tidewatt::testing::FakeFileSystem files;
  tidewatt::testing::ManualClock clock{UtcTime{std::chrono::seconds{1'800'000'000}}};
  Collector collector{{}};
  std::vector<std::unique_ptr<SourceRunner>> sources;
  NodeFacts facts{.cluster = "c1",
                  .node_id = "n1",
                  .boot_id = "b1",
                  .agent_id = "a1",
                  .agent_version = "1.2.3",
                  .region = "r1",
                  .zone = "DE",
                  .labels = {{"rack", "7"}},
                  .cpu_cores = 4,
                  .cpu_model = "CPU"};
};

TEST_F(BeatsTest, CpuTimeAndEnergyAreOfTheSameInterval) {
  const auto shared_files = std::make_shared<tidewatt::testing::FakeFileSystem>();
  const auto shared_clock = std::make_shared<tidewatt::testing::ManualClock>(clock.utc_now());
  const auto cgroup = [&](const std::string& busy_ticks, const std::string& used) {
    shared_files->files["/proc/stat"] = "cpu " + busy_ticks + " 0 0 100000\ncpu0 0 0 0 0\n";
    shared_files->files["/sys/fs/cgroup/cgroup.controllers"] = "cpu";
    shared_files->files["/sys/fs/cgroup/slurm/uid_0/job_5/cpu.stat"] = "usage_usec " + used + "\n";
  };
  AttributionSettings settings;
  settings.cpu = attribution::CpuPolicy::keep_idle;
  cgroup("0", "0");
  AttributionThread thread{std::make_unique<WorkloadScanner>(shared_files, shared_clock, settings),
                           Milliseconds{30'000}};
  Beats beats{facts, *shared_clock, *shared_files, collector, sources, &thread};
  const auto beat_after = [&](const std::string& busy_ticks, const std::string& used) {
    shared_clock->advance(Milliseconds{10'000});
    cgroup(busy_ticks, used);
    metering::Reading r;
    r.domain = kDomainCpuPackage;
    r.power = Watts{10};
    r.source = "rapl";
    r.at = shared_clock->mono_now();
    collector.add("rapl", {r}, shared_clock->mono_now());
    return beats.make();
  };
  const auto first = beat_after("100", "1000000");
  const auto second = beat_after("1000", "10000000");
  EXPECT_DOUBLE_EQ(*first.devices.at(0).holders.at(0).compute_share, 0.1);
  EXPECT_DOUBLE_EQ(*second.devices.at(0).holders.at(0).compute_share, 0.9);
  EXPECT_DOUBLE_EQ(*second.devices.at(0).unheld->compute_share, 0.1);
}

TEST_F(BeatsTest, ABeatSaysWhoWhenAndWhat) {
  Beats beats{facts, clock, files, collector, sources};
  metering::Reading r;
  r.domain = "gpu";
  r.uuid = "GPU-1";
  r.power = Watts{250};
  r.source = "sim";
  r.at = clock.mono_now();
  collector.add("sim", {r}, clock.mono_now());
  files.files["/proc/stat"] = "cpu 30 0 0 170\ncpu0 30 0 0 170\n";
  const Beat beat = beats.make();
  EXPECT_EQ(beat.cluster, "c1");
  EXPECT_EQ(beat.node_id, "n1");
  EXPECT_EQ(beat.boot_id, "b1");
  EXPECT_EQ(beat.agent_id, "a1");
  EXPECT_EQ(beat.zone, "DE");
  EXPECT_EQ(beat.region, "r1");
  EXPECT_EQ(beat.cpu_cores, 4);
  EXPECT_EQ(beat.cpu_model, "CPU");
  EXPECT_DOUBLE_EQ(beat.cpu_util.value(), 0.3);
  EXPECT_EQ(beat.sampled_at, clock.utc_now());
  EXPECT_EQ(beat.monotonic, clock.mono_now().time_since_epoch());
  ASSERT_EQ(beat.devices.size(), 1U);
  EXPECT_EQ(beat.devices[0].power, Watts{250});
}

/// Gives one card, or an error.
class FixedSource final : public sensors::Source {
 public:
  FixedSource(std::string name, std::optional<Error> error)
      : name_(std::move(name)), error_(std::move(error)) {}
  [[nodiscard]] std::string name() const override { return name_; }
  Result<std::vector<metering::Reading>> read() override {
    if (error_) return tl::unexpected(*error_);
    return std::vector<metering::Reading>{};
  }

 private:
  std::string name_;
  std::optional<Error> error_;
};

TEST_F(BeatsTest, SourcesThatGiveNothingSayWhyInTheBeat) {
  const auto shared = std::make_shared<Collector>(Collector::Options{});
  const auto own_clock = std::make_shared<tidewatt::testing::ManualClock>(clock.utc_now());
  const auto add = [&](const std::string& name, std::optional<Error> error) {
    sources.push_back(std::make_unique<SourceRunner>(std::make_unique<FixedSource>(name, std::move(error)),
                                                     SourceWatch{Milliseconds{1'000}, Milliseconds{5'000}},
                                                     shared, own_clock));
  };
  add("nvidia", Error{ErrorCode::not_found, "no driver\xff\nhere" + std::string(400, 'x'), "install it"});
  add("rapl", std::nullopt);
  add("ipmi", std::nullopt);
  add("tool", Error{ErrorCode::unavailable, "no answer in 5 s (next try in 241 s)", ""});
  sources[3]->read_once();
  sources[0]->read_once();
  sources[1]->read_once();
  Beats beats{facts, clock, files, collector, sources};
  const auto told = beats.make().sources;
  ASSERT_EQ(told.size(), 4U);
  EXPECT_EQ(told[3], (SourceReport{"tool", SourceState::failed, "no answer in 5 s"}));
  EXPECT_EQ(told[0].source, "nvidia");
  EXPECT_EQ(told[0].state, SourceState::absent) << "not on this machine is no fault";
  EXPECT_TRUE(told[0].reason.starts_with("no driver??herexxx")) << told[0].reason;
  EXPECT_EQ(told[0].reason.size(), SourceReport::kLongestReason);
  EXPECT_EQ(told[1], (SourceReport{"rapl", SourceState::ok, ""}));
  EXPECT_EQ(told[2].state, SourceState::starting) << "not read yet";
  for (int i = 0; i < 40; ++i) add("s" + std::to_string(i), std::nullopt);
  add("last", Error{ErrorCode::io, "broken", ""});
  for (std::size_t i = 2; i < sources.size(); ++i) sources[i]->read_once();
  const auto many = beats.make().sources;
  ASSERT_EQ(many.size(), SourceReport::kMost);
  EXPECT_EQ(many[2].source, "last") << "what gives nothing comes first where there are too many";
}

TEST_F(BeatsTest, ANodeWithoutSourcesStillBeats) {
  Beats beats{facts, clock, files, collector, sources};
  EXPECT_TRUE(beats.make().devices.empty());
}

TEST_F(BeatsTest, SpooledBeatsAreNumberedWithoutAHoleAcrossARestart) {
  CountingRng rng;
  for (int process = 0; process < 3; ++process) {
    auto spool = std::move(*Spool::open(files, clock, {.folder = "/s", .boot_id = "b1"}));
    Identity identity{files, rng, "/s", "b1", *spool};
    Beats beats{facts, clock, files, collector, sources};
    for (int i = 0; i < 4; ++i) beats.make_and_spool(*spool, identity);
  }
  auto spool = std::move(*Spool::open(files, clock, {.folder = "/s", .boot_id = "b1"}));
  wire::BeatParser parser;
  std::uint64_t expected = 1;
  for (const auto& record : spool->peek(100, 1U << 20U)) {
    const auto parsed = parser.parse(record.payload);
    ASSERT_TRUE(parsed);
    ASSERT_TRUE(parsed->at(0));
    EXPECT_EQ(parsed->at(0)->seq, expected++);
  }
  EXPECT_EQ(expected, 13U);
}

TEST(RunBeats, KeepsToTheGridSkipsMissedTurnsAndStops) {
  tidewatt::testing::ManualClock clock{UtcTime{std::chrono::seconds{1'800'000'000}}};
  const SteadyTime start = clock.mono_now();
  FixedRng rng{0.25};
  std::vector<std::int64_t> at;
  const auto wait = [&](Milliseconds time) {
    clock.advance(at.size() == 5 ? Milliseconds{7'000} : time);
    return at.size() == 5;
  };
  run_beats(clock, rng, Milliseconds{20'000}, wait, [&] {
    at.push_back((clock.mono_now() - start).count());
    // The second beat takes long: a slow disk.
    clock.advance(at.size() == 2 ? Milliseconds{50'000} : Milliseconds{3});
  });
  EXPECT_THAT(at, ElementsAre(5'750, 25'750, 85'750, 105'750, 125'750, 132'753)) << "the last at the stop";
}

TEST(RunBeats, NoTwoBeatsAreMillisecondsApart) {
  tidewatt::testing::ManualClock clock{UtcTime{std::chrono::seconds{1'800'000'000}}};
  const SteadyTime start = clock.mono_now();
  FixedRng rng{0};
  std::vector<std::int64_t> at;
  const auto wait = [&](Milliseconds time) {
    clock.advance(at.size() == 3 ? Milliseconds{6} : time);
    return at.size() == 3;
  };
  run_beats(clock, rng, Milliseconds{10'000}, wait, [&] {
    at.push_back((clock.mono_now() - start).count());
    clock.advance(Milliseconds{at.size() == 1 ? 9'990 : 5});  // done just before the next turn
  });
  EXPECT_THAT(at, ElementsAre(1'000, 21'000, 31'000)) << "and none just after the last";
}

TEST(RunBeats, AnEarlyWakeIsNoBeat) {
  tidewatt::testing::ManualClock clock{UtcTime{std::chrono::seconds{1'800'000'000}}};
  FixedRng rng{0.5};
  int waits = 0;
  int beats = 0;
  const auto wait = [&](Milliseconds time) {
    clock.advance(time / 2 + Milliseconds{time.count() % 2});
    return ++waits > 40;
  };
  run_beats(clock, rng, Milliseconds{1'000'000}, wait, [&] { ++beats; });
  EXPECT_GE(beats, 1);
  EXPECT_LE(beats, 3) << "the last at the stop";
}

}  // namespace
}  // namespace tidewatt::agent
