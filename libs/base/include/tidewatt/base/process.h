#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"
#include "tidewatt/units/time.h"

namespace tidewatt {

struct ProcessOutput {
  int exit_code = 0;
  std::string out;
  std::string err;
};

/// Runs tools, injected. Never a shell: argv only.
class ProcessRunner {
 public:
  virtual ~ProcessRunner() = default;
  /// Runs argv[0] (an absolute path, or a name looked up in a fixed PATH) with LC_ALL=C, output bounded to
  /// 4 MiB. At the deadline the whole process group is killed and reaped. Errors: not_found (no such
  /// tool), timed_out, io. A non-zero exit is not an error: see exit_code.
  virtual Result<ProcessOutput> run(const std::vector<std::string>& argv, Milliseconds deadline) = 0;
};

/// A child process that lives long and answers line by line. Killed and reaped on destruction. Not
/// thread-safe.
class Companion {
 public:
  virtual ~Companion() = default;
  /// Writes `question` and a newline, gives the line that comes back, without its newline. After any error
  /// the child has been told to die and answers no more.
  /// @param max_bytes  of the answer; more is an error
  /// @error timed_out no whole line within the deadline; unavailable the child has ended (names the signal
  /// or the exit code); corrupt the answer is too long, or more than one line
  virtual Result<std::string> ask(std::string_view question, Milliseconds deadline,
                                  std::size_t max_bytes) = 0;
  /// Kills the child and doesn't wait. False while it can't die, because it is stuck in the kernel: starting
  /// another would pile processes up.
  virtual bool gone() = 0;
};
using CompanionStarter = std::function<Result<std::unique_ptr<Companion>>()>;

}  // namespace tidewatt
