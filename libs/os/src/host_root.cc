#include "tidewatt/os/posix.h"

namespace tidewatt::os {
namespace {

class HostFiles final : public FileSystem {
 public:
  HostFiles(std::shared_ptr<FileSystem> files, std::string root)
      : files_(std::move(files)), root_(std::move(root)) {}

  [[nodiscard]] Result<std::string> read_text(const std::string& path, std::size_t limit) const override {
    return files_->read_text(at(path), limit);
  }
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& folder) const override {
    return files_->list(at(folder));
  }
  [[nodiscard]] Result<std::vector<std::string>> list_folders(const std::string& folder) const override {
    return files_->list_folders(at(folder));
  }
  [[nodiscard]] bool exists(const std::string& path) const override { return files_->exists(at(path)); }
  [[nodiscard]] Result<std::string> read_link(const std::string& path) const override {
    return files_->read_link(at(path));
  }
  Status write_atomically(const std::string& path, std::string_view bytes) override {
    return files_->write_atomically(at(path), bytes);
  }
  Result<std::unique_ptr<AppendFile>> open_append(const std::string& path) override {
    return files_->open_append(at(path));
  }
  Status truncate(const std::string& path, std::uint64_t size) override {
    return files_->truncate(at(path), size);
  }
  Status remove(const std::string& path) override { return files_->remove(at(path)); }
  Status make_folders(const std::string& path) override { return files_->make_folders(at(path)); }

 private:
  [[nodiscard]] std::string at(const std::string& path) const {
    const bool hosts = path == "/proc" || path.starts_with("/proc/") || path == "/sys" ||
                       path.starts_with("/sys/") || path == "/etc/machine-id";
    return hosts ? root_ + path : path;
  }

  std::shared_ptr<FileSystem> files_;
  std::string root_;
};

}  // namespace

std::shared_ptr<FileSystem> with_host_root(std::shared_ptr<FileSystem> files, std::string root) {
  while (root.ends_with('/')) root.pop_back();
  if (root.empty()) return files;
  return std::make_shared<HostFiles>(std::move(files), std::move(root));
}

}  // namespace tidewatt::os
