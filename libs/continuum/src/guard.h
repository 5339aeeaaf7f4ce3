// After a change: is a promise broken that was kept before? Then the change goes.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tidewatt/continuum/setup.h"

namespace tidewatt::continuum {

class Guard {
 public:
  /// A change of the knobs was made, and is watched for `periods`.
  void watch(const Setup& setup, const Senses& before, std::vector<std::size_t> after) {
    if (setup.guard_periods == 0) return;
    before_ = before;
    after_ = std::move(after);
    left_ = setup.guard_periods;
  }
  void stop() { left_ = 0; }
  [[nodiscard]] bool watching() const { return left_ > 0; }
  [[nodiscard]] const std::vector<std::size_t>& levels_before() const { return before_.levels; }
  [[nodiscard]] const std::vector<std::size_t>& levels_after() const { return after_; }

  /// One period later. @return the objective that the change broke
  std::optional<std::size_t> look(const Setup& setup, const Senses& now) {
    if (left_ == 0) return std::nullopt;
    if (now.levels != after_) {  // the change had no effect, or somebody else turned a knob
      left_ = 0;
      return std::nullopt;
    }
    --left_;
    for (std::size_t i = 0; i < now.objectives.size(); ++i)
      if (now.objectives[i] == devol::State::violated && before_.objectives[i] != devol::State::violated &&
          touched(setup, setup.objectives[i].service)) {
        left_ = 0;
        return i;
      }
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool touched(const Setup& setup, std::size_t service) const {
    for (std::size_t k = 0; k < setup.knobs.size(); ++k)
      if (after_[k] != before_.levels[k])
        for (const auto s : setup.knobs[k].services)
          if (s == service) return true;
    return false;
  }

  Senses before_;
  std::vector<std::size_t> after_;
  std::size_t left_ = 0;
};

}  // namespace tidewatt::continuum
