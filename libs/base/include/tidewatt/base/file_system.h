#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tidewatt/base/result.h"

namespace tidewatt {

/// An append-only file. Destruction closes it.
class AppendFile {
 public:
  virtual ~AppendFile() = default;
  /// Writes all bytes or fails; after a failure the file's tail is undefined.
  virtual Status append(std::string_view bytes) = 0;
  /// Returns when what was appended is on stable storage.
  virtual Status sync() = 0;
};

/// Files, injected: sysfs, /proc, the spool. Paths are absolute. Reads are bounded.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  static constexpr std::size_t kDefaultReadLimit = 16U << 20U;
  /// The whole file. Errors: not_found, permission_denied, timed_out (a FIFO or a hung file), io,
  /// invalid_input when it is larger than `limit` bytes.
  [[nodiscard]] virtual Result<std::string> read_text(const std::string& path,
                                                      std::size_t limit = kDefaultReadLimit) const = 0;
  /// Names (not paths) in a folder, sorted. Errors as read_text.
  [[nodiscard]] virtual Result<std::vector<std::string>> list(const std::string& folder) const = 0;
  /// Names of the folders in a folder, sorted; links to folders aren't counted. Errors as read_text.
  [[nodiscard]] virtual Result<std::vector<std::string>> list_folders(const std::string& folder) const = 0;
  [[nodiscard]] virtual bool exists(const std::string& path) const = 0;
  /// The link's target as written. Error not_found when it is no link.
  [[nodiscard]] virtual Result<std::string> read_link(const std::string& path) const = 0;

  /// Replaces the file's content so that a crash leaves the old or the new one, never a mix.
  virtual Status write_atomically(const std::string& path, std::string_view bytes) = 0;
  virtual Result<std::unique_ptr<AppendFile>> open_append(const std::string& path) = 0;
  virtual Status truncate(const std::string& path, std::uint64_t size) = 0;
  virtual Status remove(const std::string& path) = 0;
  virtual Status make_folders(const std::string& path) = 0;
};

}  // namespace tidewatt
