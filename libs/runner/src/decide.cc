#include "tidewatt/runner/decide.h"

#include <algorithm>

namespace tidewatt::runner {
namespace {

constexpr Milliseconds kFarAway = std::chrono::hours{24};

Decision run_on(std::string why, UtcTime now) { return {true, std::move(why), now + kFarAway}; }

}  // namespace

Decision decide(const Order& order, const Record& record, const Plan& plan, UtcTime now) {
  const auto latest = latest_start(order, record, now);
  if (!latest) return run_on(plan.why.empty() ? "it is not to wait" : plan.why, now);
  if (plan.windows.empty()) return run_on(plan.why, now);
  const bool has_run = !record.pieces.empty();
  if (has_run && order.pause == Pause::none) return run_on("started, and not to be paused", now);
  const Milliseconds left = *order.duration - ran(record, now);
  if (left <= Milliseconds{0}) return run_on("it runs longer than was said", now);
  if (now >= *latest) return run_on("its latest start has come", now);
  const bool running = has_run && !record.pieces.back().end;
  if (running && left <= order.min_run) return run_on("too little is left for a pause", now);

  const auto next = std::ranges::find_if(plan.windows, [&](const UtcRange& w) { return w.end > now; });
  // While it runs its latest start moves away by as much.
  if (next != plan.windows.end() && next->begin <= now) return {true, "a clean window", next->end};
  if (running) {
    const UtcTime enough = record.pieces.back().begin + order.min_run;
    if (now < enough) return {true, "a piece isn't cut shorter than its least time", enough};
  }
  const bool comes = next != plan.windows.end() && next->begin < *latest;
  return {false, comes ? "waiting for a clean window" : "waiting for its latest start",
          comes ? next->begin : *latest};
}

}  // namespace tidewatt::runner
