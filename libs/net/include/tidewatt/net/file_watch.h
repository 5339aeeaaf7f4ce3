// Tells when the content of a few small files has changed and come to rest.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tidewatt/base/file_system.h"

namespace tidewatt::net {

/// Looks at the content and not at times: files may be replaced by links, copied back, or touched only.
/// Not thread-safe.
class FileWatch {
 public:
  /// What the files hold now is what a change is measured against.
  /// @param files outlives this
  FileWatch(const FileSystem& files, std::vector<std::string> paths);
  /// One look. @return true once per change, when two looks in a row saw the same new content: a pair that is
  /// being written is not used half
  bool settled_change();
  /// What the files hold now has been used: no change.
  void accept();

 private:
  /// An unreadable file is a content of its own.
  [[nodiscard]] std::size_t fingerprint() const;

  const FileSystem& files_;
  std::vector<std::string> paths_;
  std::size_t used_;
  std::size_t last_seen_;
};

}  // namespace tidewatt::net
