// What /proc says about one process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tidewatt/units/time.h"

namespace tidewatt::attribution {

/// A pid is used again; (pid, start) isn't within one boot.
struct ProcessStat {
  std::int64_t pid = 0;
  std::string name;               ///< as the kernel keeps it: at most 15 bytes, blanks and brackets included
  std::uint64_t start_ticks = 0;  ///< since boot, 100 a second for user space on Linux
};
/// @param text  /proc/PID/stat. The name stands in brackets and may hold any, so what follows is counted from
///              the last ')'
std::optional<ProcessStat> parse_process_stat(std::string_view text);

/// When the process began, on the clock that runs since boot.
SteadyTime started_at(const ProcessStat& stat);

/// @param text  /proc/PID/environ: entries that end with NUL; the last one may be cut off and is then not
///              believed
std::optional<std::string> environment_value(std::string_view text, std::string_view name);

}  // namespace tidewatt::attribution
