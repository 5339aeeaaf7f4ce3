#include "tidewatt/agent/source_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>

#include "tidewatt/base/log.h"

namespace tidewatt::agent {
namespace {

/// Safe for several threads, unlike ManualClock.
class AtomicClock final : public Clock {
 public:
  std::atomic<std::int64_t> ms{1'000'000};
  [[nodiscard]] UtcTime utc_now() const override { return UtcTime{Milliseconds{ms.load()}}; }
  [[nodiscard]] SteadyTime mono_now() const override { return SteadyTime{Milliseconds{ms.load()}}; }
};

metering::Reading reading(SteadyTime at, const std::string& source, double watts) {
  metering::Reading r;
  r.domain = "gpu";
  r.uuid = source;
  r.source = source;
  r.power = Watts{watts};
  r.at = at;
  return r;
}

/// Reads once, then blocks until it is let go.
class HangingSource final : public sensors::Source {
 public:
  struct Gate {
    std::mutex mutex;
    std::condition_variable changed;
    int reads = 0;
    bool open = false;
  };
  HangingSource(std::shared_ptr<Gate> gate, std::shared_ptr<AtomicClock> clock)
      : gate_(std::move(gate)), clock_(std::move(clock)) {}
  [[nodiscard]] std::string name() const override { return "hanging"; }
  Result<std::vector<metering::Reading>> read() override {
    std::unique_lock lock(gate_->mutex);
    ++gate_->reads;
    gate_->changed.notify_all();
    if (gate_->reads > 1) gate_->changed.wait(lock, [this] { return gate_->open; });
    return std::vector{reading(clock_->mono_now(), "hanging", 100)};
  }

 private:
  std::shared_ptr<Gate> gate_;
  std::shared_ptr<AtomicClock> clock_;
};

class ThrowingSource final : public sensors::Source {
 public:
  [[nodiscard]] std::string name() const override { return "throwing"; }
  Result<std::vector<metering::Reading>> read() override { throw std::runtime_error("bad vendor library"); }
};

class SourceRunnerTest : public ::testing::Test {
 protected:
  void SetUp() override { log::set_level(log::Level::critical); }
  std::shared_ptr<AtomicClock> clock = std::make_shared<AtomicClock>();
  std::shared_ptr<Collector> collector = std::make_shared<Collector>(Collector::Options{});
};

TEST_F(SourceRunnerTest, ASourceThatHangsDelaysNobodyAndItsDevicesBecomeUnknown) {
  auto gate = std::make_shared<HangingSource::Gate>();
  SourceRunner runner{
      std::make_unique<HangingSource>(gate, clock), {Milliseconds{1}, Milliseconds{5000}}, collector, clock};
  runner.start();
  {
    std::unique_lock lock(gate->mutex);
    gate->changed.wait(lock, [&] { return gate->reads == 1; });
  }
  {
    // The first read may still be on its way back: time goes on until the second one is due and begun.
    std::unique_lock lock(gate->mutex);
    do clock->ms += 10;
    while (!gate->changed.wait_for(lock, std::chrono::milliseconds{2}, [&] { return gate->reads == 2; }));
  }
  ASSERT_EQ(collector->finish(clock->mono_now()).size(), 1U);
  clock->ms += 20'000;
  runner.check();  // returns although the read is still under way
  EXPECT_EQ(runner.status().state, SourceWatch::State::hanging);
  const auto samples = collector->finish(clock->mono_now());
  ASSERT_EQ(samples.size(), 1U) << "listed, but unknown";
  EXPECT_EQ(samples[0].power, std::nullopt);
  EXPECT_EQ(samples[0].reason, "no answer for 20 s");
  {
    const std::lock_guard lock(gate->mutex);
    gate->open = true;
    gate->changed.notify_all();
  }
}

TEST_F(SourceRunnerTest, AThreadThatNeverComesBackIsLeftBehindAtTheEnd) {
  auto gate = std::make_shared<HangingSource::Gate>();
  gate->reads = 1;  // hangs in its first read
  {
    SourceRunner runner{std::make_unique<HangingSource>(gate, clock),
                        {Milliseconds{1}, Milliseconds{5000}},
                        collector,
                        clock};
    runner.start();
    std::unique_lock lock(gate->mutex);
    gate->changed.wait(lock, [&] { return gate->reads == 2; });
  }  // the destructor returns
  const std::lock_guard lock(gate->mutex);
  gate->open = true;  // and the thread ends by itself
  gate->changed.notify_all();
}

TEST_F(SourceRunnerTest, AnExceptionFromASourceIsAFailureNotACrash) {
  SourceRunner runner{
      std::make_unique<ThrowingSource>(), {Milliseconds{1000}, Milliseconds{5000}}, collector, clock};
  runner.read_once();
  EXPECT_EQ(runner.status().state, SourceWatch::State::failing);
  EXPECT_THAT(runner.status().trouble, ::testing::HasSubstr("bad vendor library"));
}

/// Answers well, but not for all of its devices.
class PartialSource final : public sensors::Source {
 public:
  [[nodiscard]] std::string name() const override { return "partial"; }
  Result<std::vector<metering::Reading>> read() override {
    std::vector<metering::Reading> readings(3);
    for (int i = 0; i < 3; ++i) {
      readings[static_cast<std::size_t>(i)].domain = "cpu_package";
      readings[static_cast<std::size_t>(i)].index = i;
      readings[static_cast<std::size_t>(i)].at = SteadyTime{Milliseconds{++looks_}};
    }
    readings[0].power = Watts{10};
    readings[1].reason = "the zone has vanished";
    readings[2].reason = "counter_baseline";
    readings[2].counter_epoch = "e1";
    return readings;
  }

 private:
  std::int64_t looks_ = 0;
};

/// Answers, and knows no power.
class SilentSource final : public sensors::Source {
 public:
  [[nodiscard]] std::string name() const override { return "silent"; }
  Result<std::vector<metering::Reading>> read() override {
    std::vector<metering::Reading> readings(2);
    readings[1].index = 1;
    for (auto& reading : readings) reading.reason = "energy_uj: No such file";
    return readings;
  }
};

TEST_F(SourceRunnerTest, ASourceThatKnowsNoneOfItsDevicesFailsThoughItAnswers) {
  SourceRunner runner(std::make_unique<SilentSource>(), SourceWatch{Milliseconds{1000}, Milliseconds{5000}},
                      collector, clock);
  runner.read_once();
  EXPECT_EQ(runner.status().state, SourceWatch::State::failing);
  EXPECT_EQ(runner.status().trouble, "all 2 devices unknown: energy_uj: No such file");
  EXPECT_EQ(runner.status().failures, 1U);
}

TEST_F(SourceRunnerTest, ASourceThatCannotReadAllOfItsDevicesIsUpAndSaysWhy) {
  SourceRunner runner(std::make_unique<PartialSource>(), SourceWatch{Milliseconds{1000}, Milliseconds{5000}},
                      collector, clock);
  runner.read_once();
  EXPECT_EQ(runner.status().state, SourceWatch::State::up);
  EXPECT_EQ(runner.status().trouble, "1 of 3 devices unknown: cpu_package 1: the zone has vanished");
}

/// Gives what it is told to give.
class ToldSource final : public sensors::Source {
 public:
  explicit ToldSource(std::vector<metering::Reading>& readings) : readings_(readings) {}
  [[nodiscard]] std::string name() const override { return "told"; }
  Result<std::vector<metering::Reading>> read() override { return readings_; }

 private:
  std::vector<metering::Reading>& readings_;
};

class DevicesOfASource : public SourceRunnerTest {
 protected:
  static metering::Reading zone(int index, std::string reason) {
    metering::Reading r;
    r.domain = "cpu_package";
    r.index = index;
    r.reason = std::move(reason);
    if (r.reason.empty()) r.power = Watts{50};
    r.counter_epoch = "rapl-1";
    return r;
  }
  std::string look(std::vector<metering::Reading> now) {
    readings = std::move(now);
    runner.read_once();
    return runner.status().trouble;
  }
  std::vector<metering::Reading> readings;
  SourceRunner runner{std::make_unique<ToldSource>(readings),
                      SourceWatch{Milliseconds{1000}, Milliseconds{5000}}, collector, clock};
};

TEST_F(DevicesOfASource, AFrozenCounterIsATroubleThoughItHasAnEpoch) {
  EXPECT_EQ(look({zone(0, "counter_baseline"), zone(1, "counter_baseline")}), "");
  EXPECT_EQ(look({zone(0, ""), zone(1, "counter_frozen at 5 uJ")}),
            "1 of 2 devices unknown: cpu_package 1: counter frozen at 5 uJ");
  EXPECT_EQ(runner.status().state, SourceWatch::State::up);
  EXPECT_EQ(look({zone(0, "counter_out_of_range: 9 uJ"), zone(1, "counter_frozen at 5 uJ")}),
            "all 2 devices unknown: cpu_package 0: counter beyond its range: 9 uJ; cpu_package 1: counter "
            "frozen at 5 uJ");
  EXPECT_EQ(runner.status().state, SourceWatch::State::failing);
}

TEST_F(DevicesOfASource, OnesWithoutNewsAreStillCounted) {
  look({zone(0, ""), zone(1, ""), zone(2, ""), zone(3, "")});
  EXPECT_EQ(look({zone(0, "permission denied")}), "1 of 4 devices unknown: cpu_package 0: permission denied");
  EXPECT_EQ(runner.status().state, SourceWatch::State::up);
}

TEST_F(DevicesOfASource, EachReasonNamesItsDevices) {
  EXPECT_EQ(look({zone(0, "tool_prints_[N/A]"), zone(1, "printed_zero_implausible"),
                  zone(2, "tool_prints_[N/A]"), zone(3, "")}),
            "3 of 4 devices unknown: cpu_package 0, cpu_package 2: the tool prints \"[N/A]\" instead of a "
            "power; cpu_package 1: 0 W was printed, which no device that is on draws");
}

TEST_F(DevicesOfASource, ASingleOneIsNotOneOfOne) {
  EXPECT_EQ(look({zone(0, "permission denied")}), "its only device is unknown: permission denied");
}

}  // namespace
}  // namespace tidewatt::agent
