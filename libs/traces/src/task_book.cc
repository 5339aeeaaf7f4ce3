#include "tidewatt/traces/task_book.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

namespace tidewatt::traces {
namespace {

constexpr std::size_t kMostDevices = 4'096;
constexpr int kMostAncestors = 64;
constexpr std::string_view kOther = "(other)";
constexpr Milliseconds kLongestSpan{std::chrono::hours{24}};

UtcHour hour_at(SpanTime at) { return std::chrono::floor<std::chrono::hours>(at); }

void add_energy(DomainEnergy& sum, const std::string& domain, std::int64_t energy) {
  sum[domain] += Microjoules{energy};
}

void add_energy(DomainEnergy& sum, const DomainEnergy& other) {
  for (const auto& [domain, energy] : other) sum[domain] += energy;
}

SpanRange overlap(SpanRange a, SpanRange b) {
  const auto begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

}  // namespace

Taken TaskBook::add(const Span& span, UtcTime now) {
  if (span.end > now + rules_.future) return Taken::of_the_future;
  if (span.end <= SpanTime{forgotten_} || span.end <= SpanTime{now - rules_.hold} ||
      span.end - span.begin > kLongestSpan) {
    ++refused_;
    return Taken::too_old;
  }
  const SpanKey key{span.trace, span.id};
  if (spans_.contains(key)) return Taken::duplicate;
  if (spans_.size() >= rules_.spans) {
    ++refused_;
    return Taken::full;
  }
  Kept kept;
  kept.parent = span.parent == span.id ? 0 : span.parent;
  kept.range = {span.begin, span.end};
  kept.seen_from = std::max(span.begin, SpanTime{settled_});
  kept.endpoint = endpoint(span.service, span.route);
  kept.entry = span.entry;
  kept.failed = span.failed;
  if (covered(Kept{.parent = 0, .range = {span.begin, kept.seen_from}, .seen_from = span.begin}).count() > 0)
    ++late_;
  note_trace(span, kept.endpoint);
  spans_.emplace(key, kept);
  return Taken::accepted;
}

void TaskBook::add(const EnergyPiece& piece) {
  if (piece.range.begin >= piece.range.end) return;
  newest_ = std::max(newest_, piece.range.end);
  const auto name = piece.device + "|" + piece.domain;
  const auto known = devices_.find(name);
  if (known == devices_.end()) {
    if (devices_.size() < kMostDevices) devices_.emplace(name, piece.since);
    return;
  }
  if (known->second == piece.since || piece.range.begin < forgotten_) return;
  auto& sum = open_[{piece.range.end, piece.range.begin}][piece.domain];
  // Beyond what any real task draws; it stays in the ledger's sum and is shared with nobody.
  if (piece.energy.n > std::numeric_limits<std::int64_t>::max() - sum) return;
  sum += piece.energy.n;
  cover(piece.range);
}

void TaskBook::settle(UtcTime now) {
  newest_ = std::max(newest_, now - rules_.hold);
  const auto due = newest_ - rules_.late;
  while (!open_.empty() && open_.begin()->first.first <= due) {
    share(*open_.begin(), hours_, traces_);
    open_.erase(open_.begin());
  }
  settled_ = std::max(settled_, due);
  forget(now);
}

void TaskBook::forget(UtcTime now) {
  auto horizon = newest_ - 2 * rules_.late;
  for (const auto& [range, energy] : open_) horizon = std::min(horizon, range.second);
  if (horizon > forgotten_) {
    forgotten_ = horizon;
    std::erase_if(spans_, [&](const SpanEntry& entry) {
      if (entry.second.range.end > SpanTime{horizon}) return false;
      count_request(entry.first, entry.second, hours_);
      return true;
    });
    std::erase_if(timeline_,
                  [&](const auto& stretch) { return stretch.second <= SpanTime{horizon - kLongestSpan}; });
  }
  hours_.erase(hours_.begin(), hours_.lower_bound(hour_of(now) - rules_.keep));
}

std::uint32_t TaskBook::endpoint(const std::string& service, const std::string& route) {
  auto name = std::pair{service, route};
  const auto known = endpoint_numbers_.find(name);
  if (known != endpoint_numbers_.end()) return known->second;
  if (endpoints_.size() >= rules_.endpoints) {
    name.second = kOther;
    if (endpoints_.size() >= 2 * rules_.endpoints) name.first = kOther;
    if (const auto other = endpoint_numbers_.find(name); other != endpoint_numbers_.end())
      return other->second;
  }
  const auto number = static_cast<std::uint32_t>(endpoints_.size());
  endpoints_.push_back(name);
  endpoint_numbers_.emplace(std::move(name), number);
  return number;
}

/// The request that a span is part of: the nearest entry above it. Above a parent that isn't here, or isn't
/// here yet, nobody knows: then it is the topmost known span's own.
std::uint32_t TaskBook::endpoint_of(const SpanKey& key, const Kept& span) const {
  const Kept* top = &span;
  for (int i = 0; i < kMostAncestors && !top->entry && top->parent != 0; ++i) {
    const auto parent = spans_.find({key.trace, top->parent});
    if (parent == spans_.end()) break;
    top = &parent->second;
  }
  return top->endpoint;
}

void TaskBook::share(const Open::value_type& interval, Hours& hours, Traces& traces) const {
  const SpanRange range{SpanTime{interval.first.second}, SpanTime{interval.first.first}};
  std::vector<const SpanEntry*> active;
  for (const auto& entry : spans_)
    if (entry.second.range.begin < range.end && entry.second.range.end > range.begin)
      active.push_back(&entry);
  // The same whatever order they came in: ties of remainders go to the earlier span.
  std::sort(active.begin(), active.end(), [](const SpanEntry* a, const SpanEntry* b) {
    return std::tie(a->second.range.begin, a->first) < std::tie(b->second.range.begin, b->first);
  });
  std::unordered_map<SpanKey, int, SpanKeyHash> places;
  for (std::size_t i = 0; i < active.size(); ++i) places.emplace(active[i]->first, static_cast<int>(i));
  std::vector<ActiveSpan> spans;
  spans.reserve(active.size());
  for (const auto* entry : active) {
    const auto parent = places.find({entry->first.trace, entry->second.parent});
    spans.push_back({entry->second.range, parent == places.end() ? -1 : parent->second});
  }
  const auto weights = weights_of(range, spans);
  auto& hour = hours[hour_of(interval.first.second)];
  for (const auto& [domain, energy] : interval.second) {
    const auto shares = split(energy, weights);
    add_energy(hour.no_span, domain, shares.no_span);
    for (std::size_t i = 0; i < active.size(); ++i) {
      const auto& [key, span] = *active[i];
      add_energy(hour.endpoints[endpoint_of(key, span)].energy, domain, shares.spans[i]);
      if (const auto trace = traces.find(key.trace); trace != traces.end())
        add_energy(trace->second.energy, domain, shares.spans[i]);
    }
  }
}

void TaskBook::count_request(const SpanKey& key, const Kept& span, Hours& hours) const {
  if (!span.entry) return;
  auto& cell = hours[hour_at(span.range.end)].endpoints[endpoint_of(key, span)];
  ++cell.requests;
  if (span.failed) ++cell.failed;
  cell.request_time += span.range.length();
  cell.covered_time += covered(span);
}

Nanoseconds TaskBook::covered(const Kept& span) const {
  const SpanRange wanted{span.seen_from, span.range.end};
  Nanoseconds sum{0};
  auto stretch = timeline_.upper_bound(wanted.begin);
  if (stretch != timeline_.begin()) --stretch;
  for (; stretch != timeline_.end() && stretch->first < wanted.end; ++stretch)
    sum += overlap(wanted, {stretch->first, stretch->second}).length();
  return sum;
}

void TaskBook::cover(UtcRange range) {
  SpanRange merged{SpanTime{range.begin}, SpanTime{range.end}};
  auto at = timeline_.upper_bound(merged.begin);
  if (at != timeline_.begin() && std::prev(at)->second >= merged.begin) --at;
  while (at != timeline_.end() && at->first <= merged.end) {
    merged.begin = std::min(merged.begin, at->first);
    merged.end = std::max(merged.end, at->second);
    at = timeline_.erase(at);
  }
  timeline_.emplace(merged.begin, merged.end);
}

void TaskBook::note_trace(const Span& span, std::uint32_t endpoint) {
  if (!traces_.contains(span.trace) && traces_.size() >= 2 * rules_.traces) {
    std::vector<SpanTime> ends;
    ends.reserve(traces_.size());
    for (const auto& [id, trace] : traces_) ends.push_back(trace.range.end);
    const auto middle = ends.begin() + static_cast<std::ptrdiff_t>(ends.size() / 2);
    std::nth_element(ends.begin(), middle, ends.end());
    std::erase_if(traces_, [&](const auto& entry) { return entry.second.range.end <= *middle; });
  }
  auto& trace = traces_[span.trace];
  const bool root = span.entry && !trace.rooted;
  if (trace.spans == 0) trace.range = {span.begin, span.end};
  if (trace.spans == 0 || root || (span.entry && span.begin < trace.range.begin)) trace.endpoint = endpoint;
  trace.rooted = trace.rooted || span.entry;
  trace.range.begin = std::min(trace.range.begin, span.begin);
  trace.range.end = std::max(trace.range.end, span.end);
  trace.failed = trace.failed || span.failed;
  ++trace.spans;
}

Report TaskBook::report(UtcHour from, UtcHour to) const {
  Hours hours;
  for (auto hour = hours_.lower_bound(from); hour != hours_.end() && hour->first < to; ++hour)
    hours.insert(*hour);
  Report report;
  Traces none;
  for (const auto& interval : open_) {
    const auto hour = hour_of(interval.first.second);
    if (hour < from || hour >= to) continue;
    share(interval, hours, none);
    for (const auto& [domain, energy] : interval.second) add_energy(report.open, domain, energy);
  }
  for (const auto& [key, span] : spans_)
    if (const auto hour = hour_at(span.range.end); hour >= from && hour < to) count_request(key, span, hours);
  std::map<std::uint32_t, EndpointSum> sums;
  for (const auto& [hour, of_hour] : hours) {
    add_energy(report.no_span, of_hour.no_span);
    for (const auto& [number, cell] : of_hour.endpoints) {
      auto& sum = sums[number];
      sum.requests += cell.requests;
      sum.failed += cell.failed;
      sum.request_time += cell.request_time;
      sum.covered_time += cell.covered_time;
      add_energy(sum.energy, cell.energy);
    }
  }
  for (auto& [number, sum] : sums) {
    std::tie(sum.service, sum.route) = endpoints_[number];
    report.endpoints.push_back(std::move(sum));
  }
  std::sort(report.endpoints.begin(), report.endpoints.end(), [](const auto& a, const auto& b) {
    return std::tie(a.service, a.route) < std::tie(b.service, b.route);
  });
  report.late_spans = late_;
  report.refused = refused_;
  return report;
}

TaskBook::Traces TaskBook::with_open(const Traces& chosen) const {
  auto traces = chosen;
  Hours ignored;
  for (const auto& interval : open_) share(interval, ignored, traces);
  return traces;
}

TraceSum TaskBook::shown(const TraceId& id, const Trace& trace) const {
  TraceSum sum;
  sum.trace = id;
  std::tie(sum.service, sum.route) = endpoints_[trace.endpoint];
  sum.begin = trace.range.begin;
  sum.end = trace.range.end;
  sum.spans = trace.spans;
  sum.failed = trace.failed;
  sum.energy = trace.energy;
  sum.open = trace.range.end > SpanTime{settled_};
  return sum;
}

std::vector<TraceSum> TaskBook::traces(std::size_t limit) const {
  std::vector<Traces::const_iterator> order;
  for (auto it = traces_.begin(); it != traces_.end(); ++it) order.push_back(it);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a->second.range.end > b->second.range.end; });
  if (order.size() > limit) order.resize(limit);
  Traces chosen;
  for (const auto& it : order) chosen.insert(*it);
  const auto known = with_open(chosen);
  std::vector<TraceSum> list;
  for (const auto& it : order) list.push_back(shown(it->first, known.at(it->first)));
  return list;
}

std::optional<TraceSum> TaskBook::trace(const TraceId& id) const {
  const auto found = traces_.find(id);
  if (found == traces_.end()) return std::nullopt;
  return shown(id, with_open({*found}).at(id));
}

}  // namespace tidewatt::traces
