#include "tidewatt/metering/counter.h"

#include <fmt/format.h>

#include <limits>

namespace tidewatt::metering {
namespace {

constexpr double kMicro = 1e6;

double seconds_between(SteadyTime a, SteadyTime b) { return std::chrono::duration<double>(b - a).count(); }

}  // namespace

CounterStep CounterAccumulator::begin_epoch(std::uint64_t raw, SteadyTime at, std::string reason) {
  last_ = Seen{raw, at, at};
  total_ = {};
  ++epoch_;
  return {total_, epoch_, std::nullopt, false, std::move(reason)};
}

std::optional<std::uint64_t> CounterAccumulator::energy_since(const Seen& last, std::uint64_t raw,
                                                              SteadyTime at, std::string& why_not) const {
  const double most = max_power_.value() * seconds_between(last.changed_at, at) * kMicro;
  if (range_ && most >= static_cast<double>(*range_)) {
    why_not =
        fmt::format("counter_lap_could_hide: {:.0f} s between reads", seconds_between(last.changed_at, at));
    return std::nullopt;
  }
  if (raw < last.raw && !range_) {
    why_not = fmt::format("counter_decreased: {} -> {} uJ with an unknown range", last.raw, raw);
    return std::nullopt;
  }
  // The counter shows range + 1 states; hardware documents the range as the value added at a wrap.
  const std::uint64_t energy = raw >= last.raw ? raw - last.raw : *range_ - last.raw + raw;
  if (static_cast<double>(energy) > most) {
    why_not = fmt::format("counter_implausible: {} -> {} uJ in {:.3f} s", last.raw, raw,
                          seconds_between(last.changed_at, at));
    return std::nullopt;
  }
  return energy;
}

CounterStep CounterAccumulator::update(std::uint64_t raw, SteadyTime at) {
  if ((range_ && raw > *range_) ||
      raw > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    last_.reset();
    return {std::nullopt, epoch_, std::nullopt, false, fmt::format("counter_out_of_range: {} uJ", raw)};
  }
  if (!last_) return begin_epoch(raw, at, "counter_baseline");
  if (at <= last_->read_at) return {total_, epoch_, std::nullopt, true, {}};  // no time has passed
  if (raw == last_->raw) {
    last_->read_at = at;
    if (at - last_->changed_at < kFrozenAfter) return {total_, epoch_, std::nullopt, true, {}};
    return {total_, epoch_, std::nullopt, false, fmt::format("counter_frozen at {} uJ", raw)};
  }
  std::string why_not;
  const auto energy = energy_since(*last_, raw, at, why_not);
  if (!energy || total_.n > std::numeric_limits<std::int64_t>::max() - static_cast<std::int64_t>(*energy))
    return begin_epoch(raw, at, why_not.empty() ? "counter_total_full" : why_not);
  const double elapsed = seconds_between(last_->changed_at, at);
  total_ += Microjoules{static_cast<std::int64_t>(*energy)};
  last_ = Seen{raw, at, at};
  return {total_, epoch_, Watts{static_cast<double>(*energy) / kMicro / elapsed}, false, {}};
}

}  // namespace tidewatt::metering
