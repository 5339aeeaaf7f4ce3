#pragma once

#include <string>
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

}  // namespace tidewatt
