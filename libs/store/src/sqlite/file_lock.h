// One process per database: a lock beside the file, which the kernel drops when the process ends.
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

/// Makes an empty file with mode 0600 unless it is there: SQLite gives -wal and -shm the same mode.
Status make_private_file(const std::string& path);

}  // namespace tidewatt::store
