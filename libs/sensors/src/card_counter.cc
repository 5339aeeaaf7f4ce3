#include "card_counter.h"

#include <fmt/format.h>

#include <limits>

#include "tidewatt/metering/counter.h"
#include "tidewatt/units/exact.h"

namespace tidewatt::sensors {

void CardCounter::put(Reading& reading, std::optional<std::uint64_t> microjoules, const std::string& run) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!microjoules || *microjoules > kMost) return;
  if (last_ && *microjoules == last_->value) {
    const bool stands = reading.at - last_->since >= metering::CounterAccumulator::kFrozenAfter;
    frozen_ = frozen_ || (stands && reading.power && reading.power->value() > 0);
  } else {
    if (last_ && (frozen_ || *microjoules < last_->value)) ++epoch_;
    last_ = Seen{*microjoules, reading.at};
    frozen_ = false;
  }
  if (frozen_) return;
  reading.energy_total = to_joules(Microjoules{static_cast<std::int64_t>(*microjoules)});
  reading.counter_epoch = fmt::format("{}-{}", run, epoch_);
}

}  // namespace tidewatt::sensors
