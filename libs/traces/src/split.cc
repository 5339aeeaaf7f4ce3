#include "tidewatt/traces/split.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "tidewatt/units/exact.h"

namespace tidewatt::traces {
namespace {

SpanRange clipped(SpanRange range, SpanRange to) {
  range.begin = std::max(range.begin, to.begin);
  range.end = std::max(range.begin, std::min(range.end, to.end));
  return range;
}

/// Time within `frame` that some of the ranges cover; they come by begin.
class Union {
 public:
  explicit Union(SpanRange frame) : frame_(frame), until_(frame.begin) {}
  void add(SpanRange range) {
    range = clipped(range, frame_);
    const auto begin = std::max(range.begin, until_);
    if (begin >= range.end) return;
    covered_ += range.end - begin;
    until_ = range.end;
  }
  [[nodiscard]] std::int64_t covered() const { return covered_.count(); }

 private:
  SpanRange frame_;
  SpanTime until_;
  Nanoseconds covered_{0};
};

}  // namespace

std::string to_string(const TraceId& trace) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const auto byte : trace) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

Weights weights_of(SpanRange interval, std::span<const ActiveSpan> spans) {
  std::vector<std::size_t> order(spans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return spans[a].range.begin < spans[b].range.begin; });
  Union all{interval};
  std::vector<Union> children;
  children.reserve(spans.size());
  for (const auto& span : spans) children.emplace_back(clipped(span.range, interval));
  for (const auto i : order) {
    all.add(spans[i].range);
    const auto parent = spans[i].parent;
    if (parent >= 0 && static_cast<std::size_t>(parent) < spans.size() &&
        static_cast<std::size_t>(parent) != i)
      children[static_cast<std::size_t>(parent)].add(spans[i].range);
  }
  Weights weights;
  weights.busy = all.covered();
  weights.idle = interval.length().count() - weights.busy;
  weights.self.reserve(spans.size());
  for (std::size_t i = 0; i < spans.size(); ++i)
    weights.self.push_back(clipped(spans[i].range, interval).length().count() - children[i].covered());
  return weights;
}

Shares split(std::int64_t energy, const Weights& weights) {
  Shares shares;
  if (weights.busy == 0) {
    shares.spans.assign(weights.self.size(), 0);
    shares.no_span = energy;
    return shares;
  }
  const auto parts = split_exactly(energy, std::array{weights.busy, weights.idle});
  shares.spans = split_exactly(parts[0], weights.self);
  shares.no_span = parts[1];
  return shares;
}

}  // namespace tidewatt::traces
