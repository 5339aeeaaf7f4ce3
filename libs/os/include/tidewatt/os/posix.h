// The real outside: clock, files, processes, randomness of a POSIX system.
#pragma once

#include <memory>
#include <string>

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

/// The same files, with /sys elsewhere: where a container has its host's ("/host/sys").
std::unique_ptr<FileSystem> with_sysfs(std::unique_ptr<FileSystem> files, std::string root);

/// posix_spawn with a process group of its own, PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin, LC_ALL=C.
std::unique_ptr<ProcessRunner> make_process_runner();

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
