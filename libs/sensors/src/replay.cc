#include "tidewatt/sensors/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tidewatt::sensors {
namespace {

class Replay final : public Source {
 public:
  Replay(metering::ReplayLog log, const std::string& node, double speed, const Clock& clock)
      : samples_(std::move(log.samples)), speed_(speed), clock_(clock), began_(clock.mono_now()) {
    if (!node.empty()) std::erase_if(samples_, [&](const auto& sample) { return sample.node != node; });
  }

  [[nodiscard]] std::string name() const override { return "replay"; }

  Result<std::vector<Reading>> read() override {
    if (next_ >= samples_.size())
      return fail(ErrorCode::not_found,
                  fmt::format("replay: the log is over after {} samples", samples_.size()));
    const auto now = clock_.mono_now();
    std::vector<Reading> readings;
    for (; next_ < samples_.size() && due(samples_[next_]) <= now; ++next_)
      readings.push_back(reading_of(samples_[next_]));
    return readings;
  }

 private:
  [[nodiscard]] SteadyTime due(const metering::ReplaySample& sample) const {
    const auto into = static_cast<double>((sample.at - samples_.front().at).count());
    return began_ + Milliseconds{std::llround(into / speed_)};
  }

  [[nodiscard]] Reading reading_of(const metering::ReplaySample& sample) const {
    Reading reading;
    reading.domain = sample.domain;
    reading.index = sample.index;
    reading.uuid = sample.uuid;
    reading.power = sample.watts;
    reading.source = name();
    reading.at = due(sample);
    return reading;
  }

  std::vector<metering::ReplaySample> samples_;
  double speed_;
  const Clock& clock_;
  SteadyTime began_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Source> make_replay(metering::ReplayLog log, std::string node, double speed,
                                    const Clock& clock) {
  return std::make_unique<Replay>(std::move(log), node, speed > 0 && std::isfinite(speed) ? speed : 1, clock);
}

}  // namespace tidewatt::sensors
