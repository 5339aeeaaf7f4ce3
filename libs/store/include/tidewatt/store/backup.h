// A whole ledger in one compressed file, the same for every store. Format: docs/operate/server.md#back-up.
#pragma once

#include <cstdint>
#include <string>

#include "tidewatt/base/result.h"
#include "tidewatt/ledger/image.h"

namespace tidewatt::store {

struct BackupSummary {
  std::int64_t nodes = 0;
  std::int64_t accounts = 0;
  std::int64_t rows = 0;
  std::int64_t adjustments = 0;
  std::int64_t seals = 0;
  WideMicrojoules node_energy{};  ///< lifetime, all domains
  friend bool operator==(const BackupSummary&, const BackupSummary&) = default;
};

/// Writes everything but curves to a new file (mode 0600), which appears under its name when it is whole and
/// on disk.
/// @error conflict  there is such a file already
Result<BackupSummary> write_backup(ledger::ImageSource& source, const std::string& path);

/// Gives a backup's content to `sink`; what was given counts only when this succeeds.
/// @error corrupt  no backup, truncated, changed, or written by a newer tidewatt
Result<BackupSummary> read_backup(const std::string& path, ledger::ImageSink& sink);

}  // namespace tidewatt::store
