#include "file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "tidewatt/units/text.h"

namespace tidewatt::store {
namespace {

Result<int> open_private(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd >= 0) return fd;
  return fail(errno == ENOSPC ? ErrorCode::unavailable : ErrorCode::permission_denied,
              fmt::format("{}: {}", path, std::strerror(errno)),
              "the folder must exist and be writable for this user");
}

}  // namespace

Result<FileLock> FileLock::take(const std::string& path) {
  TW_TRY(const int fd, open_private(path));
  FileLock lock(fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    std::array<char, 32> text{};
    const auto size = ::pread(fd, text.data(), text.size(), 0);
    const auto pid = trim(std::string_view(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0));
    return fail(ErrorCode::conflict,
                fmt::format("{}: the database is open in process {}", path, pid.empty() ? "?" : pid),
                "stop that process, or give this server another folder with --data");
  }
  const auto pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, pid.data(), pid.size(), 0) < 0) {
    // Only the message of a second process would miss it: the lock itself holds.
  }
  return lock;
}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

Status make_private_file(const std::string& path) {
  TW_TRY(const int fd, open_private(path));
  ::close(fd);
  return {};
}

}  // namespace tidewatt::store
