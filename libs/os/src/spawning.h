// What starting a process takes, whoever starts it.
#pragma once

#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "unique_fd.h"

namespace tidewatt::os {

/// Frees what posix_spawn's two setting objects hold.
struct SpawnSettings {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  /// A process group of its own, and no signal blocked or ignored.
  void begin_clean() {
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
  }
};

/// Becomes readable when the process ends; invalid before Linux 5.3.
inline UniqueFd open_pidfd(pid_t pid) {
  const auto fd = ::syscall(SYS_pidfd_open, pid, 0);
  if (fd < 0) return UniqueFd{};
  return UniqueFd{static_cast<int>(fd)};
}

}  // namespace tidewatt::os
