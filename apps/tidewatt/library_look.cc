#include "library_look.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "command.h"
#include "tidewatt/sensors/isolated.h"
#include "tidewatt/sensors/libraries.h"

namespace tidewatt::cli {

sensors::LibraryLook library_look(std::string host_root) {
  return [root = std::move(host_root)](const std::string& library) {
    const auto start = [&] {
      return os::start_companion(library, {"/proc/self/exe", "sensor", library, root});
    };
    sensors::IsolationLimits limits;
    limits.first_deadline = Milliseconds{20'000};
    return sensors::make_isolated(library, start, std::make_shared<os::SystemClock>(), limits)->read();
  };
}

void need_host_root(const std::string& host_root) {
  if (host_root.empty()) return;
  const auto files = os::make_file_system();
  if (!files->exists(host_root + "/proc") && !files->exists(host_root + "/sys"))
    usage_error("--host-root", host_root +
                                   " has neither /proc nor /sys below it: give the folder where the "
                                   "host's root is mounted, such as /host");
}

void run_library_look(const std::string& library, const std::string& host_root) {
  const auto source = sensors::make_library(library, os::with_host_root(os::make_file_system(), host_root),
                                            std::make_shared<os::SystemClock>());
  if (!source) {
    std::fprintf(stderr, "tidewatt sensor: \"%s\" is no library that can be read\n", library.c_str());
    std::exit(kUsage);
  }
  os::serve_as_companion(
      [&](std::string_view question) { return sensors::answer_question(*source, question); });
}

}  // namespace tidewatt::cli
