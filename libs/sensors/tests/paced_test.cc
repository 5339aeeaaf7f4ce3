#include <gtest/gtest.h>

#include "tidewatt/metering/interval.h"
#include "tidewatt/sensors/node_meters.h"
#include "tidewatt/testing/manual_clock.h"

namespace tidewatt::sensors {
namespace {

struct Meter final : Source {
  explicit Meter(const Clock& c) : clock(c) {}
  [[nodiscard]] std::string name() const override { return "meter"; }
  Result<std::vector<Reading>> read() override {
    ++polls;
    if (broken) return fail(ErrorCode::timed_out, "meter: no answer");
    Reading reading;
    reading.domain = "platform";
    reading.source = "meter";
    reading.power = Watts{350};
    reading.at = clock.mono_now();
    return std::vector{reading};
  }
  const Clock& clock;
  int polls = 0;
  bool broken = false;
};

class PacedMeter : public ::testing::Test {
 protected:
  // One second after another, as the sampler does; what a beat at the end says.
  DeviceSample after(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      if (const auto readings = paced->read())
        interval.add(*readings);
      else
        interval.add_failure("meter", clock.mono_now(), readings.error().message);
      clock.advance(Milliseconds{1000});
    }
    auto samples = interval.finish(clock.mono_now());
    return samples.empty() ? DeviceSample{} : samples.at(0);
  }

  testing::ManualClock clock{UtcTime{Milliseconds{1'700'000'000'000}}};
  std::unique_ptr<Meter> owned = std::make_unique<Meter>(clock);
  Meter& meter = *owned;
  std::unique_ptr<Source> paced = make_paced(std::move(owned), {}, clock);
  metering::IntervalAccumulator interval{{}};
};

TEST_F(PacedMeter, IsPolledOncePerIntervalAndCoversAllOfIt) {
  after(20);
  EXPECT_EQ(meter.polls, 2);
  const auto sample = after(20);
  EXPECT_EQ(meter.polls, 4);
  EXPECT_DOUBLE_EQ(sample.power->value(), 350);
  EXPECT_DOUBLE_EQ(sample.power_covered->value(), 20);
}

TEST_F(PacedMeter, ASlowSamplerDoesNotMakeItDrift) {
  for (int i = 0; i < 400; ++i) {  // 2,800 s, looked at every 7 s
    EXPECT_TRUE(paced->read());
    clock.advance(Milliseconds{7000});
  }
  EXPECT_EQ(meter.polls, 280);
}

TEST_F(PacedMeter, AfterAFailureThePowerIsUnknownAndNeverTheLastReading) {
  after(20);
  meter.broken = true;
  after(20);
  double covered = 0;
  for (int beat = 0; beat < 360; ++beat) {  // two hours
    const auto sample = after(20);
    EXPECT_FALSE(sample.power);
    EXPECT_FALSE(sample.reason.empty());
    covered += sample.power_covered ? sample.power_covered->value() : 0;
  }
  EXPECT_EQ(covered, 0);
}

TEST_F(PacedMeter, TheFirstReadingAfterAFailureReachesBackOverNothing) {
  after(20);
  meter.broken = true;
  after(60);
  meter.broken = false;
  double covered = 0;
  while (covered == 0) {
    const auto sample = after(1);
    if (sample.power_covered) covered = sample.power_covered->value();
    if (sample.power && covered == 0) break;
  }
  EXPECT_EQ(covered, 0);
}

TEST_F(PacedMeter, AFailingMeterIsAskedLessAndLessOften) {
  meter.broken = true;
  after(3600);
  EXPECT_LE(meter.polls, 18);  // 5, 10, 20, ... 300 s
  EXPECT_NE(paced->read().error().message.find("next try in"), std::string::npos);
}

TEST_F(PacedMeter, AStallIsNotCovered) {
  after(20);
  clock.advance(Milliseconds{3'600'000});
  const auto sample = after(1);
  EXPECT_LE(sample.power_covered->value(), 20);
}

}  // namespace
}  // namespace tidewatt::sensors
