#include "tidewatt/runner/outcome.h"

#include <algorithm>

namespace tidewatt::runner {
namespace {

struct Mean {
  double sum = 0;
  Milliseconds known{0};

  void add(const std::vector<SignalSlot>& signal, UtcTime begin, UtcTime end) {
    UtcTime at = begin;
    for (const auto& slot : signal) {
      const auto from = std::max(slot.begin, at);
      const auto until = std::min(slot.end, end);
      if (until <= from) continue;
      sum += slot.g_per_kwh * static_cast<double>((until - from).count());
      known += until - from;
      at = until;
    }
  }
  [[nodiscard]] std::optional<double> over(Milliseconds length) const {
    if (length <= Milliseconds{0} || known < length) return std::nullopt;
    return sum / static_cast<double>(known.count());
  }
};

}  // namespace

Outcome outcome_of(const Order& order, const Record& record, const Plan& plan, UtcTime now) {
  Outcome out;
  out.ran = ran(record, now);
  Mean mean;
  UtcTime end = order.submitted;
  for (const auto& piece : record.pieces) {
    end = piece.end.value_or(now);
    mean.add(plan.signal, piece.begin, end);
  }
  if (record.pieces.empty()) end = now;
  out.waited = std::max(end - order.submitted - out.ran, Milliseconds{0});
  out.pauses = record.pieces.empty() ? 0 : record.pieces.size() - 1;
  out.of_known = mean.known;
  out.mean_g_per_kwh = mean.over(out.ran);
  Mean baseline;
  baseline.add(plan.signal, order.submitted, order.submitted + out.ran);
  out.baseline_g_per_kwh = baseline.over(out.ran);
  if (out.mean_g_per_kwh && out.baseline_g_per_kwh && *out.baseline_g_per_kwh > 0)
    out.saving_percent = 100 * (1 - *out.mean_g_per_kwh / *out.baseline_g_per_kwh);
  return out;
}

}  // namespace tidewatt::runner
