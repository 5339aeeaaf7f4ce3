// A vendor's library, opened in a process of its own: it may crash, hang or print.
#pragma once

#include <string>

#include "tidewatt/sensors/detect.h"

namespace tidewatt::cli {

/// Starts this program again as `tidewatt sensor LIBRARY` for one look.
/// @param host_root  where /proc and /sys are; empty = here
sensors::LibraryLook library_look(std::string host_root);

/// Ends parsing as a wrong use of --host-root does where it has no proc and no sys: else a typo would read as
/// a machine without sensors.
void need_host_root(const std::string& host_root);

/// The other end: answers as that process. Never returns.
[[noreturn]] void run_library_look(const std::string& library, const std::string& host_root);

}  // namespace tidewatt::cli
