#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "sharing.h"
#include "tidewatt/ledger/integrate.h"
#include "tidewatt/ledger/open_gap.h"
#include "tidewatt/metering/plausibility.h"
#include "timeline.h"

namespace tidewatt::ledger {
namespace {

using std::chrono::hours;

constexpr Milliseconds kHour{hours{1}};
constexpr Milliseconds kLongestBridge{
    hours{366 * 24}};  ///< a year of rows by the hour is the most one beat may make
/// A card that another one replaced in its slot is remembered until no spool holds its beats any more: they
/// must not be booked again.
constexpr Milliseconds kForgetReplaced{hours{8 * 24}};
/// Gaps go into the hours they lie in this far back; before, into their first hour. One beat after a year
/// must not make a year of rows for each of its devices.
constexpr Milliseconds kLongestGapByHour{hours{31 * 24}};
/// One beat's energy in one domain stays below this, so that sums of a beat fit 64 bits.
constexpr std::int64_t kMostPerBeat = 9'000'000'000'000'000'000;
constexpr double kLeastCovered = 0.9;
/// So long is a counter compared with the power beside it: short enough to be news, long enough for slow
/// sensors.
constexpr Milliseconds kCheckWindow{600'000};

std::optional<Milliwatts> plausible(std::optional<Watts> power, std::optional<Watts> limit = std::nullopt) {
  const auto exact = power ? quantise(*power) : std::nullopt;
  if (!exact || *exact > kMostDevicePower) return std::nullopt;
  return metering::why_implausible(*power, limit).empty() ? exact : std::nullopt;
}

/// Adds a stretch of time to the hours it lies in. What lies further back than a bridge may reach, or a gap
/// is told by the hour, goes to its first hour: a clock from 1970 must not make half a million rows.
void add_time(AccountDelta& delta, UtcRange range, Milliseconds Measures::* what) {
  if (range.begin >= range.end) return;
  const auto longest = what == &Measures::gap ? kLongestGapByHour : kLongestBridge;
  if (range.length() > longest) {
    const auto cut = range.end - longest;
    delta.at(hour_of(range.begin)).*what += cut - range.begin;
    range.begin = cut;
  }
  while (range.begin < range.end) {
    const auto hour = hour_of(range.begin);
    const auto end = std::min(range.end, start_of(hour + hours{1}));
    delta.at(hour).*what += end - range.begin;
    range.begin = end;
  }
}

void add_sample(AccountDelta& delta, UtcTime at) {
  ++delta.at(hour_of(at)).samples;
  if (!delta.first_sample_at || at < *delta.first_sample_at) delta.first_sample_at = at;
  if (!delta.last_sample_at || at > *delta.last_sample_at) delta.last_sample_at = at;
}

/// As tools spell vendors and uuids: "NVIDIA" and "nvidia" are one.
bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

/// A part of a device's interval within one hour and one segment, with its exact energy.
struct Piece {
  UtcRange range;
  const Segment* segment = nullptr;
  std::int64_t energy = 0;
};

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

/// What one task gets from one beat in one domain, over all its devices.
struct TaskWork {
  AccountDelta account;
  std::vector<AccountDelta> devices;
  std::optional<UtcRange> interval;  ///< hull of its devices' intervals
  std::optional<UtcTime> counted_from;
  std::optional<UtcRange> shared;
  Milliseconds partial{0};
};

/// What one domain of the node gets from one beat.
struct DomainWork {
  std::string domain;
  AccountDelta node;
  std::int64_t budget = kMostPerBeat;  ///< what this beat may still book here
  bool known = false;                  ///< some device is known in this beat
  bool advanced = false;               ///< ... and newer than its cursor
  bool bridged = false;                ///< some device's counter covers its whole interval
  Milliseconds partial{0};
  Milliseconds least_counted{Milliseconds::max()};  ///< of devices with a gap
  std::vector<const DeviceCursor*> unknown;         ///< once known, not in this beat
  std::map<std::string, TaskWork, std::less<>> tasks;
};

class Booker {
 public:
  Booker(NodeCursor& cursor, const Beat& beat, UtcTime at, const TaskWindows& windows, const Rules& rules,
         const IntervalWatch* watch)
      : cursor_(cursor), beat_(beat), at_(at), windows_(windows), rules_(rules), watch_(watch) {}

  void run(Booking& booking) {
    curve_.at = at_;
    curve_.cpu_util = beat_.cpu_util;
    listed_.assign(cursor_.devices.size(), false);
    devices_.reserve(beat_.devices.size());
    curve_.devices.reserve(beat_.devices.size());
    for (const auto& sample : beat_.devices) device(sample);
    find_missing();
    for (auto& domain : domains_) close(domain);
    retire();

    booking.deltas = std::move(devices_);
    std::size_t more = 0;
    for (const auto& domain : domains_) {
      ++more;
      for (const auto& [task, work] : domain.tasks) more += 1 + work.devices.size();
    }
    booking.deltas.reserve(booking.deltas.size() + more);
    for (auto& domain : domains_) {
      if (!domain.node.hours.empty()) booking.deltas.push_back(std::move(domain.node));
      for (auto& [task, work] : domain.tasks) {
        if (!work.account.hours.empty()) booking.deltas.push_back(std::move(work.account));
        for (auto& delta : work.devices) booking.deltas.push_back(std::move(delta));
      }
    }
    booking.curve = std::move(curve_);
    booking.checks = std::move(checks_);
    booking.intervals = std::move(intervals_);
    if (any_known_ && !any_advanced_) note(Note::stale);
    for (const auto n : notes_) booking.notes.push_back(n);
  }

 private:
  DomainWork& work(const std::string& domain) {
    for (auto& known : domains_)
      if (known.domain == domain) return known;
    auto& made = domains_.emplace_back();
    made.domain = domain;
    made.node.key = {beat_.cluster, Scope::node, beat_.node_id, "", domain};
    return made;
  }

  TaskWork& work(DomainWork& domain, const std::string& task) {
    auto& made = domain.tasks[task];
    if (made.account.key.id.empty()) made.account.key = {beat_.cluster, Scope::task, task, "", domain.domain};
    return made;
  }

  void note(Note n) {
    if (std::find(notes_.begin(), notes_.end(), n) == notes_.end()) notes_.push_back(n);
  }

  /// By uuid; by domain and index where one side has none (an old agent, a text tool without uuids): two
  /// cursors for one card would count its joules twice. Cards of two vendors that have the same index are
  /// two, and so is a card beside one that this beat names by its uuid.
  std::optional<std::size_t> find(const DeviceSample& sample) {
    std::optional<std::size_t> by_index;
    for (std::size_t i = 0; i < cursor_.devices.size(); ++i) {
      const auto& c = cursor_.devices[i];
      if (c.domain != sample.domain) continue;
      if (!sample.uuid.empty() && same_name(c.uuid, sample.uuid)) return i;
      const bool other_vendor =
          !c.vendor.empty() && !sample.vendor.empty() && !same_name(c.vendor, sample.vendor);
      if (c.index == sample.index && (sample.uuid.empty() || c.uuid.empty()) && !other_vendor &&
          !named_in_beat(c) && !replaced_at(i))
        by_index = i;
    }
    return by_index;
  }

  [[nodiscard]] bool named_in_beat(const DeviceCursor& c) const {
    return std::any_of(beat_.devices.begin(), beat_.devices.end(), [&](const DeviceSample& s) {
      return s.domain == c.domain && !s.uuid.empty() && same_name(s.uuid, c.uuid);
    });
  }

  /// When the same agent last named another card in this one's slot, if that was later. The cards of two
  /// agents (two containers, each with an index 0) are never each other's successors.
  [[nodiscard]] std::optional<UtcTime> replaced_at(std::size_t place) const {
    const auto& c = cursor_.devices[place];
    std::optional<UtcTime> at;
    for (const auto& other : cursor_.devices) {
      if (other.index != c.index || other.listed_at <= c.listed_at || other.domain != c.domain) continue;
      if (other.uuid.empty() || c.uuid.empty() || other.agent_id != c.agent_id) continue;
      at = std::max(at.value_or(other.listed_at), other.listed_at);
    }
    return at;
  }

  std::size_t make_cursor(const DeviceSample& sample) {
    DeviceCursor made;
    made.domain = sample.domain;
    made.index = sample.index;
    made.uuid = sample.uuid;
    made.vendor = sample.vendor;
    cursor_.devices.push_back(std::move(made));
    listed_.push_back(true);
    return cursor_.devices.size() - 1;
  }

  void device(const DeviceSample& sample) {
    auto place = find(sample);
    const auto tasks = tasks_of(sample.holders, place ? cursor_.devices[*place].holders : TaskSet{});
    const bool booked = sample.quality != Quality::estimated;
    std::optional<Milliwatts> power = plausible(sample.power, sample.power_limit);
    if (sample.power && !power) note(Note::power_implausible);
    if (!booked && (sample.power || sample.energy_total)) note(Note::estimated_not_booked);
    add_to_curve(sample, power, tasks);

    IntervalEnd end;
    end.at = at_;
    end.power = booked ? power : std::nullopt;
    end.counter = booked && sample.energy_total ? quantise(*sample.energy_total) : std::nullopt;
    end.limit = plausible(sample.power_limit);
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
    domain.known = any_known_ = true;
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

  /// Same boot, card and epoch as at the last known sample, and trusted. Without an epoch only one agent's
  /// values belong together: another one may count from another zero.
  [[nodiscard]] bool counters_compare(const DeviceCursor& cursor, const DeviceSample& sample) const {
    return cursor.counter && !cursor.counter_distrusted && cursor.counter_boot == beat_.boot_id &&
           same_name(cursor.uuid, sample.uuid) && cursor.counter_epoch == sample.counter_epoch &&
           (!sample.counter_epoch.empty() || cursor.agent_id == beat_.agent_id) &&
           at_ - cursor.at <= kLongestBridge;
  }

  void interval(DomainWork& domain, const DeviceCursor& cursor, const DeviceSample& sample, IntervalEnd end,
                bool comparable, const TaskSet& now, AccountDelta& device) {
    const auto dt = at_ - cursor.at;
    if (!end.limit) end.limit = cursor.limit;
    end.counter_comparable = comparable;
    auto result = integrate_device(cursor.at, cursor.counter, end, rules_.max_gap);
    if (result && result->energy.n > domain.budget) {
      end.counter_comparable = false;
      result = integrate_device(cursor.at, cursor.counter, end, rules_.max_gap);
      note(Note::counter_implausible);
    }
    if (!result || result->energy.n > domain.budget) return;
    domain.budget -= result->energy.n;
    if (result->counter_note) note(*result->counter_note);
    frozen_ = result->counter_note == Note::counter_frozen;
    if (result->by_counter) by_counter_ = result->energy;
    if (result->gap > Milliseconds{0}) note(Note::gap);

    const UtcRange whole{cursor.at, at_};
    const UtcRange counted{at_ - result->counted, at_};
    const bool simulated = sample.quality == Quality::simulated;
    const bool spread = result->by_counter && result->counted > kHour;
    const auto short_by = uncovered(sample, *result, dt);

    auto segments = segments_of(whole, cursor.holders, now, windows_);
    // A task beside what is nobody's has an estimated part, even where it is the only one.
    if (sample.unheld)
      for (auto& segment : segments) segment.shared = true;
    for (const auto& piece : cut_into_pieces(counted, segments, result->energy)) {
      const auto hour = hour_of(piece.range.begin);
      const auto book = [&](AccountDelta& account, std::int64_t energy) -> Measures& {
        auto& m = account.at(hour);
        m.energy += Microjoules{energy};
        if (result->by_counter) m.counter += Microjoules{energy};
        if (simulated) m.simulated += Microjoules{energy};
        if (spread) m.spread += Microjoules{energy};
        return m;
      };
      book(device, piece.energy);
      auto& node = book(domain.node, piece.energy);
      const auto& receivers = piece.segment->receivers;
      if (receivers.empty()) {
        node.unattributed += Microjoules{piece.energy};
        continue;
      }
      const auto give = [&](const std::string& task, std::int64_t energy) {
        auto& tw = work(domain, task);
        auto& part = on_device(tw, task, device.key);
        for (auto* account : {&tw.account, &part}) {
          auto& m = book(*account, energy);
          if (piece.segment->shared) m.shared += Microjoules{energy};
        }
        if (watch_ != nullptr && watch_->wants(beat_.cluster, task))
          intervals_.push_back({beat_.cluster, task, sample.domain, device.key.id, whole.begin, piece.range,
                                Microjoules{energy}});
      };
      if (receivers.size() == 1 && !sample.unheld) {
        give(*receivers.begin(), piece.energy);
        continue;
      }
      // Beside what is nobody's, the part of a holder that gets no interval is nobody's as well.
      const auto parties = sample.unheld ? united(receivers, now) : receivers;
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
    add_time(device, counted, &Measures::covered);
    add_time(device, {whole.begin, counted.begin}, &Measures::gap);
    add_time(device, {at_ - short_by, at_}, &Measures::partial);
    for (const auto& segment : segments) time_of_tasks(domain, segment, counted, short_by, device.key);

    domain.bridged = domain.bridged || result->by_counter;
    domain.partial = std::max(domain.partial, short_by);
    if (result->gap > Milliseconds{0}) domain.least_counted = std::min(domain.least_counted, result->counted);
  }

  /// Counter and integrated power are compared all the time; what is booked stays the counter's.
  void reconcile(DeviceCursor& cursor, const DeviceSample& sample, const IntervalEnd& end) {
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

  /// Seconds of the interval that the agent's samples didn't cover, when that is more than a tenth of it.
  static Milliseconds uncovered(const DeviceSample& sample, const DeviceInterval& result, Milliseconds dt) {
    if (result.by_counter || !sample.power_covered) return Milliseconds{0};
    const double seconds = sample.power_covered->value();
    if (!std::isfinite(seconds) || seconds < 0) return Milliseconds{0};
    const double covered_ms = seconds * kPerKilo;
    if (covered_ms >= kLeastCovered * static_cast<double>(dt.count())) return Milliseconds{0};
    return std::max(Milliseconds{0}, result.counted - Milliseconds{static_cast<std::int64_t>(covered_ms)});
  }

  void time_of_tasks(DomainWork& domain, const Segment& segment, UtcRange counted, Milliseconds short_by,
                     const AccountKey& device) {
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

  AccountDelta& on_device(TaskWork& tw, const std::string& task, const AccountKey& device) {
    for (auto& known : tw.devices)
      if (known.key.part == device.id) return known;
    auto& made = tw.devices.emplace_back();
    made.key = {beat_.cluster, Scope::task_device, task, device.id, device.domain};
    return made;
  }

  void advance(DeviceCursor& cursor, const DeviceSample& sample, const IntervalEnd& end,
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
    if (end.limit) cursor.limit = end.limit;
    cursor.holders = tasks;
  }

  void add_to_curve(const DeviceSample& sample, std::optional<Milliwatts> power, const TaskSet& tasks) {
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

  /// A device that this agent used to report and that this beat doesn't name fell off the bus: unknown, not
  /// gone. Where another card begins in its slot, nobody knows what the slot drew meanwhile.
  void find_missing() {
    for (std::size_t i = 0; i < cursor_.devices.size(); ++i) {
      const auto& c = cursor_.devices[i];
      if (!listed_[i] && c.agent_id == beat_.agent_id && at_ - c.listed_at <= kRetireAfter &&
          (!replaced_at(i) || begins_in_slot(c)))
        unknown_.push_back(i);
    }
    for (const auto i : unknown_)
      for (auto& domain : domains_)
        if (domain.domain == cursor_.devices[i].domain) domain.unknown.push_back(&cursor_.devices[i]);
  }

  [[nodiscard]] bool begins_in_slot(const DeviceCursor& c) const {
    return std::any_of(begun_.begin(), begun_.end(), [&](std::size_t i) {
      return cursor_.devices[i].index == c.index && cursor_.devices[i].domain == c.domain;
    });
  }

  DomainCursor& domain_cursor(const std::string& name, bool& made) {
    made = false;
    for (auto& known : cursor_.domains)
      if (known.domain == name) return known;
    made = true;
    auto& fresh = cursor_.domains.emplace_back();
    fresh.domain = name;
    fresh.at = at_;
    return fresh;
  }

  void close(DomainWork& domain) {
    if (!domain.advanced) return;
    bool first = false;
    auto& cursor = domain_cursor(domain.domain, first);
    if (at_ > cursor.at || first) add_sample(domain.node, at_);
    if (at_ > cursor.at) {
      const auto dt = at_ - cursor.at;
      const auto covered = domain.bridged ? dt : std::min(dt, rules_.max_gap);
      auto partial = domain.partial;
      if (domain.least_counted < covered) partial = std::max(partial, covered - domain.least_counted);
      if (!domain.unknown.empty()) partial = covered;
      partial = std::min(partial, covered);
      add_time(domain.node, {at_ - covered, at_}, &Measures::covered);
      add_time(domain.node, {cursor.at, at_ - covered}, &Measures::gap);
      add_time(domain.node, {at_ - partial, at_}, &Measures::partial);
      if (partial > Milliseconds{0}) note(Note::partial);
      cursor.at = at_;
    }
    for (auto& [task, tw] : domain.tasks) close(domain, cursor, task, tw);
    forget_tasks(cursor);
  }

  /// A task's seconds on this node are counted once, on however many of its devices it runs.
  void close(const DomainWork& domain, DomainCursor& cursor, const std::string& task, TaskWork& tw) {
    if (!tw.interval) return;
    auto until = std::lower_bound(cursor.tasks.begin(), cursor.tasks.end(), task,
                                  [](const auto& entry, const std::string& t) { return entry.first < t; });
    const bool known = until != cursor.tasks.end() && until->first == task;
    const auto start = known ? std::max(tw.interval->begin, until->second) : tw.interval->begin;
    const auto end = tw.interval->end;
    const auto counted_from = std::clamp(tw.counted_from.value_or(end), std::min(start, end), end);
    add_time(tw.account, {counted_from, end}, &Measures::covered);
    add_time(tw.account, {start, counted_from}, &Measures::gap);
    if (tw.shared)
      add_time(tw.account, {std::max(tw.shared->begin, start), tw.shared->end}, &Measures::shared_time);
    const bool blind = std::any_of(domain.unknown.begin(), domain.unknown.end(),
                                   [&](const DeviceCursor* c) { return c->holders.contains(task); });
    const auto covered = std::max(Milliseconds{0}, end - counted_from);
    const auto partial = blind ? covered : std::min(tw.partial, covered);
    add_time(tw.account, {end - partial, end}, &Measures::partial);
    if (known) {
      until->second = std::max(until->second, end);
    } else {
      cursor.tasks.insert(until, {task, end});
    }
  }

  void forget_tasks(DomainCursor& cursor) {
    std::erase_if(cursor.tasks, [&](const auto& entry) {
      return std::none_of(cursor_.devices.begin(), cursor_.devices.end(), [&](const DeviceCursor& d) {
        return d.domain == cursor.domain && d.holders.contains(entry.first);
      });
    });
  }

  void retire() {
    std::vector<bool> forgotten;
    forgotten.reserve(cursor_.devices.size());
    for (std::size_t i = 0; i < cursor_.devices.size(); ++i) {
      const auto unnamed_for = at_ - cursor_.devices[i].listed_at;
      forgotten.push_back(unnamed_for > kLongestBridge || (unnamed_for > kForgetReplaced && replaced_at(i)));
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < cursor_.devices.size(); ++i) {
      if (forgotten[i]) continue;
      if (kept != i) cursor_.devices[kept] = std::move(cursor_.devices[i]);
      ++kept;
    }
    cursor_.devices.resize(kept);
  }

  NodeCursor& cursor_;
  const Beat& beat_;
  const UtcTime at_;
  const TaskWindows& windows_;
  const Rules& rules_;

  std::vector<bool> listed_;        ///< by place in cursor_.devices: named by this beat
  std::vector<std::size_t> begun_;  ///< places whose first sample this is
  std::vector<std::size_t> unknown_;
  std::vector<AccountDelta> devices_;
  std::vector<DomainWork> domains_;
  CurvePoint curve_;
  std::vector<Note> notes_;
  bool any_known_ = false;
  bool any_advanced_ = false;
  bool frozen_ = false;
  std::optional<Microjoules> by_counter_;  ///< of the device at hand
  std::vector<CheckedCounter> checks_;
  const IntervalWatch* watch_;
  std::vector<TaskInterval> intervals_;
};

}  // namespace

std::string_view to_string(Note note) {
  switch (note) {
    case Note::stale:
      return "stale";
    case Note::clock_jump:
      return "clock_jump";
    case Note::clock_corrected:
      return "clock_corrected";
    case Note::gap:
      return "gap";
    case Note::counter_reset:
      return "counter_reset";
    case Note::counter_implausible:
      return "counter_implausible";
    case Note::counter_frozen:
      return "counter_frozen";
    case Note::counter_apart:
      return "counter_apart";
    case Note::partial:
      return "partial";
    case Note::power_implausible:
      return "power_implausible";
    case Note::estimated_not_booked:
      return "estimated_not_booked";
  }
  return "unknown";
}

Booking book(NodeCursor cursor, const Beat& beat, const std::optional<Receipt>& receipt,
             const TaskWindows& windows, const Rules& rules, const IntervalWatch* watch) {
  Booking booking;
  booking.next = std::move(cursor);
  if (seen_before(booking.next, beat)) {
    booking.verdict = Verdict::duplicate;
    return booking;
  }
  auto time = resolve_time(booking.next, beat, receipt);
  if (!time.refused.empty()) {
    booking.verdict = Verdict::rejected;
    booking.reason = std::move(time.refused);
    return booking;
  }
  note_seen(booking.next, beat, time.at);
  if (time.clock_jump) booking.notes.push_back(Note::clock_jump);
  if (time.clock_corrected) booking.notes.push_back(Note::clock_corrected);
  booking.clock_offset = time.clock_offset;
  Booker(booking.next, beat, time.at, windows, rules, watch).run(booking);
  return booking;
}

}  // namespace tidewatt::ledger
