#pragma once

#include <string>

#include "tidewatt/base/result.h"

namespace tidewatt::app {

/// Two agents in one spool would destroy each other's beats. Held until the process ends, however it ends.
class InstanceLock {
 public:
  /// @param folder must exist
  /// @error conflict another process holds it; permission_denied, io
  static Result<InstanceLock> acquire(const std::string& folder);
  InstanceLock(InstanceLock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  InstanceLock& operator=(InstanceLock&&) = delete;
  InstanceLock(const InstanceLock&) = delete;
  InstanceLock& operator=(const InstanceLock&) = delete;
  ~InstanceLock();

 private:
  explicit InstanceLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace tidewatt::app
