// What one beat adds to the node's own account and its tasks' time: covered, gap and partial seconds.
#include <algorithm>
#include <chrono>
#include <utility>

#include "booker.h"

namespace tidewatt::ledger {
namespace {

using std::chrono::hours;

/// Gaps go into the hours they lie in this far back; before, into their first hour. One beat after a year
/// must not make a year of rows for each of its devices.
constexpr Milliseconds kLongestGapByHour{hours{31 * 24}};

}  // namespace

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

DomainCursor& Booker::domain_cursor(const std::string& name, bool& made) {
  made = false;
  for (auto& known : cursor_.domains)
    if (known.domain == name) return known;
  made = true;
  auto& fresh = cursor_.domains.emplace_back();
  fresh.domain = name;
  fresh.at = at_;
  return fresh;
}

void Booker::close(DomainWork& domain) {
  if (!domain.advanced) return;
  bool first = false;
  auto& cursor = domain_cursor(domain.domain, first);
  // The first sample of a second meter says nothing of the seconds before it.
  if (!first && !domain.metered && is_metered_once(domain.domain)) return;
  if (at_ > cursor.at || first) add_sample(domain.node, at_);
  if (at_ > cursor.at) {
    const auto dt = at_ - cursor.at;
    // Where all that was told couldn't be booked, these seconds are a gap, not covered by nothing.
    const auto told = is_metered_once(domain.domain) ? domain.counted
                      : domain.bridged               ? dt
                      : domain.powered               ? rules_.max_gap
                                                     : Milliseconds{0};
    const auto covered = std::min(dt, told);
    auto partial = domain.partial;
    if (domain.least_counted < covered) partial = std::max(partial, covered - domain.least_counted);
    if (!domain.unknown.empty() && !is_metered_once(domain.domain)) partial = covered;
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

void Booker::close(const DomainWork& domain, DomainCursor& cursor, const std::string& task, TaskWork& tw) {
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

void Booker::forget_tasks(DomainCursor& cursor) {
  std::erase_if(cursor.tasks, [&](const auto& entry) {
    return std::none_of(cursor_.devices.begin(), cursor_.devices.end(), [&](const DeviceCursor& d) {
      return d.domain == cursor.domain && d.holders.contains(entry.first);
    });
  });
}

}  // namespace tidewatt::ledger
