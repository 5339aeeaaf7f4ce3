#include "file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "tidewatt/units/text.h"

namespace tidewatt::store {
namespace {

constexpr std::string_view kAnotherFolder =
    "stop that process, or give this server another folder with --data";

/// What root makes in a service user's folder must be the service's, or it could never open it.
void give_to_owner_of_folder(int fd, const std::string& path) {
  if (::geteuid() != 0) return;
  auto folder = std::filesystem::path{path}.parent_path();
  if (folder.empty()) folder = ".";
  struct stat owner{};
  // Where it fails root can still use the file, and the service's own error names it.
  if (::stat(folder.c_str(), &owner) == 0 && owner.st_uid != 0)
    (void)(::fchown(fd, owner.st_uid, owner.st_gid) == 0);
}

Result<int> open_private(const std::string& path) {
  const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (made >= 0) {
    give_to_owner_of_folder(made, path);
    return made;
  }
  const int fd =
      errno == EEXIST ? ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : made;
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
                std::string{kAnotherFolder});
  }
  const auto pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, pid.data(), pid.size(), 0) < 0) {
    // Only the message of a second process would miss it: the lock itself holds.
  }
  return lock;
}

Result<FileLock> FileLock::take_database(const std::string& path) {
  TW_TRY(const int fd, open_private(path));
  FileLock lock(fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0)
    return fail(
        ErrorCode::conflict,
        fmt::format("{}: another process has this file open by another name (a hard link or a mount)", path),
        std::string{kAnotherFolder});
  return lock;
}

bool FileLock::is_taken(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return false;
  const FileLock lock(fd);
  return ::flock(fd, LOCK_SH | LOCK_NB) != 0;
}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

std::string real_path(const std::string& path) {
  std::error_code failed;
  const auto real = std::filesystem::weakly_canonical(path, failed);
  return failed ? path : real.string();
}

Result<DatabaseLock> DatabaseLock::take(const std::string& path) {
  auto real = real_path(path);
  TW_TRY(auto beside, FileLock::take(real + ".lock"));
  TW_TRY(auto file, FileLock::take_database(real));
  return DatabaseLock{std::move(real), std::move(beside), std::move(file)};
}

}  // namespace tidewatt::store
