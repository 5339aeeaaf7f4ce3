#include "tidewatt/k8s/gate.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidewatt::k8s {

UtcTime latest_start_of(const Held& held) {
  if (held.latest_start) return *held.latest_start;
  const auto tolerance = tolerance_from(held.tolerance);
  return held.created + (tolerance ? slack_of(*tolerance) : Milliseconds{0});
}

GateDecision decide_gate(const Held& held, const std::optional<PlannedStart>& planned, bool job_opened,
                         UtcTime now) {
  const auto latest = latest_start_of(held);
  if (now >= latest)
    return {true, "latest-start", fmt::format("its latest start {} has come", format_rfc3339_short(latest)),
            latest};
  if (job_opened) return {true, "job", "its Job was let go already", now};
  // Where the signal is gone for the moment, and where nobody can be asked, the last plan holds.
  auto start = planned && planned->start ? planned->start : held.planned_start;
  if (!start && planned)
    return {true, "no-signal", fmt::format("waiting gains nothing that is known: {}", planned->why), now};
  if (!start)
    return {false, "latest-start",
            fmt::format("no plan can be had now: held until {} at the latest", format_rfc3339_short(latest)),
            latest};
  start = std::min(*start, latest);
  if (*start <= now)
    return {true, "window", fmt::format("its clean window began {}", format_rfc3339_short(*start)), *start};
  return {false, "window", fmt::format("held until its clean window at {}", format_rfc3339_short(*start)),
          *start};
}

}  // namespace tidewatt::k8s
