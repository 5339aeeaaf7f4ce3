// Orders and times for the tests.
#pragma once

#include "tidewatt/runner/order.h"

namespace tidewatt::runner {

using std::chrono::hours;
using std::chrono::minutes;

inline UtcTime at(int hour, int minute = 0) {
  return parse_rfc3339("2026-02-03T00:00:00Z").value() + hours{hour} + minutes{minute};
}

/// Submitted at midnight: three hours of work, done by noon, to be stopped where that helps.
inline Order three_hours() {
  Order order;
  order.id = "r1";
  order.argv = {"/bin/work", "now"};
  order.folder = "/home/ada";
  order.zone = "DE";
  order.submitted = at(0);
  order.duration = hours{3};
  order.deadline = at(12);
  order.pause = Pause::stop;
  order.min_run = minutes{30};
  return order;
}

}  // namespace tidewatt::runner
