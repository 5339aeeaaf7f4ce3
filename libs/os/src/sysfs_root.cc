#include "tidewatt/os/posix.h"

namespace tidewatt::os {
namespace {

constexpr std::string_view kSysfs = "/sys";

class SysfsElsewhere final : public FileSystem {
 public:
  SysfsElsewhere(std::unique_ptr<FileSystem> files, std::string root)
      : files_(std::move(files)), root_(std::move(root)) {}

  [[nodiscard]] Result<std::string> read_text(const std::string& path, std::size_t limit) const override {
    return files_->read_text(real(path), limit);
  }
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& folder) const override {
    return files_->list(real(folder));
  }
  [[nodiscard]] Result<std::vector<std::string>> list_folders(const std::string& folder) const override {
    return files_->list_folders(real(folder));
  }
  [[nodiscard]] bool exists(const std::string& path) const override { return files_->exists(real(path)); }
  [[nodiscard]] Result<std::string> read_link(const std::string& path) const override {
    return files_->read_link(real(path));
  }
  Status write_atomically(const std::string& path, std::string_view bytes) override {
    return files_->write_atomically(real(path), bytes);
  }
  Result<std::unique_ptr<AppendFile>> open_append(const std::string& path) override {
    return files_->open_append(real(path));
  }
  Status truncate(const std::string& path, std::uint64_t size) override {
    return files_->truncate(real(path), size);
  }
  Status remove(const std::string& path) override { return files_->remove(real(path)); }
  Status make_folders(const std::string& path) override { return files_->make_folders(real(path)); }

 private:
  [[nodiscard]] std::string real(const std::string& path) const {
    const bool below =
        path.starts_with(kSysfs) && (path.size() == kSysfs.size() || path[kSysfs.size()] == '/');
    return below ? root_ + path.substr(kSysfs.size()) : path;
  }

  std::unique_ptr<FileSystem> files_;
  std::string root_;
};

}  // namespace

std::unique_ptr<FileSystem> with_sysfs(std::unique_ptr<FileSystem> files, std::string root) {
  while (root.ends_with('/')) root.pop_back();
  if (root == kSysfs) return files;
  return std::make_unique<SysfsElsewhere>(std::move(files), std::move(root));
}

}  // namespace tidewatt::os
