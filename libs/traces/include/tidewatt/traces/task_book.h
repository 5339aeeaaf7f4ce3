// What one task's spans used: its booked energy, interval by interval, shared over the spans active in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tidewatt/traces/span.h"
#include "tidewatt/traces/split.h"
#include "tidewatt/units/exact.h"
#include "tidewatt/units/time.h"

namespace tidewatt::traces {

/// Part of a task's booked energy: one device's, within one hour.
struct EnergyPiece {
  std::string domain;
  std::string device;  ///< "node/0"
  UtcTime since{};     ///< begin of the device's interval that this is part of
  UtcRange range;
  Microjoules energy{};
};

using DomainEnergy = std::map<std::string, WideMicrojoules, std::less<>>;

/// Bounds of memory, and how long things are waited for.
struct BookRules {
  Milliseconds late{std::chrono::minutes{2}};  ///< an interval waits this long for its spans
  Milliseconds hold{std::chrono::hours{1}};    ///< a span waits this long for its energy
  Milliseconds future{std::chrono::minutes{5}};
  std::chrono::hours keep{24 * 7};  ///< sums by hour
  std::size_t spans = 200'000;
  std::size_t endpoints = 500;  ///< more become one, "(other)"
  std::size_t traces = 2'000;   ///< the latest
};

enum class Taken : std::uint8_t {
  accepted,
  duplicate,
  too_old,  ///< what it was part of is shared out already
  of_the_future,
  full,
};

struct EndpointSum {
  std::string service;
  std::string route;
  std::int64_t requests = 0;
  std::int64_t failed = 0;
  Nanoseconds request_time{0};  ///< of all requests, added up
  Nanoseconds covered_time{0};  ///< of it, where the task's energy was known and shared
  DomainEnergy energy;          ///< of the requests' spans, and of the spans that they called here
};

struct Report {
  std::vector<EndpointSum> endpoints;  ///< by service and route
  DomainEnergy no_span;
  DomainEnergy open;            ///< of all of it, in intervals that still wait for late spans
  std::int64_t late_spans = 0;  ///< part of them was shared out before they came
  std::int64_t refused = 0;     ///< spans that there was no room for, or that came too late
};

struct TraceSum {
  TraceId trace{};
  std::string service;  ///< of its root here, or else of its first span
  std::string route;
  SpanTime begin{};
  SpanTime end{};
  std::int64_t spans = 0;
  bool failed = false;
  DomainEnergy energy;
  bool open = false;  ///< part of it may still change
};

/// Not thread-safe. Times are the senders'; the caller tells the clock.
class TaskBook {
 public:
  explicit TaskBook(const BookRules& rules) : rules_(rules) {}

  Taken add(const Span& span, UtcTime now);
  /// Its device's first interval is left out: spans of its begin may have gone to whoever served before.
  void add(const EnergyPiece& piece);
  /// Shares out what need not wait any more, and forgets what is too old. After each batch.
  void settle(UtcTime now);

  /// Hours [from, to).
  [[nodiscard]] Report report(UtcHour from, UtcHour to) const;
  /// The latest first.
  [[nodiscard]] std::vector<TraceSum> traces(std::size_t limit) const;
  [[nodiscard]] std::optional<TraceSum> trace(const TraceId& trace) const;
  [[nodiscard]] std::size_t spans() const { return spans_.size(); }
  [[nodiscard]] bool empty() const { return spans_.empty() && hours_.empty() && open_.empty(); }

 private:
  struct Kept {
    SpanId parent = 0;
    SpanRange range;
    SpanTime seen_from{};  ///< before, intervals were shared out without it
    std::uint32_t endpoint = 0;
    bool entry = false;
    bool failed = false;
  };
  struct Cell {
    std::int64_t requests = 0;
    std::int64_t failed = 0;
    Nanoseconds request_time{0};
    Nanoseconds covered_time{0};
    DomainEnergy energy;
  };
  struct Hour {
    std::map<std::uint32_t, Cell> endpoints;
    DomainEnergy no_span;
  };
  using Hours = std::map<UtcHour, Hour>;
  struct Trace {
    std::uint32_t endpoint = 0;
    bool rooted = false;
    SpanRange range;
    std::int64_t spans = 0;
    bool failed = false;
    DomainEnergy energy;
  };
  using Traces = std::map<TraceId, Trace>;
  using SpanEntry = std::pair<const SpanKey, Kept>;
  /// Energy of the domains in one stretch of time; by its end, so that what is due comes first.
  using Open = std::map<std::pair<UtcTime, UtcTime>, std::map<std::string, std::int64_t, std::less<>>>;

  std::uint32_t endpoint(const std::string& service, const std::string& route);
  [[nodiscard]] std::uint32_t endpoint_of(const SpanKey& key, const Kept& span) const;
  void share(const Open::value_type& interval, Hours& hours, Traces& traces) const;
  void count_request(const SpanKey& key, const Kept& span, Hours& hours) const;
  [[nodiscard]] Nanoseconds covered(const Kept& span) const;
  void cover(UtcRange range);
  void note_trace(const Span& span, std::uint32_t endpoint);
  void forget(UtcTime now);
  [[nodiscard]] TraceSum shown(const TraceId& id, const Trace& trace) const;
  [[nodiscard]] Traces with_open(const Traces& chosen) const;

  BookRules rules_;
  std::unordered_map<SpanKey, Kept, SpanKeyHash> spans_;
  Open open_;
  Hours hours_;
  Traces traces_;
  std::vector<std::pair<std::string, std::string>> endpoints_;  ///< by number
  std::map<std::pair<std::string, std::string>, std::uint32_t> endpoint_numbers_;
  std::map<std::string, UtcTime, std::less<>> devices_;  ///< device and domain -> begin of its first interval
  std::map<SpanTime, SpanTime> timeline_;                ///< begin -> end of stretches whose energy was known
  UtcTime newest_{};                                     ///< end of the newest interval
  UtcTime settled_{};                                    ///< intervals that end by then are shared out
  UtcTime forgotten_{};                                  ///< spans that end by then are gone
  std::int64_t late_ = 0;
  std::int64_t refused_ = 0;
};

}  // namespace tidewatt::traces
