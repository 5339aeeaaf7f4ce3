// What `tidewatt run` was asked for, and what became of it so far.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidewatt/units/time.h"

namespace tidewatt::runner {

enum class Pause : std::uint8_t {
  none,    ///< runs in one piece once started
  stop,    ///< SIGSTOP and SIGCONT
  freeze,  ///< its cgroup is frozen
  kill,    ///< ended, and started again
};

/// How a command is asked to save its state before a pause.
struct Checkpoint {
  std::optional<int> signal;         ///< sent to the command's process group
  std::vector<std::string> command;  ///< or run, without a shell; empty = none
  Milliseconds patience{60'000};     ///< a pause comes after so long at the latest
  [[nodiscard]] bool asked_for() const { return signal || !command.empty(); }
};

/// Fixed for the whole run.
struct Order {
  std::string id;
  std::vector<std::string> argv;
  std::string folder;  ///< where it runs
  std::string zone;    ///< of the signal; may be empty
  UtcTime submitted;
  std::optional<Milliseconds> duration;  ///< how long it will run; nullopt: unknown, it runs at once
  std::optional<UtcTime> deadline;       ///< nullopt: it is not to wait
  Pause pause = Pause::none;
  Milliseconds min_run{0};  ///< no piece is cut shorter
  Checkpoint checkpoint;
};

/// Time in which the command ran; no end = it runs.
struct Piece {
  UtcTime begin;
  std::optional<UtcTime> end;
  friend bool operator==(const Piece&, const Piece&) = default;
};

enum class State : std::uint8_t { waiting, running, pausing, paused, ended };

/// What happened so far: the keeper's to write.
struct Record {
  State state = State::waiting;
  std::vector<Piece> pieces;
  std::string why;               ///< of the state, in words
  std::optional<int> exit_code;  ///< of an ended command: its own, or 128 + the signal that ended it
  std::vector<std::string> notes;
};

std::string to_string(Pause pause);
std::string to_string(State state);
/// How long it ran until `now`.
Milliseconds ran(const Record& record, UtcTime now);
/// When it must run at the latest, without a break from then on. nullopt: it may not wait at all.
std::optional<UtcTime> latest_start(const Order& order, const Record& record, UtcTime now);

}  // namespace tidewatt::runner
