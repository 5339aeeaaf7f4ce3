#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "errno_error.h"
#include "tidewatt/os/posix.h"
#include "unique_fd.h"

namespace tidewatt::os {
namespace {

/// How long a read waits for a pipe or device that has nothing to say.
constexpr std::chrono::milliseconds kReadPatience{200};
constexpr std::size_t kMaxNames = 1'000'000;
constexpr mode_t kPrivateFile = 0600;
constexpr mode_t kPrivateFolder = 0700;

template <class Call>
auto retry_interrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

UniqueFd open_file(const std::string& path, int flags, mode_t mode = 0) {
  return UniqueFd{retry_interrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); })};
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// A new or renamed name is on disk only once its folder is.
Status sync_folder(const std::string& folder) {
  const auto fd = open_file(folder, O_RDONLY | O_DIRECTORY);
  if (!fd.valid()) return errno_failure(errno, folder, "open the folder");
  // Some file systems can't sync folders and say EINVAL: nothing more can be done there.
  if (::fsync(fd.get()) != 0 && errno != EINVAL) return errno_failure(errno, folder, "sync the folder");
  return {};
}

Status write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const auto written = retry_interrupted([&] { return ::write(fd, bytes.data(), bytes.size()); });
    if (written < 0) return errno_failure(errno, path, "write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

tl::unexpected<Error> silent_failure(const std::string& path) {
  return fail(ErrorCode::timed_out,
              fmt::format("{}: nothing to read within {} ms", path, kReadPatience.count()),
              "it is a pipe or device without a writer: give a regular file");
}

/// Waits until `fd` can be read or `until` has come.
bool wait_readable(int fd, std::chrono::steady_clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  if (left.count() <= 0) return false;
  pollfd waiting{fd, POLLIN, 0};
  return retry_interrupted([&] { return ::poll(&waiting, 1, static_cast<int>(left.count())); }) > 0;
}

class PosixAppendFile final : public AppendFile {
 public:
  PosixAppendFile(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  Status append(std::string_view bytes) override { return write_all(fd_.get(), bytes, path_); }

  Status sync() override {
    // The kernel reports a failed write-back once and drops the pages: a later success would be a lie.
    if (sync_error_ == 0 && ::fdatasync(fd_.get()) != 0) sync_error_ = errno;
    if (sync_error_ != 0) return errno_failure(sync_error_, path_, "sync");
    return {};
  }

 private:
  UniqueFd fd_;
  std::string path_;
  int sync_error_ = 0;
};

class PosixFileSystem final : public FileSystem {
 public:
  Result<std::string> read_text(const std::string& path, std::size_t limit) const override;
  Result<std::vector<std::string>> list(const std::string& folder) const override;
  Result<std::vector<std::string>> list_folders(const std::string& folder) const override;
  Result<std::string> read_link(const std::string& path) const override;
  bool exists(const std::string& path) const override { return ::access(path.c_str(), F_OK) == 0; }

  Status write_atomically(const std::string& path, std::string_view bytes) override;
  Result<std::unique_ptr<AppendFile>> open_append(const std::string& path) override;
  Status truncate(const std::string& path, std::uint64_t size) override;
  Status remove(const std::string& path) override;
  Status make_folders(const std::string& path) override;
};

Result<std::string> PosixFileSystem::read_text(const std::string& path, std::size_t limit) const {
  const auto fd = open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!fd.valid()) return errno_failure(errno, path, "open");
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return errno_failure(errno, path, "look at");
  const auto patient_until = std::chrono::steady_clock::now() + kReadPatience;

  std::string text;
  char chunk[4096];
  for (;;) {
    const auto got = retry_interrupted([&] { return ::read(fd.get(), chunk, sizeof chunk); });
    if (got > 0) {
      if (text.size() + static_cast<std::size_t>(got) > limit)
        return fail(ErrorCode::invalid_input, fmt::format("{}: larger than {} bytes", path, limit));
      // Files of sysfs claim 4096 bytes whatever they hold, so the size is a hint for big files only.
      if (text.empty() && info.st_size > static_cast<off_t>(sizeof chunk))
        text.reserve(std::min(limit, static_cast<std::size_t>(info.st_size)));
      text.append(chunk, static_cast<std::size_t>(got));
    } else if (got == 0) {
      if (S_ISFIFO(info.st_mode) && text.empty()) return silent_failure(path);
      return text;
    } else if (errno == EAGAIN && !S_ISREG(info.st_mode)) {
      if (!wait_readable(fd.get(), patient_until)) return silent_failure(path);
    } else {
      return errno_failure(errno, path, "read");
    }
  }
}

namespace {

bool is_folder(DIR* dir, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat info{};
  return ::fstatat(::dirfd(dir), static_cast<const char*>(entry.d_name), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(info.st_mode);
}

Result<std::vector<std::string>> names_in(const std::string& folder, bool folders_only) {
  const std::unique_ptr<DIR, int (*)(DIR*)> dir{::opendir(folder.c_str()),
                                                [](DIR* d) { return ::closedir(d); }};
  if (!dir) return errno_failure(errno, folder, "list");
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(dir.get());
    if (entry == nullptr) break;
    const std::string_view name{static_cast<const char*>(entry->d_name)};
    if (name == "." || name == "..") continue;
    if (folders_only && !is_folder(dir.get(), *entry)) continue;
    if (names.size() == kMaxNames)
      return fail(ErrorCode::invalid_input, fmt::format("{}: more than {} names", folder, kMaxNames));
    names.emplace_back(name);
  }
  if (errno != 0) return errno_failure(errno, folder, "list");
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Result<std::vector<std::string>> PosixFileSystem::list(const std::string& folder) const {
  return names_in(folder, false);
}

Result<std::vector<std::string>> PosixFileSystem::list_folders(const std::string& folder) const {
  // A folder's links are its own two and one from each folder in it; file systems that don't count say 1. In
  // a tree of cgroups most are leaves with dozens of files.
  struct stat info{};
  if (::stat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_nlink == 2)
    return std::vector<std::string>{};
  return names_in(folder, true);
}

Result<std::string> PosixFileSystem::read_link(const std::string& path) const {
  std::string target(4096, '\0');
  const auto length = ::readlink(path.c_str(), target.data(), target.size());
  if (length < 0 && errno == EINVAL)
    return fail(ErrorCode::not_found, fmt::format("{}: is no symbolic link", path));
  if (length < 0) return errno_failure(errno, path, "read the link");
  target.resize(static_cast<std::size_t>(length));
  return target;
}

Status PosixFileSystem::write_atomically(const std::string& path, std::string_view bytes) {
  std::string temporary = path + ".tmp-XXXXXX";
  UniqueFd fd{::mkostemp(temporary.data(), O_CLOEXEC)};  // mode 0600
  if (!fd.valid()) return errno_failure(errno, path, "create a file beside it");
  Status done = write_all(fd.get(), bytes, path);
  if (done && ::fsync(fd.get()) != 0) done = errno_failure(errno, path, "sync");
  fd.reset();
  if (done && ::rename(temporary.c_str(), path.c_str()) != 0) done = errno_failure(errno, path, "replace");
  if (!done) {
    ::unlink(temporary.c_str());
    return done;
  }
  return sync_folder(folder_of(path));
}

Result<std::unique_ptr<AppendFile>> PosixFileSystem::open_append(const std::string& path) {
  // O_NONBLOCK: opening a FIFO for writing would wait for its reader.
  constexpr int kFlags = O_WRONLY | O_APPEND | O_NONBLOCK;
  auto fd = open_file(path, kFlags);
  if (!fd.valid() && errno == ENOENT) {
    fd = open_file(path, kFlags | O_CREAT, kPrivateFile);
    if (fd.valid()) TW_TRY_STATUS(sync_folder(folder_of(path)));
  }
  if (!fd.valid()) return errno_failure(errno, path, "open for appending");
  return std::make_unique<PosixAppendFile>(std::move(fd), path);
}

Status PosixFileSystem::truncate(const std::string& path, std::uint64_t size) {
  const auto fd = open_file(path, O_WRONLY | O_NONBLOCK);
  if (!fd.valid()) return errno_failure(errno, path, "open for truncating");
  if (::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) return errno_failure(errno, path, "truncate");
  if (::fsync(fd.get()) != 0) return errno_failure(errno, path, "sync");
  return {};
}

Status PosixFileSystem::remove(const std::string& path) {
  if (::unlink(path.c_str()) != 0) return errno_failure(errno, path, "remove");
  return {};
}

Status PosixFileSystem::make_folders(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), kPrivateFolder) == 0) {
      TW_TRY_STATUS(sync_folder(folder_of(part)));
    } else if (const int error = errno; error != EEXIST) {
      // A folder that is there already may stand where we may not create one (read-only, no permission).
      struct stat info{};
      if (::stat(part.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
        return errno_failure(error, part, "create the folder");
    }
    if (end == std::string::npos) break;
  }
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return errno_failure(errno, path, "create the folder");
  if (!S_ISDIR(info.st_mode))
    return fail(ErrorCode::conflict, fmt::format("{}: is there and is no folder", path));
  return {};
}

}  // namespace

std::unique_ptr<FileSystem> make_file_system() { return std::make_unique<PosixFileSystem>(); }

}  // namespace tidewatt::os
