// The real outside: clock, files, processes, randomness of a POSIX system.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/clock.h"
#include "tidewatt/base/file_system.h"
#include "tidewatt/base/process.h"
#include "tidewatt/base/rng.h"

namespace tidewatt::os {

/// system_clock and CLOCK_BOOTTIME.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] UtcTime utc_now() const override;
  [[nodiscard]] SteadyTime mono_now() const override;
};

/// Reads never hang on a FIFO (O_NONBLOCK) and are bounded. write_atomically: temp file, fsync, rename, fsync
/// of the folder; mode 0600.
std::unique_ptr<FileSystem> make_file_system();

/// The same files, with /proc, /sys and /etc/machine-id below a folder: where a container has its host's
/// ("/host"). An empty root, or "/", is none.
std::shared_ptr<FileSystem> with_host_root(std::shared_ptr<FileSystem> files, std::string root);

/// posix_spawn with a process group of its own, PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin, LC_ALL=C,
/// and a variable TIDEWATT_TOOL_RUN by which whatever the tool starts is found and killed at the deadline, in
/// other sessions too; what tools that ended in time left behind is ended once a minute.
std::unique_ptr<ProcessRunner> make_process_runner();

/// From now on what our children leave behind becomes our child, whatever environment and session it has; the
/// process runner ends it when no tool runs. For a program whose every child is started by this library.
void adopt_orphans();

/// Starts argv[0], an absolute path, without a shell and in a process group of its own. Its input and output
/// are one socket that we hold; what it prints to stderr is dropped. It inherits our environment (a vendor's
/// library may need LD_LIBRARY_PATH) with LC_ALL=C. `name` is how errors call it.
/// @error what posix_spawn says
Result<std::unique_ptr<Companion>> start_companion(std::string name, const std::vector<std::string>& argv);

/// For the child of start_companion, as the first thing in its main: it dies with its parent, leaves no core
/// files, isn't ended by signals meant for the parent, and what libraries print to stdout or stderr is
/// dropped. Then answers each line that comes in with `answer(line)` until the parent closes. Never returns.
[[noreturn]] void serve_as_companion(const std::function<std::string(std::string_view)>& answer);

/// getrandom(2): fit for secrets.
class SecureRng final : public Rng {
 public:
  std::uint64_t next() override;
};
/// 2 x 32 hex digits of randomness, for tokens.
std::string random_hex_256(Rng& rng);

/// /proc/sys/kernel/random/boot_id, empty when unreadable.
std::string boot_id(const FileSystem& files);

}  // namespace tidewatt::os
