#include <algorithm>

#include "tidewatt/ledger/integrate.h"

namespace tidewatt::ledger {
namespace {

using Int128 = WideMicrojoules::Int;

/// Below this, a counter that stands still says nothing: its resolution may be a joule.
constexpr Microjoules kLeastVisible{1'000'000};

/// More than twice what the device may draw; without a known limit, more than any device draws.
bool implausible(Microjoules difference, std::optional<Milliwatts> limit, Milliseconds dt) {
  const Milliwatts most = limit && limit->n > 0 ? Milliwatts{2 * limit->n} : kMostDevicePower;
  return Int128{difference.n} > Int128{most.n} * dt.count();
}

bool frozen(Microjoules difference, std::optional<Milliwatts> power, Milliseconds dt) {
  return difference.n == 0 && power && Int128{power->n} * dt.count() >= kLeastVisible.n;
}

}  // namespace

std::optional<DeviceInterval> integrate_device(UtcTime begin_at, std::optional<Microjoules> begin_counter,
                                               const IntervalEnd& end, Milliseconds max_gap) {
  const Milliseconds dt = end.at - begin_at;
  if (dt <= Milliseconds{0} || (!end.power && !end.counter)) return std::nullopt;

  DeviceInterval interval;
  if (begin_counter && end.counter && end.counter_comparable) {
    const Microjoules difference = *end.counter - *begin_counter;
    if (difference.n < 0) {
      interval.counter_note = Note::counter_reset;
    } else if (implausible(difference, end.limit, dt)) {
      interval.counter_note = Note::counter_implausible;
    } else if (frozen(difference, end.power, dt)) {
      interval.counter_note = Note::counter_frozen;
    } else {
      interval.energy = difference;
      interval.counted = dt;
      interval.by_counter = true;
      return interval;
    }
  }
  const auto counted = std::min(dt, max_gap);
  const auto energy = end.power ? energy_of(*end.power, counted) : std::nullopt;
  // A counter that can't be compared and no power beside it: nothing is known of these seconds, and that is
  // said.
  interval.counted = energy ? counted : Milliseconds{0};
  interval.energy = energy.value_or(Microjoules{});
  interval.gap = dt - interval.counted;
  return interval;
}

}  // namespace tidewatt::ledger
