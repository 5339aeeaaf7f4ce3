#include "wal_damage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "tidewatt/base/log.h"

namespace tidewatt::store {
namespace {

constexpr std::string_view kDamagedMark = "-wal.damaged-";
constexpr std::size_t kCopyPiece = std::size_t{1} << 20U;

tl::unexpected<Error> disk_error(const std::string& path, std::string_view doing) {
  const int code = errno;
  const auto meaning = code == EACCES || code == EPERM    ? ErrorCode::permission_denied
                       : code == ENOSPC || code == EDQUOT ? ErrorCode::unavailable
                                                          : ErrorCode::io;
  return fail(meaning, fmt::format("{}: {}: {}", path, doing, std::strerror(code)),
              "nothing was changed; look at the disk, then start again");
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

/// As many bytes as there are, up to `size`; -1 with errno.
ssize_t read_full(int fd, char* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const auto n = ::read(fd, to + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return static_cast<ssize_t>(done);
}

Status copy_file(const std::string& from, const std::string& to) {
  const Descriptor in(from, O_RDONLY);
  if (in.fd() < 0) return disk_error(from, "reading the damaged log");
  const Descriptor out(to, O_WRONLY | O_CREAT | O_EXCL);
  if (out.fd() < 0) return disk_error(to, "keeping a copy of the damaged log");
  std::string piece(kCopyPiece, '\0');
  while (true) {
    const auto n = read_full(in.fd(), piece.data(), piece.size());
    if (n < 0) return disk_error(from, "reading the damaged log");
    if (n == 0) break;
    for (ssize_t written = 0; written < n;) {
      const auto m = ::write(out.fd(), piece.data() + written, static_cast<std::size_t>(n - written));
      if (m < 0 && errno == EINTR) continue;
      if (m < 0) return disk_error(to, "keeping a copy of the damaged log");
      written += m;
    }
  }
  if (::fsync(out.fd()) != 0) return disk_error(to, "keeping a copy of the damaged log");
  return {};
}

std::string stamp(UtcTime at) {
  auto text = format_rfc3339_short(std::chrono::floor<std::chrono::seconds>(at));
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
}

std::vector<std::string> copies_of(const std::string& database) {
  const std::filesystem::path path{database};
  const auto begin = path.filename().string() + std::string{kDamagedMark};
  std::vector<std::string> copies;
  std::error_code none;
  auto folder = path.parent_path();
  if (folder.empty()) folder = ".";
  for (const auto& entry : std::filesystem::directory_iterator(folder, none))
    if (entry.path().filename().string().starts_with(begin)) copies.push_back(entry.path().string());
  std::sort(copies.begin(), copies.end());
  return copies;
}

bool is_empty(const std::string& database) {
  struct stat file{};
  return ::stat(database.c_str(), &file) != 0 || file.st_size == 0;
}

/// A copy of a log that is whole is one whose database was gone: all in it is lost.
std::uint64_t lost_of(const WalContent& content) {
  return content.damaged() ? content.lost_commits : content.read_commits;
}

/// A start that was killed before SQLite had dealt with the log meets it again.
bool is_kept(const std::string& database, const WalContent& content) {
  const auto copies = copies_of(database);
  return std::any_of(copies.begin(), copies.end(), [&](const std::string& copy) {
    const auto kept = read_wal(copy);
    return kept && *kept == content;
  });
}

}  // namespace

Result<WalContent> read_wal(const std::string& path) {
  const Descriptor file(path, O_RDONLY);
  if (file.fd() < 0) {
    if (errno == ENOENT) return WalContent{};
    return disk_error(path, "reading the write-ahead log");
  }
  std::string bytes(WalScan::kHeaderSize, '\0');
  const auto header = read_full(file.fd(), bytes.data(), bytes.size());
  if (header < 0) return disk_error(path, "reading the write-ahead log");
  if (static_cast<std::size_t>(header) < bytes.size()) return WalContent{};
  WalScan scan(bytes);
  const auto frame = scan.frame_size();
  bytes.assign(std::max(kCopyPiece / frame, std::size_t{1}) * frame, '\0');
  while (true) {
    const auto n = read_full(file.fd(), bytes.data(), bytes.size());
    if (n < 0) return disk_error(path, "reading the write-ahead log");
    const auto size = static_cast<std::size_t>(n);
    for (std::size_t at = 0; at + frame <= size; at += frame)
      scan.add(std::string_view(bytes).substr(at, frame));
    if (size < bytes.size()) return scan.content();
  }
}

Result<WalContent> keep_damaged_wal(const std::string& database, UtcTime now) {
  const auto wal = database + "-wal";
  TW_TRY(const auto content, read_wal(wal));
  // SQLite removes a log that it finds beside an empty database.
  const bool orphaned = content.read_commits > 0 && is_empty(database);
  if (!content.damaged() && !orphaned) {
    if (content.has_rest())
      log::info(
          "the last commit in the write-ahead log isn't whole, as after a kill or a power cut: it was never "
          "acknowledged, and is left out",
          {{"file", wal}});
    return content;
  }
  if (is_kept(database, content)) return content;
  const auto copy = database + std::string{kDamagedMark} + stamp(now);
  TW_TRY_STATUS(copy_file(wal, copy));
  log::error(orphaned ? "the database is empty or gone, but not its write-ahead log: restore a backup"
                      : "the write-ahead log is damaged, and commits behind the damage are lost that were "
                        "acknowledged: check this machine's disk and memory",
             {{"lost_commits", std::to_string(lost_of(content))},
              {"kept_as", copy},
              {"next", "the alert stays until that file is moved away"}});
  return content;
}

std::vector<ledger::StoreDamage> damaged_wals(const std::string& database) {
  std::vector<ledger::StoreDamage> found;
  for (const auto& copy : copies_of(database)) {
    const auto content = read_wal(copy);
    struct stat file{};
    if (::stat(copy.c_str(), &file) != 0) continue;
    ledger::StoreDamage damage;
    damage.found_at = UtcTime{std::chrono::seconds{file.st_mtim.tv_sec}};
    damage.lost_commits = content ? lost_of(*content) : 0;
    damage.evidence = copy;
    found.push_back(std::move(damage));
  }
  return found;
}

}  // namespace tidewatt::store
