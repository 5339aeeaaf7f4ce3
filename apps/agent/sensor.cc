#include "sensor.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "own_usage.h"
#include "process.h"
#include "run.h"
#include "tidewatt/os/posix.h"
#include "tidewatt/sensors/isolated.h"
#include "tidewatt/sensors/libraries.h"
#include "tidewatt/units/text.h"

namespace tidewatt::app {
namespace {

constexpr std::string_view kHostRoot = "--host-root";
constexpr std::string_view kProcessPeriodFlag = "--process-period";

[[noreturn]] void refuse(const std::string& what) {
  std::fprintf(stderr, "tidewatt-agent sensor: %s\n", what.c_str());
  std::exit(kExitUsage);
}

}  // namespace

Result<std::unique_ptr<Companion>> start_sensor(const std::string& library, const SensorOptions& options) {
  // The very file that runs, even after an upgrade has replaced it: both speak the same protocol.
  std::vector<std::string> argv{"/proc/self/exe", "sensor", library};
  if (!options.host_root.empty()) argv.insert(argv.end(), {std::string{kHostRoot}, options.host_root});
  if (options.process_period)
    argv.insert(argv.end(),
                {std::string{kProcessPeriodFlag}, fmt::format("{}", options.process_period->count())});
  return os::start_companion(library, argv);
}

void run_sensor(const std::vector<std::string>& arguments) {
  if (arguments.empty()) refuse("needs the name of a library");
  std::string host_root;
  sensors::LibraryOptions options;
  for (std::size_t i = 1; i < arguments.size(); i += 2) {
    if (i + 1 == arguments.size()) refuse(arguments[i] + " needs a value");
    if (arguments[i] == kHostRoot) {
      host_root = arguments[i + 1];
    } else if (const auto ms = parse_uint64(arguments[i + 1]); arguments[i] == kProcessPeriodFlag && ms) {
      options.process_period = Milliseconds{static_cast<std::int64_t>(*ms)};
    } else {
      refuse(arguments[i] + ": no such option");
    }
  }
  const auto source =
      sensors::make_library(arguments[0], os::with_host_root(os::make_file_system(), host_root),
                            std::make_shared<os::SystemClock>(), std::move(options));
  if (!source) refuse(arguments[0] + ": no such library");
  bool tidy = false;
  os::serve_as_companion([&](std::string_view question) {
    auto answer = sensors::answer_question(*source, question);
    if (!tidy) release_unused_memory();  // what opening the library took
    tidy = true;
    return answer;
  });
}

}  // namespace tidewatt::app
