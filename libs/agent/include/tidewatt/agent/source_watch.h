#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tidewatt/base/result.h"
#include "tidewatt/units/time.h"

namespace tidewatt::agent {

/// When one source is read, and how it goes. Pure: told about every start and end of a read.
class SourceWatch {
 public:
  enum class State : std::uint8_t {
    starting,  ///< not read yet
    up,
    absent,   ///< its hardware or library isn't on this machine
    failing,  ///< the last read gave an error
    hanging,  ///< the read under way is beyond its deadline
  };

  /// @param deadline      a read that takes longer counts as hanging
  /// @param longest_pause between two reads of a source that fails
  SourceWatch(Milliseconds period, Milliseconds deadline, Milliseconds longest_pause = Milliseconds{60'000})
      : period_(period), deadline_(deadline), longest_pause_(longest_pause) {}

  /// When to read next. A time in the past means now.
  [[nodiscard]] SteadyTime due() const { return due_; }
  void started(SteadyTime now);
  /// @return true when the state changed, which is then worth a log line
  /// @param trouble  what of it can't be read all the same; empty = nothing
  /// @param silent   it answered, and knows the power of none of its devices
  bool succeeded(SteadyTime now, std::string trouble = {}, bool silent = false);
  bool failed(SteadyTime now, const Error& error);
  /// Looks at the read under way. @return true when it just became too long
  bool check(SteadyTime now);

  [[nodiscard]] State state() const { return state_; }
  /// Why the devices are unknown; when up, why some of them are; empty = all are known.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  [[nodiscard]] std::uint64_t reads() const { return reads_; }
  [[nodiscard]] std::uint64_t failures() const { return failures_; }

 private:
  bool enter(State state, std::string trouble);

  Milliseconds period_;
  Milliseconds deadline_;
  Milliseconds longest_pause_;
  State state_ = State::starting;
  std::string trouble_;
  SteadyTime due_{};
  std::optional<SteadyTime> under_way_since_;
  int failures_in_a_row_ = 0;
  std::uint64_t reads_ = 0;
  std::uint64_t failures_ = 0;
};

std::string_view to_string(SourceWatch::State state);

}  // namespace tidewatt::agent
