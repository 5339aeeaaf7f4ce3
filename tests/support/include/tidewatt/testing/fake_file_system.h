#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "tidewatt/base/file_system.h"

namespace tidewatt::testing {

/// A file system in memory. Folders exist where files are. Faults can be set per path.
class FakeFileSystem final : public FileSystem {
 public:
  std::map<std::string, std::string> files;
  std::map<std::string, std::string> links;   ///< path -> target
  std::map<std::string, Error> faults;        ///< every access to this path fails so
  std::optional<std::uint64_t> bytes_left;    ///< appends beyond it fail as "disk full", half-written
  std::map<std::string, std::size_t> synced;  ///< path -> bytes that a power cut would keep

  [[nodiscard]] Result<std::string> read_text(const std::string& path, std::size_t limit) const override;
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& folder) const override;
  [[nodiscard]] Result<std::vector<std::string>> list_folders(const std::string& folder) const override;
  [[nodiscard]] bool exists(const std::string& path) const override;
  [[nodiscard]] Result<std::string> read_link(const std::string& path) const override;
  Status write_atomically(const std::string& path, std::string_view bytes) override;
  Result<std::unique_ptr<AppendFile>> open_append(const std::string& path) override;
  Status truncate(const std::string& path, std::uint64_t size) override;
  Status remove(const std::string& path) override;
  Status make_folders(const std::string& path) override;

  Status append(const std::string& path, std::string_view bytes);
  Status sync(const std::string& path);
  /// Takes away all that was never synced, as a power cut does.
  void power_cut();

 private:
  std::set<std::string> folders_;
};

}  // namespace tidewatt::testing
