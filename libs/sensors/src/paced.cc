#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tidewatt/sensors/node_meters.h"

namespace tidewatt::sensors {
namespace {

constexpr int kHoldIntervals = 2;

class Paced final : public Source {
 public:
  Paced(std::unique_ptr<Source> meter, Pace pace, const Clock& clock)
      : meter_(std::move(meter)), pace_(pace), clock_(clock), pause_(pace.first_pause) {}

  [[nodiscard]] std::string name() const override { return meter_->name(); }

  Result<std::vector<Reading>> read() override {
    const auto now = clock_.mono_now();
    if (due_ && now < *due_) {
      if (!failure_) return std::vector<Reading>{};
      return fail(failure_->code,
                  fmt::format("{} (next try in {} s)", failure_->message, (*due_ - now).count() / 1000 + 1),
                  failure_->hint);
    }
    auto readings = meter_->read();
    if (!readings) {
      failure_ = readings.error();
      joined_ = false;
      due_ = clock_.mono_now() + pause_;
      pause_ = std::min(2 * pause_, pace_.longest_pause);
      return readings;
    }
    failure_.reset();
    pause_ = pace_.first_pause;
    // On a grid: polls that drifted would leave now and then a beat with one less.
    due_ = due_ && joined_ && *due_ + pace_.interval > now ? *due_ + pace_.interval : now + pace_.interval;
    for (auto& reading : *readings)
      reading.hold = joined_ ? kHoldIntervals * pace_.interval : Milliseconds{0};
    joined_ = true;
    return readings;
  }

 private:
  std::unique_ptr<Source> meter_;
  Pace pace_;
  const Clock& clock_;
  std::optional<SteadyTime> due_;  ///< of the next poll
  std::optional<Error> failure_;   ///< of the last poll
  Milliseconds pause_;
  bool joined_ = false;  ///< the last poll succeeded: the next reading reaches back to it
};

}  // namespace

std::unique_ptr<Source> make_paced(std::unique_ptr<Source> meter, Pace pace, const Clock& clock) {
  return std::make_unique<Paced>(std::move(meter), pace, clock);
}

}  // namespace tidewatt::sensors
