#include "tidewatt/testing/fake_file_system.h"

namespace tidewatt::testing {
namespace {

class FakeAppendFile final : public AppendFile {
 public:
  FakeAppendFile(FakeFileSystem& fs, std::string path) : fs_(fs), path_(std::move(path)) {}
  Status append(std::string_view bytes) override { return fs_.append(path_, bytes); }
  Status sync() override { return fs_.sync(path_); }

 private:
  FakeFileSystem& fs_;
  std::string path_;
};

tl::unexpected<Error> missing(const std::string& path) {
  return fail(ErrorCode::not_found, path + ": no such file or folder");
}

}  // namespace

Result<std::string> FakeFileSystem::read_text(const std::string& path, std::size_t limit) const {
  if (const auto fault = faults.find(path); fault != faults.end()) return tl::unexpected(fault->second);
  const auto found = files.find(path);
  if (found == files.end()) return missing(path);
  if (found->second.size() > limit) return fail(ErrorCode::invalid_input, path + ": larger than the limit");
  return found->second;
}

Result<std::vector<std::string>> FakeFileSystem::list(const std::string& folder) const {
  if (const auto fault = faults.find(folder); fault != faults.end()) return tl::unexpected(fault->second);
  std::set<std::string> names;
  const std::string prefix = folder.ends_with('/') ? folder : folder + "/";
  const auto take = [&](const std::string& path) {
    if (path.starts_with(prefix))
      names.insert(path.substr(prefix.size(), path.find('/', prefix.size()) - prefix.size()));
  };
  for (const auto& [path, content] : files) take(path);
  for (const auto& [path, target] : links) take(path);
  for (const auto& path : folders_) take(path);
  if (names.empty() && !folders_.contains(folder)) return missing(folder);
  return std::vector<std::string>(names.begin(), names.end());
}

Result<std::vector<std::string>> FakeFileSystem::list_folders(const std::string& folder) const {
  TW_TRY(const auto names, list(folder));
  std::vector<std::string> found;
  for (const auto& name : names) {
    const auto path = folder.ends_with('/') ? folder + name : folder + "/" + name;
    if (!files.contains(path) && !links.contains(path)) found.push_back(name);
  }
  return found;
}

bool FakeFileSystem::exists(const std::string& path) const {
  return files.contains(path) || links.contains(path) || folders_.contains(path) || list(path).has_value();
}

Result<std::string> FakeFileSystem::read_link(const std::string& path) const {
  const auto found = links.find(path);
  if (found == links.end()) return missing(path);
  return found->second;
}

Status FakeFileSystem::write_atomically(const std::string& path, std::string_view bytes) {
  if (const auto fault = faults.find(path); fault != faults.end()) return tl::unexpected(fault->second);
  files[path] = std::string(bytes);
  synced[path] = bytes.size();
  return {};
}

Result<std::unique_ptr<AppendFile>> FakeFileSystem::open_append(const std::string& path) {
  if (const auto fault = faults.find(path); fault != faults.end()) return tl::unexpected(fault->second);
  files.try_emplace(path);
  return std::make_unique<FakeAppendFile>(*this, path);
}

Status FakeFileSystem::append(const std::string& path, std::string_view bytes) {
  if (const auto fault = faults.find(path); fault != faults.end()) return tl::unexpected(fault->second);
  auto& content = files[path];
  if (bytes_left && bytes.size() > *bytes_left) {
    content += bytes.substr(0, *bytes_left);
    bytes_left = 0;
    return fail(ErrorCode::io, path + ": no space left on device");
  }
  if (bytes_left) *bytes_left -= bytes.size();
  content += bytes;
  return {};
}

Status FakeFileSystem::sync(const std::string& path) {
  synced[path] = files[path].size();
  return {};
}

Status FakeFileSystem::truncate(const std::string& path, std::uint64_t size) {
  const auto found = files.find(path);
  if (found == files.end()) return missing(path);
  found->second.resize(size);
  return {};
}

Status FakeFileSystem::remove(const std::string& path) {
  if (files.erase(path) == 0) return missing(path);
  synced.erase(path);
  return {};
}

Status FakeFileSystem::make_folders(const std::string& path) {
  if (const auto fault = faults.find(path); fault != faults.end()) return tl::unexpected(fault->second);
  folders_.insert(path);
  return {};
}

void FakeFileSystem::power_cut() {
  for (auto& [path, content] : files) {
    const auto kept = synced.find(path);
    content.resize(kept == synced.end() ? 0 : kept->second);
  }
}

}  // namespace tidewatt::testing
