// A vendor's library, opened in a process of its own: it may crash, hang or print.
#pragma once

#include <string>

#include "tidewatt/sensors/detect.h"

namespace tidewatt::cli {

/// Starts this program again as `tidewatt sensor LIBRARY` for one look.
/// @param host_root  where /proc and /sys are; empty = here
sensors::LibraryLook library_look(std::string host_root);

/// The other end: answers as that process. Never returns.
[[noreturn]] void run_library_look(const std::string& library, const std::string& host_root);

}  // namespace tidewatt::cli
