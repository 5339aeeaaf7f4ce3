#include "tidewatt/runner/order.h"

#include <algorithm>

namespace tidewatt::runner {

std::string to_string(Pause pause) {
  switch (pause) {
    case Pause::none:
      return "none";
    case Pause::stop:
      return "stop";
    case Pause::freeze:
      return "freeze";
    case Pause::kill:
      return "kill";
  }
  return {};
}

std::string to_string(State state) {
  switch (state) {
    case State::waiting:
      return "waiting";
    case State::running:
      return "running";
    case State::pausing:
      return "pausing";
    case State::paused:
      return "paused";
    case State::ended:
      return "ended";
  }
  return {};
}

Milliseconds ran(const Record& record, UtcTime now) {
  Milliseconds sum{0};
  for (const auto& piece : record.pieces)
    sum += std::max(piece.end.value_or(now) - piece.begin, Milliseconds{0});
  return sum;
}

std::optional<UtcTime> latest_start(const Order& order, const Record& record, UtcTime now) {
  if (!order.duration || !order.deadline) return std::nullopt;
  return *order.deadline - std::max(*order.duration - ran(record, now), Milliseconds{0});
}

}  // namespace tidewatt::runner
