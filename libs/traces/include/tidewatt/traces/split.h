// One interval's energy over the spans that were active in it: exact integers, in words in
// docs/method/traces.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tidewatt/traces/span.h"

namespace tidewatt::traces {

struct SpanRange {
  SpanTime begin{};
  SpanTime end{};
  [[nodiscard]] Nanoseconds length() const { return end - begin; }
};

/// A span of the task, with its place among the others.
struct ActiveSpan {
  SpanRange range;
  int parent = -1;  ///< index of the span whose part it is; -1 = none of these
};

struct Weights {
  std::vector<std::int64_t> self;  ///< per span: nanoseconds within the interval in which no child of it ran
  std::int64_t busy = 0;           ///< nanoseconds in which some span ran
  std::int64_t idle = 0;           ///< the rest of the interval
};

/// @param interval  not empty, an hour at most
/// @param spans     a million at most, so that sums of weights fit 63 bits
Weights weights_of(SpanRange interval, std::span<const ActiveSpan> spans);

struct Shares {
  std::vector<std::int64_t> spans;  ///< microjoules, in the spans' order
  std::int64_t no_span = 0;
};

/// The parts add up to `energy` exactly: first by time into busy and idle, then the busy part by self-time.
/// @param energy  microjoules, not negative
Shares split(std::int64_t energy, const Weights& weights);

}  // namespace tidewatt::traces
