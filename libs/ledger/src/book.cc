// One beat, one booking: duplicates, its time, its devices, its node.
#include <algorithm>
#include <utility>

#include "booker.h"
#include "timeline.h"

namespace tidewatt::ledger {

void Booker::run(Booking& booking) {
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

DomainWork& Booker::work(const std::string& domain) {
  for (auto& known : domains_)
    if (known.domain == domain) return known;
  auto& made = domains_.emplace_back();
  made.domain = domain;
  made.node.key = {beat_.cluster, Scope::node, beat_.node_id, "", domain};
  return made;
}

TaskWork& Booker::work(DomainWork& domain, const std::string& task) {
  auto& made = domain.tasks[task];
  if (made.account.key.id.empty()) made.account.key = {beat_.cluster, Scope::task, task, "", domain.domain};
  return made;
}

void Booker::note(Note n) {
  if (std::find(notes_.begin(), notes_.end(), n) == notes_.end()) notes_.push_back(n);
}

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
