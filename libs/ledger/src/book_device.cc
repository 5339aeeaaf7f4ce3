// The energy of one device between its last sample and this one, and whom it goes to.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "booker.h"
#include "tidewatt/metering/plausibility.h"

namespace tidewatt::ledger {
namespace {

using std::chrono::hours;

constexpr Milliseconds kHour{hours{1}};
constexpr double kLeastCovered = 0.9;
/// So long is a counter compared with the power beside it: short enough to be news, long enough for slow
/// sensors.
constexpr Milliseconds kCheckWindow{600'000};

/// What may bound a device's draw. A card keeps to its limit; a processor's first power limit is exceeded for
/// minutes, or not enforced at all, and a machine's cap may be switched off: they bound nothing.
std::optional<Watts> binding_limit(const DeviceSample& sample) {
  return sample.domain == kDomainGpu ? sample.power_limit : std::nullopt;
}

std::optional<Milliwatts> plausible(std::optional<Watts> power, std::optional<Watts> limit = std::nullopt) {
  const auto exact = power ? quantise(*power) : std::nullopt;
  if (!exact || *exact > kMostDevicePower) return std::nullopt;
  return metering::why_implausible(*power, limit).empty() ? exact : std::nullopt;
}

std::vector<Piece> cut_into_pieces(UtcRange counted, const std::vector<Segment>& segments,
                                   Microjoules energy) {
  // Nearly always: one segment within one hour takes it all.
  if (segments.size() == 1 && counted.begin < counted.end) {
    const auto& only = segments.front();
    if (only.range.begin <= counted.begin && only.range.end >= counted.end &&
        hour_of(counted.begin) == hour_of(counted.end - Milliseconds{1}))
      return {{counted, &only, energy.n}};
  }
  std::vector<Piece> pieces;
  std::vector<std::int64_t> lengths;
  for (const auto& segment : segments) {
    UtcRange rest{std::max(counted.begin, segment.range.begin), std::min(counted.end, segment.range.end)};
    while (rest.begin < rest.end) {
      const auto end = std::min(rest.end, start_of(hour_of(rest.begin) + hours{1}));
      pieces.push_back({{rest.begin, end}, &segment, 0});
      lengths.push_back((end - rest.begin).count());
      rest.begin = end;
    }
  }
  const auto parts = split_exactly(energy.n, lengths);
  for (std::size_t i = 0; i < pieces.size(); ++i) pieces[i].energy = parts[i];
  return pieces;
}

}  // namespace

void Booker::device(const DeviceSample& sample) {
  auto place = find(sample);
  const auto tasks = tasks_of(sample.holders, place ? cursor_.devices[*place].holders : TaskSet{});
  const bool booked = sample.quality != Quality::estimated;
  // A limit lowered meanwhile says nothing of the time before it was.
  auto limit = binding_limit(sample);
  if (limit && place && cursor_.devices[*place].limit)
    limit = Watts{std::max(limit->value(), to_watts(*cursor_.devices[*place].limit).value())};
  std::optional<Milliwatts> power = plausible(sample.power, limit);
  if (sample.power && !power) note(Note::power_implausible);
  if (!booked && (sample.power || sample.energy_total)) note(Note::estimated_not_booked);
  add_to_curve(sample, power, tasks);

  IntervalEnd end;
  end.at = at_;
  end.power = booked ? power : std::nullopt;
  end.counter = booked && sample.energy_total ? quantise(*sample.energy_total) : std::nullopt;
  end.limit = plausible(limit);
  auto& domain = work(sample.domain);
  // A counter alone is a reading where it can be compared and has moved; else the next known value spans
  // these seconds. One that stands still says nothing: it may be frozen, and unknown is never 0 J.
  const bool comparable = place && counters_compare(cursor_.devices[*place], sample);
  const bool moved = comparable && end.counter != cursor_.devices[*place].counter;
  const bool known = end.power || (end.counter && (!place || moved));
  if (!place && !known) return;
  // A card that comes back to the slot another one had meanwhile starts anew.
  const auto replaced = place ? replaced_at(*place) : std::nullopt;
  const bool first = !place || (replaced && at_ > *replaced);
  if (!place) place = make_cursor(sample);
  auto& cursor = cursor_.devices[*place];
  listed_[*place] = true;
  if (first) begun_.push_back(*place);
  cursor.listed_at = std::max(cursor.listed_at, at_);
  cursor.agent_id = beat_.agent_id;
  if (!known) {
    unknown_.push_back(*place);
    return;
  }
  any_known_ = true;
  domain.powered = domain.powered || end.power;
  if (!first && at_ <= cursor.at) return;  // counted already, or older: energy is never taken back
  domain.advanced = any_advanced_ = true;

  AccountDelta delta;
  delta.key = {beat_.cluster, Scope::device, beat_.node_id + "/" + std::to_string(sample.index), "",
               sample.domain};
  add_sample(delta, at_);
  for (const auto& task : tasks) {
    // A task's sample is counted once, on however many devices it runs.
    auto& tw = work(domain, task);
    if (!tw.account.last_sample_at) add_sample(tw.account, at_);
    add_sample(on_device(tw, task, delta.key), at_);
  }
  if (!first) {
    interval(domain, cursor, sample, end, comparable, tasks, delta);
    reconcile(cursor, sample, end);
  }
  devices_.push_back(std::move(delta));
  advance(cursor, sample, end, tasks);
}

bool Booker::counters_compare(const DeviceCursor& cursor, const DeviceSample& sample) const {
  return cursor.counter && !cursor.counter_distrusted && cursor.counter_boot == beat_.boot_id &&
         same_name(cursor.uuid, sample.uuid) && cursor.counter_epoch == sample.counter_epoch &&
         (!sample.counter_epoch.empty() || cursor.agent_id == beat_.agent_id) &&
         at_ - cursor.at <= kLongestBridge;
}

void Booker::interval(DomainWork& domain, const DeviceCursor& cursor, const DeviceSample& sample,
                      IntervalEnd end, bool comparable, const TaskSet& now, AccountDelta& device) {
  const auto begin = unbooked_from(domain, cursor);
  if (begin >= at_) return;
  const auto dt = at_ - begin;
  if (!end.limit && sample.domain == kDomainGpu) end.limit = cursor.limit;
  end.counter_comparable = comparable && begin == cursor.at;
  auto result = integrate_device(begin, cursor.counter, end, rules_.max_gap);
  if (result && result->energy.n > domain.budget) {
    end.counter_comparable = false;
    result = integrate_device(begin, cursor.counter, end, rules_.max_gap);
    note(Note::counter_implausible);
  }
  if (!result || result->energy.n > domain.budget) {
    add_time(device, {begin, at_}, &Measures::gap);
    return;
  }
  domain.metered = true;
  domain.counted = result->counted;
  domain.budget -= result->energy.n;
  if (result->counter_note) note(*result->counter_note);
  frozen_ = result->counter_note == Note::counter_frozen;
  if (result->by_counter) by_counter_ = result->energy;
  if (result->gap > Milliseconds{0}) note(Note::gap);

  const UtcRange whole{begin, at_};
  const UtcRange counted{at_ - result->counted, at_};
  const bool spread = result->by_counter && result->counted > kHour;
  const auto short_by = uncovered(sample, *result, dt);

  auto segments = segments_of(whole, cursor.holders, now, windows_);
  // A task beside what is nobody's has an estimated part, even where it is the only one.
  if (sample.unheld)
    for (auto& segment : segments) segment.shared = true;
  const Marks marks{sample, now, result->by_counter, spread, whole.begin};
  for (const auto& piece : cut_into_pieces(counted, segments, result->energy))
    share_out(domain, device, piece, marks);
  add_time(device, counted, &Measures::covered);
  add_time(device, {whole.begin, counted.begin}, &Measures::gap);
  add_time(device, {at_ - short_by, at_}, &Measures::partial);
  for (const auto& segment : segments) time_of_tasks(domain, segment, counted, short_by, device.key);

  domain.bridged = domain.bridged || result->by_counter;
  domain.partial = std::max(domain.partial, short_by);
  if (result->gap > Milliseconds{0}) domain.least_counted = std::min(domain.least_counted, result->counted);
}

void Booker::share_out(DomainWork& domain, AccountDelta& device, const Piece& piece, const Marks& marks) {
  const auto book = [&, hour = hour_of(piece.range.begin)](AccountDelta& account,
                                                           std::int64_t energy) -> Measures& {
    auto& m = account.at(hour);
    m.energy += Microjoules{energy};
    if (marks.by_counter) m.counter += Microjoules{energy};
    if (marks.sample.quality == Quality::simulated) m.simulated += Microjoules{energy};
    if (marks.spread) m.spread += Microjoules{energy};
    return m;
  };
  book(device, piece.energy);
  auto& node = book(domain.node, piece.energy);
  const auto& receivers = piece.segment->receivers;
  if (receivers.empty()) {
    node.unattributed += Microjoules{piece.energy};
    return;
  }
  const auto give = [&](const std::string& task, std::int64_t energy) {
    auto& tw = work(domain, task);
    auto& part = on_device(tw, task, device.key);
    for (auto* account : {&tw.account, &part}) {
      auto& m = book(*account, energy);
      if (piece.segment->shared) m.shared += Microjoules{energy};
    }
    if (watch_ != nullptr && watch_->wants(beat_.cluster, task))
      intervals_.push_back({beat_.cluster, task, marks.sample.domain, device.key.id, marks.since, piece.range,
                            Microjoules{energy}});
  };
  const auto& sample = marks.sample;
  if (receivers.size() == 1 && !sample.unheld) return give(*receivers.begin(), piece.energy);
  // Beside what is nobody's, the part of a holder that gets no interval is nobody's as well.
  const auto parties = sample.unheld ? united(receivers, marks.now) : receivers;
  const auto parts =
      split_exactly(piece.energy, weights_of(parties, merge_holders(sample.holders), sample.unheld));
  if (sample.unheld) node.unattributed += Microjoules{parts.back()};
  std::size_t i = 0;
  for (const auto& task : parties) {
    const auto energy = parts[i++];
    if (receivers.contains(task)) {
      give(task, energy);
    } else {
      node.unattributed += Microjoules{energy};
    }
  }
}

UtcTime Booker::unbooked_from(const DomainWork& domain, const DeviceCursor& cursor) const {
  if (!is_metered_once(domain.domain)) return cursor.at;
  if (domain.metered) return at_;
  for (const auto& known : cursor_.domains)
    if (known.domain == domain.domain) return std::max(cursor.at, known.at);
  return cursor.at;
}

void Booker::reconcile(DeviceCursor& cursor, const DeviceSample& sample, const IntervalEnd& end) {
  const auto counted = std::exchange(by_counter_, std::nullopt);
  const auto dt = at_ - cursor.at;
  if (!counted || !end.power || dt > rules_.max_gap) return;
  if (sample.power_covered &&
      !(sample.power_covered->value() * kPerKilo >= kLeastCovered * static_cast<double>(dt.count())))
    return;
  const auto integrated = energy_of(*end.power, dt);
  if (!integrated) return;
  cursor.check.counter += *counted;
  cursor.check.power += *integrated;
  cursor.check.time += dt;
  if (cursor.check.time < kCheckWindow) return;
  if (cursor.check.apart()) note(Note::counter_apart);
  checks_.push_back({sample.domain, sample.index, std::exchange(cursor.check, {})});
}

Milliseconds Booker::uncovered(const DeviceSample& sample, const DeviceInterval& result, Milliseconds dt) {
  if (result.by_counter || !sample.power_covered) return Milliseconds{0};
  const double seconds = sample.power_covered->value();
  if (!std::isfinite(seconds) || seconds < 0) return Milliseconds{0};
  const double covered_ms = seconds * kPerKilo;
  if (covered_ms >= kLeastCovered * static_cast<double>(dt.count())) return Milliseconds{0};
  return std::max(Milliseconds{0}, result.counted - Milliseconds{static_cast<std::int64_t>(covered_ms)});
}

void Booker::time_of_tasks(DomainWork& domain, const Segment& segment, UtcRange counted,
                           Milliseconds short_by, const AccountKey& device) {
  for (const auto& task : segment.receivers) {
    auto& tw = work(domain, task);
    auto& part = on_device(tw, task, device);
    const UtcRange covered{std::max(segment.range.begin, counted.begin),
                           std::min(segment.range.end, counted.end)};
    add_time(part, covered, &Measures::covered);
    add_time(part, {segment.range.begin, std::min(segment.range.end, counted.begin)}, &Measures::gap);
    add_time(part, {std::max(covered.begin, at_ - short_by), covered.end}, &Measures::partial);
    if (segment.shared) add_time(part, covered, &Measures::shared_time);

    if (!tw.interval) tw.interval = segment.range;
    tw.interval->begin = std::min(tw.interval->begin, segment.range.begin);
    tw.interval->end = std::max(tw.interval->end, segment.range.end);
    if (covered.begin < covered.end) {
      tw.counted_from = std::min(tw.counted_from.value_or(covered.begin), covered.begin);
      if (segment.shared) {
        if (!tw.shared) tw.shared = covered;
        tw.shared->begin = std::min(tw.shared->begin, covered.begin);
        tw.shared->end = std::max(tw.shared->end, covered.end);
      }
    }
    tw.partial = std::max(tw.partial, short_by);
  }
}

AccountDelta& Booker::on_device(TaskWork& tw, const std::string& task, const AccountKey& device) {
  for (auto& known : tw.devices)
    if (known.key.part == device.id) return known;
  auto& made = tw.devices.emplace_back();
  made.key = {beat_.cluster, Scope::task_device, task, device.id, device.domain};
  return made;
}

void Booker::advance(DeviceCursor& cursor, const DeviceSample& sample, const IntervalEnd& end,
                     const TaskSet& tasks) {
  // A frozen counter may jump later by what was integrated meanwhile: it is believed again only from a
  // value that moved during an interval booked by power.
  const bool still_frozen = cursor.counter_distrusted && end.counter == cursor.counter;
  cursor.counter_distrusted = std::exchange(frozen_, false) || still_frozen;
  cursor.index = sample.index;
  if (!sample.uuid.empty()) cursor.uuid = sample.uuid;
  if (!sample.vendor.empty()) cursor.vendor = sample.vendor;
  cursor.at = at_;
  cursor.counter = end.counter;
  cursor.counter_boot = beat_.boot_id;
  cursor.counter_epoch = sample.counter_epoch;
  if (const auto limit = plausible(binding_limit(sample))) cursor.limit = limit;
  cursor.holders = tasks;
}

void Booker::add_to_curve(const DeviceSample& sample, std::optional<Milliwatts> power, const TaskSet& tasks) {
  CurveSample point;
  point.domain = sample.domain;
  point.index = sample.index;
  point.power = power;
  point.power_min = plausible(sample.power_min);
  point.power_max = plausible(sample.power_max);
  point.power_limit = plausible(sample.power_limit);
  point.quality = sample.quality;
  point.holders = tasks;
  point.health = sample.health;
  curve_.devices.push_back(std::move(point));
}

}  // namespace tidewatt::ledger
