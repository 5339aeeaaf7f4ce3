// A source in a process of its own, and what the two processes say to each other.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/clock.h"
#include "tidewatt/base/process.h"
#include "tidewatt/sensors/source.h"

namespace tidewatt::sensors {

struct IsolationLimits {
  Milliseconds deadline{5'000};  ///< of one look
  /// Of the first look of a child, in which the library is opened: a driver without persistence wakes every
  /// card then, one after the other.
  Milliseconds first_deadline{30'000};
  Milliseconds first_pause{5'000};      ///< before a child is started again
  Milliseconds longest_pause{300'000};  ///< the pause doubles up to this
  /// A child that answered for so long ends the back-off.
  Milliseconds settled_after{60'000};
};

/// Asks a child process for readings, started at the first look and kept. When it crashes, hangs or answers
/// garbage it is killed, the look fails with the reason, and another is started after a pause; while one is
/// stuck in the kernel and can't die, none is. A library that isn't there ends the child as well, so that
/// nothing stays resident for it.
/// read() @error unavailable crashed or its driver isn't there; timed_out hung; corrupt answered garbage;
///               else what the source in the child says
std::unique_ptr<Source> make_isolated(std::string name, CompanionStarter start,
                                      std::shared_ptr<const Clock> clock, IsolationLimits limits = {});

/// The child's side: the answer line to a question of make_isolated.
std::string answer_question(Source& source, std::string_view question);

/// One reading as one line without its newline: key=value by tabs; control bytes, backslashes and the
/// separators are escaped as \xHH. Absent keys are unknown values. Times are of the shared monotonic clock.
std::string to_line(const Reading& reading);
/// @error corrupt  anything that to_line doesn't write: unknown or doubled keys, numbers that are none
Result<Reading> reading_from_line(std::string_view line);

/// A whole look, or its error, as one line. Readings beyond 2,048 are left out, texts are cut at 1,024 bytes.
std::string to_answer(const Result<std::vector<Reading>>& look);
/// @error corrupt as above; else the error that the line carries
Result<std::vector<Reading>> look_from_answer(std::string_view line);

/// No answer is longer: 2,048 devices, or some of them with thousands of processes.
inline constexpr std::size_t kMaxAnswerBytes = 4U << 20U;

}  // namespace tidewatt::sensors
