#include "instance_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace tidewatt::app {

Result<InstanceLock> InstanceLock::acquire(const std::string& folder) {
  const std::string path = folder + "/lock";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    const int code = errno;
    return fail(
        code == EACCES || code == EPERM || code == EROFS ? ErrorCode::permission_denied : ErrorCode::io,
        path + ": " + std::generic_category().message(code),
        "give --spool-dir a folder that this user may write");
  }
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd);
    return fail(ErrorCode::conflict, folder + " is used by another agent",
                "stop it, or give --spool-dir another folder");
  }
  return InstanceLock{fd};
}

InstanceLock::~InstanceLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace tidewatt::app
