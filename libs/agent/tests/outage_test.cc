// An agent's hours without a server, in simulated time: the spool, the identity, the beats and the ledger's
// rules together.
#include <gtest/gtest.h>
#include <malloc.h>

#include <map>

#include "fixed_rng.h"
#include "tidewatt/agent/beats.h"
#include "tidewatt/base/log.h"
#include "tidewatt/ledger/ledger.h"
#include "tidewatt/store/memory.h"
#include "tidewatt/testing/fake_file_system.h"
#include "tidewatt/testing/manual_clock.h"
#include "tidewatt/wire/beat_json.h"

namespace tidewatt::agent {
namespace {

constexpr UtcTime kStart{std::chrono::milliseconds{1'800'000'000'000}};
constexpr int kBeatSeconds = 20;
constexpr double kWatts = 300;

class OutageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    log::set_level(log::Level::critical);
    files.files["/proc/stat"] = "cpu 0 0 0 100\ncpu0 0 0 0 100\n";
    start_agent();
  }

  void start_agent() {
    running.spool = *Spool::open(files, clock, {.folder = "/s", .boot_id = "b1"});
    running.identity = std::make_unique<Identity>(files, rng, "/s", "b1", *running.spool);
    running.collector = std::make_unique<Collector>(Collector::Options{});
    NodeFacts facts;
    facts.cluster = "default";
    facts.node_id = "n1";
    facts.boot_id = "b1";
    facts.agent_id = running.identity->agent_id();
    running.beats = std::make_unique<Beats>(facts, clock, files, *running.collector, sources);
  }
  /// kill -9 and a cut of power: what was not synced is gone.
  void kill_agent() {
    dropped_in_memory += running.spool->stats().lost_memory;
    running = {};
    files.power_cut();
  }

  void seconds(int n) {
    for (int i = 0; i < n; ++i) {
      clock.advance(Milliseconds{1000});
      metering::Reading r;
      r.domain = kDomainGpu;
      r.uuid = "GPU-0";
      r.power = Watts{kWatts};
      r.source = "fake";
      r.at = clock.mono_now();
      running.collector->add("fake", {r}, clock.mono_now());
      if (++since_beat < kBeatSeconds) continue;
      since_beat = 0;
      running.beats->make_and_spool(*running.spool, *running.identity);
      ++made;
    }
  }

  /// All that waits goes to the server, which books it at its own time.
  void deliver() {
    wire::BeatParser parser;
    for (;;) {
      const auto batch = running.spool->peek(100, 1U << 20U);
      if (batch.empty()) return;
      std::string body;
      for (const auto& record : batch) body += (body.empty() ? "[" : ",") + record.payload;
      auto beats = parser.parse(body + "]");
      ASSERT_TRUE(beats);
      std::vector<ledger::ReceivedBeat> received;
      for (auto& beat : *beats)
        received.push_back({&*beat, {clock.utc_now(), clock.mono_now().time_since_epoch(), "run"}});
      for (const auto& result : ledger.book(received, {})) ++outcomes[result.outcome];
      running.spool->acknowledge(batch.back().id);
    }
  }

  ledger::WideMeasures booked() {
    return store->accounts({ledger::Scope::node, "", {"n1"}, ""})->at(0).totals;
  }

  struct Running {
    std::unique_ptr<Spool> spool;
    std::unique_ptr<Identity> identity;
    std::unique_ptr<Collector> collector;
    std::unique_ptr<Beats> beats;
  };
  tidewatt::testing::FakeFileSystem files;
  tidewatt::testing::ManualClock clock{kStart};
  CountingRng rng;
  std::vector<std::unique_ptr<SourceRunner>> sources;
  Running running;
  std::unique_ptr<ledger::Store> store = store::make_memory_store();
  ledger::Ledger ledger{*store, ledger::Rules{}};
  std::map<ledger::BeatOutcome, std::uint64_t> outcomes;
  int since_beat = 0;
  std::uint64_t made = 0;
  std::uint64_t dropped_in_memory = 0;
};

TEST_F(OutageTest, AnHourWithoutServerAndFiveKillsLoseNothing) {
  seconds(kBeatSeconds);
  deliver();
  for (int kill = 0; kill < 5; ++kill) {
    seconds(600);
    kill_agent();
    start_agent();
  }
  seconds(600);
  deliver();
  EXPECT_EQ(made, 181U);
  EXPECT_EQ(outcomes[ledger::BeatOutcome::accepted], made);
  const auto total = booked();
  EXPECT_EQ(total.energy.to_string(), "1080000000000") << "300 W for an hour, to the microjoule";
  EXPECT_EQ(total.gap, Milliseconds{0});
}

TEST_F(OutageTest, WhatAFullDiskLosesAtAKillIsAGapThatIsDisclosed) {
  seconds(kBeatSeconds);
  deliver();
  seconds(600);
  files.bytes_left = 100;  // the next beat fits in part only
  seconds(600);
  EXPECT_TRUE(running.spool->stats().degraded);
  EXPECT_EQ(running.spool->stats().waiting, 60U) << "kept in memory meanwhile";
  const auto in_memory_only = std::uint64_t{30};
  kill_agent();
  start_agent();
  seconds(600);
  files.bytes_left.reset();
  seconds(1800);
  EXPECT_FALSE(running.spool->stats().degraded);
  deliver();
  EXPECT_EQ(outcomes[ledger::BeatOutcome::accepted], made - in_memory_only);
  EXPECT_EQ(outcomes[ledger::BeatOutcome::rejected] + outcomes[ledger::BeatOutcome::duplicate], 0U);
  const auto total = booked();
  // 30 beats are gone: of the 620 s to the next one, 60 count and the rest is said to be missing.
  EXPECT_EQ(total.gap, Milliseconds{560'000});
  EXPECT_EQ(total.covered + total.gap, Milliseconds{3'600'000});
  EXPECT_EQ(total.energy.raw(), total.covered.count() * 300'000) << "nothing is filled in";
}

TEST_F(OutageTest, ADayWithoutGrowth) {
  const auto in_use = [] { return mallinfo2().uordblks; };
  seconds(3600);
  deliver();
  store = nullptr;  // its hours may grow, the agent's memory may not
  const auto drop = [&] {
    while (true) {
      const auto batch = running.spool->peek(100, 1U << 20U);
      if (batch.empty()) return;
      running.spool->acknowledge(batch.back().id);
    }
  };
  for (int minutes = 0; minutes < 60; ++minutes) {
    seconds(60);
    drop();
  }
  const auto before = in_use();
  for (int minutes = 0; minutes < 24 * 60; ++minutes) {
    seconds(60);
    drop();
  }
  EXPECT_LT(in_use(), before + 65'536) << "bytes in use after a day of samples";
}

}  // namespace
}  // namespace tidewatt::agent
