// One process per database: locks that the kernel drops when the process ends.
#pragma once

#include <string>
#include <utility>

#include "tidewatt/base/result.h"

namespace tidewatt::store {

class FileLock {
 public:
  /// Locks `path` (made when missing, mode 0600) and writes our pid into it.
  /// @error conflict  somebody else has it; the message names the pid
  static Result<FileLock> take(const std::string& path);
  /// Locks a file and writes nothing. @error conflict  somebody else has it
  static Result<FileLock> take_database(const std::string& path);
  /// Whether a process has the lock of `path`.
  static bool is_taken(const std::string& path);
  FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileLock& operator=(FileLock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;
};

/// A database that is ours alone, by whichever name another process comes: a symbolic link leads to the same
/// path, and a hard link to the same file.
struct DatabaseLock {
  std::string path;  ///< without symbolic links; SQLite's -wal and -shm stand beside this one
  FileLock beside;   ///< first: its holder's pid can be told. And an attempt that fails here opens nothing of
                     ///< the database, which would drop the POSIX locks that SQLite has in this process.
  FileLock file;

  /// Makes the file when it is missing, empty and with mode 0600: SQLite gives -wal and -shm the same mode.
  /// @error conflict  another process has it
  static Result<DatabaseLock> take(const std::string& path);
};

/// The path without symbolic links; of a file that isn't there yet: its folder's, and the name.
std::string real_path(const std::string& path);

}  // namespace tidewatt::store
