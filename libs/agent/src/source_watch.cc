#include "tidewatt/agent/source_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "tidewatt/agent/backoff.h"

namespace tidewatt::agent {

std::string_view to_string(SourceWatch::State state) {
  switch (state) {
    case SourceWatch::State::starting:
      return "starting";
    case SourceWatch::State::up:
      return "up";
    case SourceWatch::State::absent:
      return "absent";
    case SourceWatch::State::failing:
      return "failing";
    case SourceWatch::State::hanging:
      return "hanging";
  }
  return "starting";
}

bool SourceWatch::enter(State state, std::string trouble) {
  const bool changed = state != state_;
  state_ = state;
  trouble_ = std::move(trouble);
  return changed;
}

void SourceWatch::started(SteadyTime now) {
  under_way_since_ = now;
  if (due_ == SteadyTime{}) due_ = now;  // the grid of deadlines begins with the first read
}

bool SourceWatch::succeeded(SteadyTime now, std::string trouble, bool silent) {
  under_way_since_.reset();
  failures_in_a_row_ = 0;
  ++reads_;
  if (silent) ++failures_;
  due_ = next_due(due_, period_, now);
  const bool partly = trouble.empty() != trouble_.empty();
  return enter(silent ? State::failing : State::up, std::move(trouble)) || partly;
}

bool SourceWatch::failed(SteadyTime now, const Error& error) {
  under_way_since_.reset();
  ++reads_;
  ++failures_;
  Milliseconds pause = period_;
  for (int i = 0; i < failures_in_a_row_ && pause < longest_pause_; ++i) pause *= 2;
  pause = std::max(std::min(pause, longest_pause_), period_);
  ++failures_in_a_row_;
  due_ = next_due(due_, pause, now);
  const bool never_up = state_ == State::starting || state_ == State::absent;
  return enter(error.code == ErrorCode::not_found && never_up ? State::absent : State::failing,
               error.to_string());
}

bool SourceWatch::check(SteadyTime now) {
  if (!under_way_since_ || now - *under_way_since_ <= deadline_) return false;
  return enter(State::hanging, fmt::format("no answer for {} s", (now - *under_way_since_).count() / 1000));
}

}  // namespace tidewatt::agent
